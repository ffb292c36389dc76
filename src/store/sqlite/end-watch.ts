/**
 * The end watch: wakes callers that wait for jobs when the jobs have ended. Ends by this process are passed to
 * `noteEnds`. To find ends by other processes, the watch queries the awaited ids soon after another process has written
 * to the file.
 */
import type { Change } from '../../model/change.ts';
import { systemClock } from '../../time/clock.ts';
import { CallbacksById } from '../../time/callbacks-by-id.ts';
import type { Connection } from './connection.ts';
import { orIfUnavailable } from './errors.ts';
import type { Wake } from './wake.ts';

/**
 * The pause after a query is this many times as long as the query, so that the queries take at most a tenth of the time
 * of this process.
 */
const restFactor = 9;
/** The pause after a query that failed, because the file could not be read. */
const retryMs = 200;

export class EndWatch {
  readonly #connection: Connection;
  readonly #wake: Wake;
  readonly #waiters = new CallbacksById();
  #stopListening: (() => void) | null = null;
  #restUntil = 0;
  #cancelTimer: (() => void) | null = null;

  constructor(connection: Connection, wake: Wake) {
    this.#connection = connection;
    this.#wake = wake;
  }

  /** Registers a function to call when the job has ended; returns a function that removes it. */
  wait(id: number, call: () => void): () => void {
    const remove = this.#waiters.add(id, call);
    this.#stopListening ??= this.#wake.listen(() => this.#findEndedSoon());
    return () => {
      remove();
      if (this.#waiters.size === 0) this.close();
    };
  }

  /** Call after changes were written by this process. */
  noteEnds(changes: readonly Change[]): void {
    if (this.#waiters.size === 0) return;
    this.#waiters.call(changes.flatMap(({ after }) => (after?.state === 'ended' ? [after.id] : [])));
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#stopListening?.();
    this.#stopListening = null;
  }

  #findEndedSoon(): void {
    if (this.#cancelTimer !== null) return;
    const restMs = this.#restUntil - systemClock.monotonic();
    if (restMs <= 0) return this.#findEnded();
    this.#findEndedAfter(restMs);
  }

  #findEndedAfter(ms: number): void {
    this.#cancelTimer = systemClock.after(ms, () => {
      this.#cancelTimer = null;
      this.#findEnded();
    });
  }

  #findEnded(): void {
    if (!this.#connection.db.isOpen) return;
    const start = systemClock.monotonic();
    const ids = JSON.stringify(this.#waiters.ids);
    const found = orIfUnavailable(() => this.#connection.all<{ id: number }>(endedAmong, ids), null);
    // A commit of this process may have called this: it is written, and must not fail because of this query.
    if (found === null) return this.#findEndedAfter(retryMs);
    const ended = found.map(({ id }) => id);
    const now = systemClock.monotonic();
    this.#restUntil = now + (now - start) * restFactor;
    this.#waiters.call(ended);
  }
}

const endedAmong = 'SELECT id FROM ended WHERE id IN (SELECT value FROM json_each(?))';
