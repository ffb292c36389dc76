/**
 * Overlap keys: the unique keys of the runs of definitions with overlap `skip` or `replace`. A definition has two such
 * keys, so that at most one of its scheduled runs executes and one waits. With `replace`, this file also asks the
 * earlier run to stop; the new run starts when the earlier one has ended.
 */
import type { Asker } from '../apply.ts';
import { isAlone, overlapKey, waitingKey, type Spec } from '../model/definition.ts';
import { isOpen, type Job } from '../model/job.ts';
import { Refusal } from '../refusal.ts';
import { openStandings } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { cancelJob, stopJob } from './operate.ts';

export interface DueDefinition {
  readonly def: Job;
  readonly spec: Spec;
}

/** How long the handler of a replaced run may take to stop. After that the run is stopped by force. */
const replaceGraceMs = 5_000;
/** The highest number of open runs of a type with `onePerType` that one tick reads and asks to stop. */
const replacedMax = 100;

export class OverlapKeys {
  /** The stored open runs by their overlap key. */
  readonly #jobsByKey: ReadonlyMap<string, Job>;
  readonly #now: number;
  /** The keys of runs that the current commit creates. */
  readonly #taken = new Set<string>();

  constructor(jobsByKey: ReadonlyMap<string, Job>, now: number) {
    this.#jobsByKey = jobsByKey;
    this.#now = now;
  }

  /**
   * Returns the key that a new run of this definition gets. Null: the overlap policy allows no further run beside the
   * earlier ones, so the tick is skipped.
   */
  free(due: DueDefinition): string | null {
    const key = overlapKey(due.def.def!, due.spec);
    const waiting = waitingKey(due.def.def!);
    if (due.spec.overlap === 'replace') return [key, waiting].find((each) => this.#isFree(each)) ?? null;
    if (!this.#isFree(waiting)) return null;
    if (this.#isFree(key)) return key;
    return due.spec.onePerType && this.#isOfSameInstant(key, due.def) ? waiting : null;
  }

  take(key: string): void {
    this.#taken.add(key);
  }

  #isFree(key: string): boolean {
    return !this.#jobsByKey.has(key) && !this.#taken.has(key);
  }

  /**
   * Whether the run that has the key belongs to a tick that is not older than the due tick of this definition. If
   * several definitions of a type with `onePerType` tick at the same time, the run of one definition starts. The runs
   * of the others wait for that run instead of being skipped.
   */
  #isOfSameInstant(key: string, def: Job): boolean {
    return this.#taken.has(key) || isNotOlder(this.#jobsByKey.get(key)!, def, this.#now);
  }
}

/** Asks the runs that are to be replaced to stop, and reads which runs have the keys of these definitions. */
export async function overlapKeys(
  store: Store,
  definitions: readonly DueDefinition[],
  now: number,
  asker: Asker,
): Promise<OverlapKeys> {
  const alone = definitions.filter(({ spec }) => isAlone(spec));
  for (const due of alone) if (due.spec.overlap === 'replace') await replace(store, due, now, asker);
  return new OverlapKeys(await holdersOf(store, alone.flatMap(keysOf)), now);
}

const keysOf = ({ def, spec }: DueDefinition): string[] => [overlapKey(def.def!, spec), waitingKey(def.def!)];

async function holdersOf(store: Store, keys: readonly string[]): Promise<ReadonlyMap<string, Job>> {
  const ids = keys.length === 0 ? new Map<string, number>() : await store.jobsByKey(keys);
  if (ids.size === 0) return new Map();
  const jobs = new Map((await store.load([...ids.values()])).filter(isOpen).map((job) => [job.id, job]));
  return new Map([...ids].flatMap(([key, id]) => (jobs.has(id) ? [[key, jobs.get(id)!] as const] : [])));
}

async function replace(store: Store, due: DueDefinition, now: number, asker: Asker): Promise<void> {
  const why = `replaced by the next run of ${due.def.def}`;
  for (const run of await runsToReplace(store, due, now)) await endRun(store, run, now, { ...asker, why });
}

/**
 * Returns the open runs that a new run replaces: the earlier runs of the definition. With `onePerType`, also the
 * other runs of the type, except those whose tick is not older than the due tick of this definition.
 */
async function runsToReplace(store: Store, due: DueDefinition, now: number): Promise<readonly Job[]> {
  const { def, spec } = due;
  if (!spec.onePerType) return [...(await holdersOf(store, keysOf(due))).values()];
  const query = { types: [spec.type], kinds: ['run'], standings: openStandings } as const;
  const { jobs } = await store.find(query, { limit: replacedMax });
  return jobs.filter((job) => job.def === def.def || !isNotOlder(job, def, now));
}

async function endRun(store: Store, { id, cancel }: Job, now: number, asker: Asker): Promise<void> {
  const act = { ...asker, code: 'automation' } as const;
  const isOverdue = cancel !== null && cancel.stopAt !== null && cancel.stopAt <= now;
  try {
    await (isOverdue ? stopJob(store, id, act) : cancelJob(store, id, act, replaceGraceMs));
  } catch (error) {
    // `wrong.state`: the run has ended by itself in the meantime.
    if (!(error instanceof Refusal) || error.code !== 'wrong.state') throw error;
  }
}

/** Whether the tick of a run is at or after the oldest due tick of the definition; false for a run without a tick. */
function isNotOlder({ tick }: Job, def: Job, now: number): boolean {
  const due = def.plan!.schedules.flatMap(({ next }) => (next !== null && next.due <= now ? [next.nominal] : []));
  return tick !== null && tick.nominal >= Math.min(...due);
}
