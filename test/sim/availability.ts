// Judges availability: a call may be refused as unavailable only if a fault lasted longer than the adapter's patience, or is one of the disk.
import { isRefusal } from '../../src/refusal.ts';
import type { Store } from '../../src/store/store.ts';
import { violation, type Violation } from '../../src/verify.ts';
import type { SimProcess } from './process.ts';
import type { Timeline } from './timeline.ts';

/** So many faults of the lines of a process within that time can use up its patience; fewer cannot. */
const lineFaultsMax = 2;

interface Disturbance {
  /** Null: it concerns all processes. */
  readonly process: SimProcess | null;
  /** Until then calls may be refused because of it. */
  readonly until: number;
}

export class Availability {
  readonly #timeline: Timeline;
  readonly #onViolation: (found: Violation) => void;
  readonly #afterMs: number;
  #disturbances: Disturbance[] = [];
  #lineFaults: { readonly process: SimProcess; readonly at: number }[] = [];
  /** Refusals that a fault justifies. */
  refusals = 0;

  /** `afterMs`: how long after a fault calls may be refused because of it, unless it is given with the fault. */
  constructor(timeline: Timeline, onViolation: (found: Violation) => void, afterMs: number) {
    this.#afterMs = afterMs;
    this.#timeline = timeline;
    this.#onViolation = onViolation;
  }

  /** The store, or one process, is disturbed for so long. `afterMs`: how long after it calls may be refused. */
  disturb(ms: number, process: SimProcess | null = null, afterMs = this.#afterMs): void {
    const { now } = this.#timeline;
    this.#disturbances = this.#disturbances.filter(({ until }) => until > now);
    this.#disturbances.push({ process, until: now + ms + afterMs });
  }

  /** A line of the process breaks, loses something or falls silent. */
  recordLineFault(process: SimProcess): void {
    const { now } = this.#timeline;
    this.#lineFaults = this.#lineFaults.filter(({ at }) => at + this.#afterMs > now);
    this.#lineFaults.push({ process, at: now });
  }

  /** A store whose errors are judged. `process`: the one that calls it; null: all of them. */
  judged(store: Store, process: SimProcess | null): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...values: unknown[]) => {
          const ownErrors = new Set<unknown>();
          const passed = name === 'transact' ? values.map((work) => recording(work as Work, ownErrors)) : values;
          const answer: unknown = (member as (...all: unknown[]) => unknown).apply(target, passed);
          const judge = (error: unknown): void => {
            if (!ownErrors.has(error)) this.#judge(process, String(name), error);
          };
          if (answer instanceof Promise) answer.catch(judge);
          return answer;
        };
      },
    });
  }

  #judge(process: SimProcess | null, call: string, error: unknown): void {
    const caller = process === null ? '' : ` of ${process.name}`;
    if (!isRefusal(error)) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return this.#onViolation(violation('P0', null, `${call}${caller} failed without a code: ${text}`));
    }
    if (!error.code.startsWith('unavailable.')) return;
    // A transaction of a handler is not tried again.
    if (this.#isJustified(process, call === 'transact' ? 0 : lineFaultsMax)) this.refusals += 1;
    else this.#onViolation(violation('L9', null, `${call}${caller} was refused without a reason: ${error.message}`));
  }

  #isJustified(process: SimProcess | null, lineFaults: number): boolean {
    const { now } = this.#timeline;
    const isHit = (hit: SimProcess | null): boolean => hit === null || hit === process;
    if (this.#disturbances.some((each) => isHit(each.process) && each.until > now)) return true;
    return this.#lineFaults.filter((each) => each.process === process && each.at + this.#afterMs > now).length > lineFaults;
  }
}

type Work = (transaction: unknown) => Promise<unknown>;

/** What a handler does in a transaction, and the errors that are its own. */
const recording = (work: Work, errors: Set<unknown>): Work => (transaction) =>
  work(transaction).catch((error: unknown) => {
    errors.add(error);
    throw error;
  });
