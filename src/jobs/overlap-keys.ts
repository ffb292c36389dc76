/**
 * Overlap keys: which key a new run of a definition without overlap takes, so that at most one of its runs executes and
 * one waits. A run that is to be replaced is asked to stop here; its successor starts when it has ended.
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

/** How long the handler of a replaced run may take to stop before the run is stopped by force. */
const replaceGraceMs = 5_000;
const replacedMax = 100;

export class OverlapKeys {
  /** The open runs that have these keys. */
  readonly #holders: ReadonlyMap<string, Job>;
  readonly #now: number;
  readonly #taken = new Set<string>();

  constructor(holders: ReadonlyMap<string, Job>, now: number) {
    this.#holders = holders;
    this.#now = now;
  }

  /** The key for a new run of this definition; null: the tick is skipped. */
  free(due: DueDefinition): string | null {
    const key = overlapKey(due.def.def!, due.spec);
    const waiting = waitingKey(due.def.def!);
    if (due.spec.overlap === 'replace') return [key, waiting].find((each) => this.#isFree(each)) ?? null;
    if (!this.#isFree(waiting)) return null;
    if (this.#isFree(key)) return key;
    return due.spec.onePerType && this.#isOfSameInstant(key, due.def) ? waiting : null;
  }

  /** The key is that of a run in this commit. */
  take(key: string): void {
    this.#taken.add(key);
  }

  #isFree(key: string): boolean {
    return !this.#holders.has(key) && !this.#taken.has(key);
  }

  /** Of definitions of one type that tick at one instant, the others wait for the first. */
  #isOfSameInstant(key: string, def: Job): boolean {
    return this.#taken.has(key) || isNotOlder(this.#holders.get(key)!, def, this.#now);
  }
}

/** Reads who has the keys of these definitions, and asks the runs to stop that are to be replaced. */
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
  const ids = keys.length === 0 ? new Map<string, number>() : await store.holders(keys);
  if (ids.size === 0) return new Map();
  const jobs = new Map((await store.load([...ids.values()])).filter(isOpen).map((job) => [job.id, job]));
  return new Map([...ids].flatMap(([key, id]) => (jobs.has(id) ? [[key, jobs.get(id)!] as const] : [])));
}

async function replace(store: Store, due: DueDefinition, now: number, asker: Asker): Promise<void> {
  const why = `replaced by the next run of ${due.def.def}`;
  for (const run of await runsToReplace(store, due, now)) await endRun(store, run, now, { ...asker, why });
}

/** With one run per type, all runs of the type but those of ticks at the same instant, which have their turn. */
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
    // It ended by itself in the meantime.
    if (!(error instanceof Refusal) || error.code !== 'wrong.state') throw error;
  }
}

/** Whether a run answers a tick that is not older than the oldest due tick of a definition. */
function isNotOlder({ tick }: Job, def: Job, now: number): boolean {
  const due = def.plan!.schedules.flatMap(({ next }) => (next !== null && next.due <= now ? [next.nominal] : []));
  return tick !== null && tick.nominal >= Math.min(...due);
}
