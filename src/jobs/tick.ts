/** Ticking: every occurrence of a schedule gets its run or its recorded skip, committed with the plan of the next. */
import { applyTogether, peek, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import {
  awaitedRuns, callsFor, countsFromRun, definitionOf, goOn, isAlone, overlapKey, specOf, tick, wakeUp,
  type CalledRun, type RunMoments, type Spec,
} from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import { create, record } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import type { Producer } from './new-jobs.ts';
import { originOf, type Draft } from './draft.ts';
import { stopJob } from './operate.ts';

export const tickBatch = 200;
const everyDefinition = { kinds: ['def'], names: { glob: '*' } } as const;

export interface Ticked {
  /** How many definitions ticked. A full batch means: call again. */
  readonly count: number;
  /** The store time of the search. */
  readonly searchedAt: number;
}

/** Answers what is due of all definitions. */
export async function tickDue(definer: Producer, asker: Asker): Promise<Ticked> {
  let ticked: Ticked = { count: 0, searchedAt: definer.store.now() };
  await applyTogether(definer.store, async () => {
    const { jobs, searchedAt } = await peek(definer.store, { ...everyDefinition, limit: tickBatch });
    ticked = { count: jobs.length, searchedAt };
    return jobs.length === 0 ? [] : answers(definer, jobs, definer.store.now(), asker);
  });
  return ticked;
}

/**
 * The same for one definition that is about to change: what fell due before follows the old word. Its own change comes
 * first. While it is disabled, what fell due is told as skipped.
 */
export async function tickBefore(definer: Producer, def: Job, now: number, asker: Asker): Promise<Changes> {
  if (def.state === 'pending' && def.due <= now) return (await answers(definer, [def], now, asker)) as Changes;
  const isMissed = def.state === 'held' && def.plan!.schedules.some(({ next }) => next !== null && next.nominal <= now);
  return [record(def, isMissed ? [wakeUp(def, specOf(definitionOf(def)), now)] : [], { ...asker, now })];
}

type Changes = [Change, ...Change[]];

/** When the next definition is due after a time. */
export const nextTickDue = (store: Store, after: number): Promise<number | null> => store.nextDue(everyDefinition, after);

/** Lets schedules go on that count from the start or the end of a run. */
export async function followRuns(store: Store, defs: readonly number[], asker: Asker): Promise<void> {
  if (defs.length === 0) return;
  await applyTogether(store, async () => {
    const waiting = (await store.load(defs)).filter((def) => def.state === 'pending' && awaitedRuns(def).length > 0);
    const runs = await momentsOf(store, waiting);
    const now = store.now();
    return waiting.flatMap((def) => {
      const happening = goOn(def, specOf(definitionOf(def)), runs);
      return happening ? [record(def, [happening], { ...asker, now })] : [];
    });
  });
}

/** What a run of a definition is made of. */
export function draftOf(name: string, spec: Spec): Draft {
  return {
    type: spec.type,
    def: name,
    input: spec.params,
    priority: spec.priority,
    phase: spec.phase,
    policy: spec.policy,
    ...(spec.tags === null ? {} : { tags: spec.tags }),
    ...(spec.gate === null ? {} : { gate: spec.gate }),
    ...(spec.limitKey === null ? {} : { limitKey: spec.limitKey }),
  };
}

async function answers(
  { store, ids }: Producer,
  due: readonly Job[],
  now: number,
  asker: Asker,
): Promise<readonly Change[]> {
  const runs = await momentsOf(store, due);
  const { readable, unreadable } = read(due, now, runs);
  const busy = new Set(await busyKeys(store, readable, asker));
  const numbers = await ids.take(readable.reduce((sum, { calls }) => sum + calls, 0));
  const setAside = unreadable.map(({ def, why }) => record(def, [{ kind: 'paused' }], { ...asker, now, why }));
  const ticked = readable.flatMap(({ def, spec }) => {
    const key = overlapKey(def.def!, spec);
    const ticking = tick(def, spec, { now, ids: numbers, isBusy: busy.has(key), runs });
    numbers.splice(0, ticking.runs.length);
    // Of several definitions of one type, the first of this commit is under way for the others.
    if (ticking.runs.length > 0 && isAlone(spec)) busy.add(key);
    const newRuns = ticking.runs.map((run) => newRunOf(def, spec, run, now, asker));
    return [record(def, [ticking.happening], { ...asker, now }), ...newRuns];
  });
  return [...setAside, ...ticked];
}

interface Readable {
  readonly def: Job;
  readonly spec: Spec;
  /** How many runs it may call for now. */
  readonly calls: number;
}

/** A definition that cannot be read, whoever wrote it, is disabled with the reason, and stops no other. */
function read(due: readonly Job[], now: number, runs: RunMoments) {
  const readable: Readable[] = [];
  const unreadable: { readonly def: Job; readonly why: string }[] = [];
  for (const def of due) {
    try {
      const spec = specOf(definitionOf(def));
      readable.push({ def, spec, calls: callsFor(def, spec, now, runs) });
    } catch (error) {
      const cause = error instanceof Error ? error.message : '';
      unreadable.push({ def, why: `its schedules cannot be read: ${cause}`.slice(0, 1000) });
    }
  }
  return { readable, unreadable };
}

function newRunOf(def: Job, spec: Spec, { id, schedule, nominal, due }: CalledRun, now: number, asker: Asker): Change {
  const unique = isAlone(spec) ? { unique: { key: overlapKey(def.def!, spec) } } : {};
  const isAwaited = countsFromRun(spec.schedules[schedule]!);
  const tick = { def: def.id, schedule, nominal, isAwaited };
  const origin = originOf({ ...draftOf(def.def!, spec), tick, ...unique }, id, now);
  const { priority, phase } = spec;
  const first = { due: Math.min(due, now), priority, ...(phase === 'run' ? {} : { phase }) };
  return create({ ...origin, parent: null }, first, { ...asker, now });
}

/** The keys under which runs are under way. With `replace` such a run is taken for a phantom and stopped first. */
async function busyKeys(
  store: Store,
  defs: readonly Pick<Readable, 'def' | 'spec'>[],
  asker: Asker,
): Promise<ReadonlySet<string>> {
  const watched = defs.filter(({ spec }) => isAlone(spec));
  const keys = watched.map(({ def, spec }) => overlapKey(def.def!, spec));
  const holders = new Map(await store.holders(keys));
  for (const { def, spec } of watched) {
    const key = overlapKey(def.def!, spec);
    const phantom = holders.get(key);
    if (spec.overlap !== 'replace' || phantom === undefined) continue;
    await stopPhantom(store, phantom, { ...asker, why: `replaced by the next run of ${def.def}` });
    holders.delete(key);
  }
  return new Set(holders.keys());
}

async function stopPhantom(store: Store, id: number, asker: Asker): Promise<void> {
  try {
    await stopJob(store, id, { ...asker, code: 'automation' });
  } catch (error) {
    // It ended by itself in the meantime.
    if (!(error instanceof Refusal) || error.code !== 'wrong.state') throw error;
  }
}

async function momentsOf(store: Store, defs: readonly Job[]): Promise<RunMoments> {
  const awaited = defs.flatMap((def) => def.plan?.schedules.flatMap(({ run }) => run ?? []) ?? []);
  const found = awaited.length === 0 ? [] : await store.load(awaited);
  const moments = new Map(awaited.map((id) => [id, { startedAt: store.now(), endedAt: store.now() }] as const));
  const ranAt = (job: Job) => ({ startedAt: job.startedAt, endedAt: job.state === 'ended' ? job.endedAt : null });
  const known = found.map((job) => [job.id, ranAt(job)] as const);
  // A run that is gone without a trace must not be waited for.
  return new Map<number, ReturnType<typeof ranAt>>([...moments, ...known]);
}
