/**
 * The ledger: the answers that racing connections got from the store, to compare with the store's histories. A counter
 * numbers the start and the end of every call, so that the order of calls is known without a clock. docs/promises.md
 * lists the invariants, such as S8.
 */
import { deepEqual, equal, fail, ok } from 'node:assert/strict';
import type { Change } from '../model/change.ts';
import type { Event } from '../model/event.ts';
import { evolve, blankJob } from '../model/evolve.ts';
import type { Job } from '../model/job.ts';
import { originOf } from '../store/row.ts';
import { checkHistory } from './invariants.ts';
import { same } from './same.ts';

/** An event that the store acknowledged to a racer as written, with the start and the end of the racer's call. */
interface LedgerEntry {
  readonly event: Event;
  readonly started: number;
  readonly ended: number;
}

export interface AcknowledgedEvent {
  readonly job: number;
  readonly event: Event;
}

/** An extension of a lease that the store confirmed. */
export interface Extension {
  readonly id: number;
  readonly fence: number;
  readonly until: number;
}

/** A job and its whole history. */
export type LedgerEvents = readonly [Job, readonly Event[]];

/**
 * A span in which a condition certainly held: from the end of the call that made it true to the start of the call that
 * made it false.
 */
interface LedgerSpan {
  readonly from: number;
  readonly to: number;
}

export class Ledger {
  readonly #entries = new Map<string, LedgerEntry>();
  readonly #extensions: Extension[] = [];
  /** The latest number of a start or an end of a call. Each start and each end gets the next number. */
  #moments = 0;

  /**
   * Runs `call`, which returns the changes that were written, and records their events with the start and end of the
   * call.
   */
  async during(call: () => Promise<readonly Change[]>): Promise<readonly Change[]> {
    const started = (this.#moments += 1);
    const written = await call();
    const ended = (this.#moments += 1);
    for (const { before, after, events } of written) {
      for (const event of events) this.#write((before ?? after)!.id, { event, started, ended });
    }
    return written;
  }

  /** Returns all acknowledged events, to be passed to `take` of a ledger in another process. */
  acknowledged(): AcknowledgedEvent[] {
    return [...this.#entries].map(([name, { event }]) => ({ job: Number(name.split('/')[0]), event }));
  }

  /** Adds the acknowledged events of racers in other processes. The start and end of their calls are unknown here. */
  take(events: readonly AcknowledgedEvent[]): void {
    for (const { job, event } of events) this.#write(job, { event, started: 0, ended: Infinity });
  }

  extended(extension: Extension): void {
    this.#extensions.push(extension);
  }

  /** Checks S8 and S26: the history has exactly the events that were acknowledged, and replaying it gives the job. */
  checkHistory([job, events]: LedgerEvents): void {
    checkHistory(job, events);
    for (const event of events) {
      same(event, this.#entry(job.id, event.n)?.event, `job ${job.id} has only events that were written`);
    }
    const acknowledged = [...this.#entries.keys()].filter((name) => name.startsWith(`${job.id}/`)).length;
    equal(acknowledged, events.length, `S8: all that was acknowledged of job ${job.id} is there`);
  }

  /** Checks S8: every acknowledged event belongs to a stored job. */
  checkNoneIsLost(jobs: ReadonlySet<number>): void {
    const lost = [...this.#entries.keys()].filter((name) => !jobs.has(Number(name.split('/')[0])));
    deepEqual(lost, [], 'S8: every job that was acknowledged is there');
  }

  /** Checks S6: no lease lapses before the end that the store confirmed to its holder. */
  checkLeases([job, events]: LedgerEvents): void {
    let fence = 0;
    for (const event of events) {
      if (event.kind === 'claimed') fence += 1;
      if (event.kind !== 'lapsed') continue;
      const confirmed = this.#extensions.filter((extension) => extension.id === job.id && extension.fence === fence);
      for (const { until } of confirmed) {
        ok(event.at >= until, `S6: job ${job.id} lapsed at ${event.at}, its lease was confirmed until ${until}`);
      }
    }
  }

  /** Checks S16: a call claims no child if `cancel` of the parent was certainly set during the whole call. */
  checkCancels([parent, events]: LedgerEvents, children: readonly LedgerEvents[]): void {
    const spans = this.#spans([parent, events], (job) => job.cancel !== null);
    for (const [child, childEvents] of children) {
      for (const { kind, n } of childEvents) {
        const claim = this.#entry(child.id, n)!;
        const isLate = kind === 'claimed' && spans.some(({ from, to }) => claim.started > from && claim.ended < to);
        ok(!isLate, `S16: task ${child.id} was claimed after job ${parent.id} was asked to give up`);
      }
    }
  }

  /** Checks S11 and S32: fails if `isSo` was certainly true of more than `most` jobs at the same time. */
  checkAtMost(most: number, histories: readonly LedgerEvents[], isSo: (job: Job) => boolean, what: string): void {
    const spans = histories.flatMap((history) => this.#spans(history, isSo));
    for (const { from } of spans) {
      const count = spans.filter((span) => span.from <= from && from < span.to).length;
      ok(count <= most, `${what}: ${count} at once, where at most ${most} may be`);
    }
  }

  #spans([job, events]: LedgerEvents, isSo: (job: Job) => boolean): LedgerSpan[] {
    const spans: LedgerSpan[] = [];
    let current = blankJob(originOf(job));
    let from: number | null = null;
    for (const event of events) {
      current = evolve(current, event);
      const entry = this.#entry(job.id, event.n) ?? fail(`event ${event.n} of job ${job.id} was not acknowledged to any racer`);
      if (isSo(current)) from ??= entry.ended;
      else if (from !== null) {
        spans.push({ from, to: entry.started });
        from = null;
      }
    }
    return from === null ? spans : [...spans, { from, to: Infinity }];
  }

  #write(id: number, entry: LedgerEntry): void {
    const name = `${id}/${entry.event.n}`;
    ok(!this.#entries.has(name), `event ${entry.event.n} of job ${id} was acknowledged twice`);
    this.#entries.set(name, entry);
  }

  #entry(id: number, n: number): LedgerEntry | undefined {
    return this.#entries.get(`${id}/${n}`);
  }
}
