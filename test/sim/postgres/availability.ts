// Judges availability: a call may be refused as unavailable only if a fault lasted longer than the adapter's patience.
import { isRefusal } from '../../../src/refusal.ts';
import type { Store } from '../../../src/store/store.ts';
import { violation, type Violation } from '../../../src/verify.ts';
import type { SimProcess } from '../process.ts';
import type { Timeline } from '../timeline.ts';

/** The adapter retries for 15 s. Its last try begins within this time, and may take a while. */
const afterMs = 25_000;
/** So many faults of the lines of a process within that time can use up its patience; fewer cannot. */
const lineFaultsMax = 2;

interface Disturbance {
  /** Null: it concerns all processes. */
  readonly process: SimProcess | null;
  readonly until: number;
}

export class Availability {
  readonly #timeline: Timeline;
  readonly #onViolation: (found: Violation) => void;
  #disturbances: Disturbance[] = [];
  #lineFaults: { readonly process: SimProcess; readonly at: number }[] = [];
  /** Refusals that a fault justifies. */
  refusals = 0;

  constructor(timeline: Timeline, onViolation: (found: Violation) => void) {
    this.#timeline = timeline;
    this.#onViolation = onViolation;
  }

  /** The store, or one process, is disturbed for so long. */
  disturb(ms: number, process: SimProcess | null = null): void {
    const { now } = this.#timeline;
    this.#disturbances = this.#disturbances.filter(({ until }) => until + afterMs > now);
    this.#disturbances.push({ process, until: now + ms });
  }

  /** A line of the process breaks, loses something or falls silent. */
  recordLineFault(process: SimProcess): void {
    const { now } = this.#timeline;
    this.#lineFaults = this.#lineFaults.filter(({ at }) => at + afterMs > now);
    this.#lineFaults.push({ process, at: now });
  }

  /** The store of a process, whose errors are judged. */
  judged(store: Store, process: SimProcess): Store {
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

  #judge(process: SimProcess, call: string, error: unknown): void {
    if (!isRefusal(error)) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return this.#onViolation(violation('P0', null, `${call} of ${process.name} failed without a code: ${text}`));
    }
    if (!error.code.startsWith('unavailable.')) return;
    // A transaction of a handler is not tried again.
    if (this.#isJustified(process, call === 'transact' ? 0 : lineFaultsMax)) this.refusals += 1;
    else this.#onViolation(violation('L9', null, `${call} of ${process.name} was refused without a reason: ${error.message}`));
  }

  #isJustified(process: SimProcess, lineFaults: number): boolean {
    const { now } = this.#timeline;
    const isHit = (hit: SimProcess | null): boolean => hit === null || hit === process;
    if (this.#disturbances.some((each) => isHit(each.process) && each.until + afterMs > now)) return true;
    return this.#lineFaults.filter((each) => each.process === process && each.at + afterMs > now).length > lineFaults;
  }
}

type Work = (transaction: unknown) => Promise<unknown>;

/** What a handler does in a transaction, and the errors that are its own. */
const recording = (work: Work, errors: Set<unknown>): Work => (transaction) =>
  work(transaction).catch((error: unknown) => {
    errors.add(error);
    throw error;
  });
