/**
 * End notices: when a job has ended, wake the processes that wait for it. A waiting process announces the ids of its
 * jobs by NOTIFY, and the listening processes remember these ids. A process that ends such a job sends a notice. As
 * long as no process waits, nothing is sent, and a commit only checks two empty maps.
 */
import type { Change } from '../../model/change.ts';
import { BoundedMap } from '../../time/bounded-map.ts';
import { systemClock, turn, type Clock } from '../../time/clock.ts';
import { CallbacksById } from '../../time/callbacks-by-id.ts';

/**
 * If an id was announced longer ago than this, the next `wait` for the id announces it again, for processes that have
 * started in the meantime.
 */
const announceEveryMs = 30_000;
const idsMax = 10_000;
/**
 * The minimum time between two times at which this process sends notices: a NOTIFY takes a lock of the whole cluster
 * when it commits.
 */
const pauseMs = 5;
/** NOTIFY limits payloads to 8,000 bytes; an id has at most 16 digits. */
const idsPerNotice = 400;

type NoticeKind = 'wait' | 'ended';

/** Sends a text to all other processes that listen. */
export type SendNotice = (text: string) => void;

export class EndNotices {
  readonly #send: SendNotice;
  readonly #clock: Clock;
  readonly #own = new CallbacksById();
  /** The ids that this process has announced, each with the monotonic time of its last announcement. */
  readonly #announced = new BoundedMap<number, number>(idsMax);
  /** The ids that other processes have announced. */
  readonly #awaited = new BoundedMap<number, true>(idsMax);
  #unsent: Record<NoticeKind, number[]> = { wait: [], ended: [] };
  #isSending = false;
  #sentAt = -Infinity;

  constructor(send: SendNotice, clock = systemClock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Registers a function to call when the job has ended; returns a function that removes it. */
  wait(id: number, call: () => void): () => void {
    const remove = this.#own.add(id, call);
    const now = this.#clock.monotonic();
    if (now - (this.#announced.get(id) ?? -Infinity) > announceEveryMs) this.#announce([id], now);
    return remove;
  }

  /**
   * Announces the ids of all jobs for which this process waits. Call when the connection that receives notices has been
   * opened.
   */
  announceAll(): void {
    this.#announce(this.#own.ids, this.#clock.monotonic());
  }

  /** Call after changes were written: wakes the waiters of the jobs that have ended, here and in other processes. */
  noteEnds(changes: readonly Change[]): void {
    if (this.#own.size === 0 && this.#awaited.size === 0) return;
    const ended = changes.flatMap(({ after }) => (after?.state === 'ended' ? [after.id] : []));
    this.#own.call(ended);
    this.#queue('ended', ended.filter((id) => this.#awaited.delete(id)));
  }

  /**
   * Returns the notices for jobs that end when a caller's transaction commits, if a process waits for them. The ids stay
   * remembered, because the transaction may be rolled back.
   */
  textsFor(changes: readonly Change[]): string[] {
    if (this.#own.size === 0 && this.#awaited.size === 0) return [];
    const isAwaited = (id: number): boolean => this.#awaited.get(id) !== undefined || this.#own.has(id);
    const ended = changes.flatMap(({ after }) => (after?.state === 'ended' && isAwaited(after.id) ? [after.id] : []));
    return noticesOf('ended', ended);
  }

  /** Handles a notification of another process; returns false if it is neither `wait` nor `ended`. */
  receive(text: string): boolean {
    const [, kind, list] = /^(wait|ended) ([\d,]+)$/.exec(text) ?? [];
    if (list === undefined) return false;
    const ids = list.split(',').map(Number);
    if (kind === 'ended') this.#own.call(ids);
    else for (const id of ids) this.#awaited.set(id, true);
    return true;
  }

  #announce(ids: readonly number[], now: number): void {
    for (const id of ids) this.#announced.set(id, now);
    this.#queue('wait', ids);
  }

  #queue(kind: NoticeKind, ids: readonly number[]): void {
    if (ids.length === 0) return;
    this.#unsent[kind].push(...ids);
    if (!this.#isSending) void this.#sendSoon();
  }

  /** Sends all ids of this turn of the event loop together; at the earliest `pauseMs` after the last notice. */
  async #sendSoon(): Promise<void> {
    this.#isSending = true;
    const restMs = this.#sentAt + pauseMs - this.#clock.monotonic();
    await (restMs > 0 ? this.#clock.sleep(restMs) : turn());
    this.#isSending = false;
    this.#sentAt = this.#clock.monotonic();
    this.#sendAll();
  }

  #sendAll(): void {
    const unsent = this.#unsent;
    this.#unsent = { wait: [], ended: [] };
    for (const kind of ['wait', 'ended'] as const) for (const text of noticesOf(kind, unsent[kind])) this.#send(text);
  }
}

function noticesOf(kind: NoticeKind, ids: readonly number[]): string[] {
  const texts: string[] = [];
  for (let from = 0; from < ids.length; from += idsPerNotice) {
    texts.push(`${kind} ${ids.slice(from, from + idsPerNotice).join(',')}`);
  }
  return texts;
}
