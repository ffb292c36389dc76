/**
 * Recorded ticks: what the history of a definition says about its ticks in a range of time. Events are in the order of
 * commits; a tick is recorded at its time or later, by the schedule or by a backfill. So reading starts at the first
 * event of the range, found by bisection, and goes on to the newest.
 */
import type { Event, TickSkip } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { endedStandings } from '../store/query.ts';
import type { Store } from '../store/store.ts';

export interface RecordedRun {
  readonly schedule: number;
  readonly nominal: number;
  readonly run: number;
  /** The id of the backfill run that created the run; null: the schedule did. */
  readonly backfill: number | null;
}

export interface RecordedSkip {
  readonly schedule: number;
  readonly from: number;
  readonly to: number;
  readonly skipped: TickSkip;
  readonly backfill: number | null;
}

export type TickReader = Pick<Store, 'history' | 'find'>;

/** Of how many deleted definitions of one name the histories are read. */
const deletedMax = 20;
const page = 1_000;
/** Clocks of instances and databases may differ by this much without hiding an event. */
const skewMs = 3_600_000;

export class RecordedTicks {
  readonly #from: number;
  readonly #to: number;
  readonly #runs = new Map<number, RecordedRun[]>();
  /** Skips of one tick by its time; the ranges of several are in `#ranges`. */
  readonly #skips = new Map<number, RecordedSkip[]>();
  readonly #ranges: RecordedSkip[] = [];
  #next: number | null = null;
  #reading: Promise<void> = Promise.resolve();

  /** For the ticks from `from` to before `to`. */
  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
  }

  /**
   * Reads the events up to the version of `def` that were not read yet; the first time, also those of deleted definitions
   * of this name, as long as the store has them.
   */
  async readOn(store: TickReader, def: Job): Promise<void> {
    // Two attempts of a backfill in one process may share this object: an event must not be read twice.
    const read = this.#reading.then(() => this.#readOn(store, def));
    this.#reading = read.catch(() => {});
    await read;
  }

  async #readOn(store: TickReader, def: Job): Promise<void> {
    if (this.#next === null) {
      const query = { kinds: ['def'], def: def.def!, standings: endedStandings } as const;
      const { jobs: deleted } = await store.find(query, { limit: deletedMax });
      for (const each of deleted) await this.#read(store, each, await this.#firstOf(store, each));
      this.#next = await this.#firstOf(store, def);
    }
    this.#next = await this.#read(store, def, this.#next);
  }

  #firstOf(store: TickReader, { id, version }: Job): Promise<number> {
    return firstSince(store, id, version, this.#from - skewMs);
  }

  /** Reads the events of a definition from number `next` on; returns the number after the last. */
  async #read(store: TickReader, { id, version }: Job, next: number): Promise<number> {
    while (next <= version) {
      const events = await store.history(id, next, Math.min(page, version - next + 1));
      if (events.length === 0) break;
      for (const event of events) this.#take(event);
      next = events.at(-1)!.n + 1;
    }
    return next;
  }

  runsAt(nominal: number): readonly RecordedRun[] {
    return this.#runs.get(nominal) ?? [];
  }

  /** The newest skip of a tick; a skip of this schedule comes before one of another, whose index an edit may change. */
  skipAt(schedule: number, nominal: number): RecordedSkip | null {
    const found = [
      ...this.#ranges.filter(({ from, to }) => from <= nominal && nominal <= to),
      ...this.#skips.get(nominal) ?? [],
    ];
    return found.findLast((skip) => skip.schedule === schedule) ?? found.at(-1) ?? null;
  }

  /** The times in the range that have a run or a skip, in no order; of several skipped ticks the first and the last. */
  *times(): Generator<number, void, undefined> {
    yield* this.#runs.keys();
    yield* this.#skips.keys();
    for (const { from, to } of this.#ranges) {
      for (const time of [from, to]) if (time >= this.#from && time < this.#to) yield time;
    }
  }

  /** The runs that a backfill created. */
  runsOf(backfill: number): readonly RecordedRun[] {
    return [...this.#runs.values()].flat().filter((run) => run.backfill === backfill);
  }

  /** The ticks that a backfill was refused the runs of. */
  refusedTo(backfill: number): readonly RecordedSkip[] {
    return [...this.#skips.values()].flat().filter((skip) => skip.backfill === backfill);
  }

  #take(event: Event): void {
    if (event.kind !== 'ticked') return;
    const { backfill = null } = event;
    for (const tick of event.ticks) {
      const { schedule, nominal } = tick;
      if ('run' in tick) this.#add(this.#runs, { schedule, nominal, run: tick.run, backfill }, nominal);
      else {
        const { to = nominal, skipped } = tick;
        const skip = { schedule, from: nominal, to, skipped, backfill };
        if (to === nominal) this.#add(this.#skips, skip, nominal);
        else if (nominal < this.#to && to >= this.#from) this.#ranges.push(skip);
      }
    }
  }

  #add<T>(map: Map<number, T[]>, value: T, nominal: number): void {
    if (nominal < this.#from || nominal >= this.#to) return;
    const known = map.get(nominal);
    if (known === undefined) map.set(nominal, [value]);
    else known.push(value);
  }
}

/** Returns the number of the first event at or after a time; the number after the last event: there is none. */
async function firstSince(
  store: TickReader, id: number, version: number, time: number,
): Promise<number> {
  let [low, high] = [1, version + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [event] = await store.history(id, middle, 1);
    if (event === undefined || event.at >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}
