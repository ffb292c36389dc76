/**
 * The backup heartbeat in a thread: it has its own connection to the store and beats only when the main thread has fallen silent, so
 * that a handler that blocks the event loop keeps its lease. After the stall limit it gives up: a process that has been
 * blocked for so long is taken for hung.
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

/** What the thread is started with; the first number of `beats` counts the main thread's own beats, the second says stop. */
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
    this.#thread = new Worker(new URL(`./backup-heartbeat-thread${import.meta.url.slice(-3)}`, import.meta.url), { workerData });
    this.#thread.once('message', onReady);
    this.#thread.on('error', (error) => {
      logger.error('the heartbeat thread failed', { error });
      // Work goes on without it.
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
