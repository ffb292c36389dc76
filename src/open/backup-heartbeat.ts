/**
 * The backup heartbeat in a thread with its own connection to the store. It sends heartbeats only while the main thread
 * sends none, so that the lease does not lapse while a handler blocks the event loop. After `blockedMaxMs` the thread
 * sends no more: the process then counts as hung.
 */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { BackupHeartbeat } from '../engine/loops/backup-heartbeat.ts';
import { TimeLimits } from '../engine/attempt/time-limits.ts';
import type { Logger } from '../logger.ts';
import { packagedModule } from '../packaged-file.ts';
import type { InstanceAbout, StoreAddress } from '../store/store.ts';
import type { BlockedReport } from './blocked-loop.ts';
import { ignoreThread } from './bounded-young-generation.ts';

export interface ThreadHeartbeatParts {
  readonly address: StoreAddress;
  readonly instance: string;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** The file that the thread executes. */
  readonly entry: URL;
  /**
   * How long the thread sends heartbeats while the event loop is blocked. After this time the process counts as hung,
   * and its lease lapses.
   */
  readonly blockedMaxMs: number;
  /** How many attempts can run at a time. */
  readonly attempts: number;
}

/**
 * The `workerData` of the thread. `signals[0]` counts the heartbeats of the main thread. `signals[1]` is set to 1 to
 * stop the thread. `signals[2]` is incremented before and after the thread gives up jobs of the instance. While it is
 * odd, the thread is giving up jobs.
 */
export interface HeartbeatThreadData {
  readonly address: StoreAddress;
  readonly instance: string;
  readonly leaseMs: number;
  readonly blockedMaxMs: number;
  readonly about: InstanceAbout;
  readonly signals: Int32Array;
  readonly limits: { readonly rows: number; readonly shared: SharedArrayBuffer };
}

export type ThreadMessage = { readonly kind: 'ready' } | { readonly kind: 'blocked'; readonly report: BlockedReport };

export const packagedThread = packagedModule('./backup-heartbeat-thread', import.meta.url);

export class ThreadHeartbeat implements BackupHeartbeat {
  readonly timeLimits: TimeLimits;
  readonly #parts: ThreadHeartbeatParts;
  readonly #signals = new Int32Array(new SharedArrayBuffer(12));
  #thread: Worker | null = null;

  constructor(parts: ThreadHeartbeatParts) {
    this.#parts = parts;
    this.timeLimits = new TimeLimits(parts.attempts);
  }

  start(about: InstanceAbout, onReady: () => void): void {
    if (this.#thread) return onReady();
    const { logger, entry } = this.#parts;
    if (!existsSync(entry)) {
      logger.warn('no heartbeat thread in a bundle: set entries.heartbeat, so that handlers that block keep their jobs');
      return onReady();
    }
    Atomics.store(this.#signals, 1, 0);
    try {
      this.#thread = this.#started(about);
    } catch (error) {
      logger.warn('no heartbeat thread: the options of the store cannot be passed to a thread', { error });
      return onReady();
    }
    this.#thread.on('message', (message: ThreadMessage) => {
      if (message.kind === 'ready') onReady();
      // With --watch, Node sends the names of imported files by the same port.
      else if (message.kind === 'blocked') this.#logBlocked(message.report);
    });
    this.#thread.on('error', (error) => {
      logger.error('the heartbeat thread failed', { error });
      // The thread may have failed before it was ready. Jobs are executed all the same, without a backup heartbeat.
      onReady();
    });
    this.#thread.unref();
  }

  noteBeat(): void {
    Atomics.add(this.#signals, 0, 1);
  }

  givenUp(): number {
    return Atomics.load(this.#signals, 2);
  }

  async stop(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    this.#thread = null;
    Atomics.store(this.#signals, 1, 1);
    Atomics.notify(this.#signals, 1);
    await thread.terminate();
  }

  #started(about: InstanceAbout): Worker {
    const { address, instance, leaseMs, blockedMaxMs, attempts: rows } = this.#parts;
    const limits = { rows, shared: this.timeLimits.shared };
    const signals = this.#signals;
    const workerData: HeartbeatThreadData = { address, instance, leaseMs, blockedMaxMs, about, signals, limits };
    const thread = new Worker(this.#parts.entry, { workerData });
    ignoreThread(thread);
    return thread;
  }

  /** Logs a report of the thread, which arrives when the event loop is free again. */
  #logBlocked({ timedOut, givenUp }: BlockedReport): void {
    const message = 'the event loop was blocked beyond a timeout: use isolate for handlers that compute for long';
    this.#parts.logger.error(message, { timedOut, givenUp });
  }
}
