/**
 * The backup heartbeat in a thread with its own connection to the store. It beats only while the main thread does not,
 * so that a handler that blocks the event loop does not lose its lease. After the stall limit it stops: the process is
 * then considered hung.
 */
import { Worker } from 'node:worker_threads';
import type { BackupHeartbeat } from '../engine/loops/backup-heartbeat.ts';
import type { Logger } from '../logger.ts';
import type { InstanceAbout } from '../store/store.ts';

export interface ThreadHeartbeatParts {
  readonly url: string;
  readonly instance: string;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** How long the main thread may be blocked. */
  readonly stallMs?: number;
}

/** The `workerData` of the thread. `beats[0]` counts the beats of the main thread; `beats[1]` is 1 to stop. */
export interface HeartbeatThreadData {
  readonly url: string;
  readonly instance: string;
  readonly leaseMs: number;
  readonly stallMs: number;
  readonly about: InstanceAbout;
  readonly beats: Int32Array;
}

const stallDefaultMs = 600_000;

export class ThreadHeartbeat implements BackupHeartbeat {
  readonly #parts: ThreadHeartbeatParts;
  readonly #beats = new Int32Array(new SharedArrayBuffer(8));
  #thread: Worker | null = null;

  constructor(parts: ThreadHeartbeatParts) {
    this.#parts = parts;
  }

  start(about: InstanceAbout, onReady: () => void): void {
    if (this.#thread) return onReady();
    const { url, instance, leaseMs, logger, stallMs = stallDefaultMs } = this.#parts;
    Atomics.store(this.#beats, 1, 0);
    const workerData: HeartbeatThreadData = { url, instance, leaseMs, stallMs, about, beats: this.#beats };
    const entry = new URL(`./backup-heartbeat-thread${import.meta.url.slice(-3)}`, import.meta.url);
    this.#thread = new Worker(entry, { workerData });
    this.#thread.once('message', onReady);
    this.#thread.on('error', (error) => {
      logger.error('the heartbeat thread failed', { error });
      // Jobs are executed without the backup.
      onReady();
    });
    this.#thread.unref();
  }

  noteBeat(): void {
    Atomics.add(this.#beats, 0, 1);
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    this.#thread = null;
    Atomics.store(this.#beats, 1, 1);
    Atomics.notify(this.#beats, 1);
    await thread.terminate();
  }
}
