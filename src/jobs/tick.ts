/**
 * Ticking: for every due tick of a schedule, creates a run or records a skip. The run or skip is committed together
 * with the time of the next tick, so that no tick is handled twice or lost.
 */
import { applyTogether, peek, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import {
  awaitedRuns, callsFor, countsFromRun, definitionOf, goOn, isAlone, specOf, tick, wakeUp,
  type CalledRun, type Definition, type RunMoments, type Spec,
} from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import { create, record } from '../model/machine.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import type { Store } from '../store/store.ts';
import type { Producer } from './new-jobs.ts';
import { readTypes } from './catalogue.ts';
import { firstStateOf, gateOf, originOf, type Draft } from './draft.ts';
import type { CreationHook } from './creation-hook.ts';
import { hookedTicking, plainTicking, type DecideTicks, type DraftChanges } from './hooked-ticks.ts';
import { overlapKeys } from './overlap-keys.ts';

export const tickBatch = 200;
const everyDefinition = { kinds: ['def'], names: { glob: '*' } } as const;

export interface TickedBatch {
  /** How many due definitions were found. If it is `tickBatch`, more may be due: call `tickDue` again. */
  readonly count: number;
  /**
   * The store time of the search. Pass it to `nextTickDue`, so that definitions that became due after the search are
   * found.
   */
  readonly searchedAt: number;
}

export async function tickDue(definer: Producer, asker: Asker, knowledge = registered(definer)): Promise<TickedBatch> {
  let ticked: TickedBatch = { count: 0, searchedAt: definer.store.now() };
  await applyTogether(definer.store, async () => {
    const { jobs, searchedAt } = await peek(definer.store, { ...everyDefinition, limit: tickBatch });
    ticked = { count: jobs.length, searchedAt };
    return jobs.length === 0 ? [] : answers(definer, jobs, definer.store.now(), asker, knowledge);
  });
  return ticked;
}

/**
 * Handles the due ticks of one definition by its old spec, before it gets a new spec. Returns the change of the
 * definition, then the changes of its new runs; stores nothing. If the definition is disabled, its due ticks are
 * recorded as skipped.
 */
export async function tickBefore(definer: Producer, def: Job, now: number, asker: Asker): Promise<Changes> {
  if (def.state === 'pending' && def.due <= now) {
    return (await answers(definer, [def], now, asker, registered(definer))) as Changes;
  }
  const isMissed = def.state === 'held' && def.plan!.schedules.some(({ next }) => next !== null && next.nominal <= now);
  return [record(def, isMissed ? [wakeUp(def, specOf(definitionOf(def)), now)] : [], { ...asker, now })];
}

/**
 * Like `tickBefore`, for many definitions that are changed in one commit: their due ticks are handled together, so that
 * two of them do not give the same unique key to their runs.
 */
export async function ticksBefore(
  definer: Producer,
  defs: readonly Job[],
  now: number,
  asker: Asker,
): Promise<{ readonly ticked: ReadonlyMap<number, Change>; readonly newRuns: readonly Change[] }> {
  const isDue = (def: Job): boolean => def.state === 'pending' && def.due <= now;
  const due = defs.filter(isDue);
  const changes = due.length === 0 ? [] : await answers(definer, due, now, asker, registered(definer));
  const others = await Promise.all(defs.filter((def) => !isDue(def)).map((def) => tickBefore(definer, def, now, asker)));
  const ofDefs = [...changes.filter(({ before }) => before !== null), ...others.flat()];
  return {
    ticked: new Map(ofDefs.map((change) => [change.before!.id, change])),
    newRuns: changes.filter(({ before }) => before === null),
  };
}

type Changes = readonly [Change, ...Change[]];

/** What ticking must know about the running programs: the entries of job types, and the definitions to disable. */
export interface TickKnowledge {
  /** Returns the current entries of these job types, whose settings apply to new runs. */
  readonly typesOf: (names: readonly string[]) => Promise<ReadonlyMap<string, TypeEntry>>;
  /** Returns the names of the definitions to disable, because no living build declares them. */
  readonly undeclaredOf?: (defs: readonly DeployedDef[]) => Promise<ReadonlySet<string>>;
}

export type DeployedDef = Pick<Definition, 'build'> & { readonly name: string };

const registered = ({ store }: Producer): TickKnowledge => ({ typesOf: (names) => readTypes(store, names) });

/**
 * Returns the first time after `after` at which a definition is due, or an earlier time at which to ask again; null: no
 * definition is due after it.
 */
export const nextTickDue = (store: Store, after: number): Promise<number | null> =>
  store.nextDue(everyDefinition, after);

/** Plans the next tick of schedules that wait for the start or the end of a run, if that run has started or ended. */
export async function followRuns(store: Store, defs: readonly number[], asker: Asker): Promise<void> {
  if (defs.length === 0) return;
  await applyTogether(store, async () => {
    const waiting = (await store.load(defs)).filter((def) => def.state === 'pending' && awaitedRuns(def).length > 0);
    const runs = await momentsOf(store, waiting);
    const now = store.now();
    return waiting.flatMap((def) => {
      const event = parse(() => goOn(def, specOf(definitionOf(def)), runs));
      if (event instanceof Unreadable) return [disabled(def, event, now, asker)];
      return event ? [record(def, [event], { ...asker, now })] : [];
    });
  });
}

export function draftOf(name: string, spec: Spec): Draft {
  return {
    type: spec.type,
    def: name,
    input: spec.params,
    ...(spec.typeVersion === undefined ? {} : { typeVersion: spec.typeVersion }),
    priority: spec.priority,
    phase: spec.phase,
    policy: spec.policy,
    ...(spec.tags === null ? {} : { tags: spec.tags }),
    ...(spec.gate === null ? {} : { gate: spec.gate }),
    ...(spec.limitKey === null ? {} : { limitKey: spec.limitKey }),
    ...(spec.limitUses === undefined ? {} : { limitUses: spec.limitUses }),
  };
}

/** Returns the draft of a run that a tick creates, except its tick and its unique key. */
function runDraftOf(name: string, spec: Spec): Draft {
  // With `defMax: 1` the new run waits in its gate until the run that it replaces has ended.
  const gate = spec.overlap === 'replace' ? { gate: { ...spec.gate, defMax: 1 } } : {};
  return { ...draftOf(name, spec), ...gate };
}

/** Refuses a definition whose runs could not be created, because their limits are invalid. */
export function checkRunLimits(name: string, spec: Spec): void {
  gateOf(runDraftOf(name, spec));
}

async function answers(
  { store, ids, creating = null }: Producer,
  due: readonly Job[],
  now: number,
  asker: Asker,
  { typesOf, undeclaredOf = noneOf }: TickKnowledge,
): Promise<readonly Change[]> {
  const undeclared = await undeclaredOf(due.flatMap(deployedOf));
  const live = due.filter((def) => !undeclared.has(def.def!));
  const runs = await momentsOf(store, live);
  const types = await typesOf(live.map(({ type }) => type));
  const { readable, unreadable } = read(live, now, runs, types);
  const stopped = due.filter((def) => undeclared.has(def.def!)).map((def) => stop(def, now, asker));
  const keys = await overlapKeys(store, readable, now, asker);
  const numbers = await ids.take(readable.reduce((sum, { calls }) => sum + calls, 0));
  const pausedDefs = unreadable.map(({ def, why }) => disabled(def, why, now, asker));
  const ticked: Change[] = [];
  for (const { def, spec } of readable) {
    const key = isAlone(spec) ? keys.free({ def, spec }) : null;
    const given = { now, ids: numbers, isBusy: isAlone(spec) && key === null, runs };
    const decide: DecideTicks = (isRefused) => tick(def, spec, { ...given, isRefused });
    const changes = await changesOfTicks({ def, spec, key, creating, decide }, now, asker);
    const called = changes.length - 1;
    numbers.splice(0, called);
    if (called > 0 && key !== null) keys.take(key);
    ticked.push(...changes);
  }
  return [...stopped, ...pausedDefs, ...ticked];
}

export interface TicksToDecide {
  readonly def: Job;
  readonly spec: Spec;
  /** The unique key of each new run; null: none. */
  readonly key: string | null;
  readonly creating: CreationHook | null;
  readonly decide: DecideTicks;
}

/** Returns the change of the definition that records the ticks, then the new runs. The hook may refuse or change them. */
export async function changesOfTicks(ticks: TicksToDecide, now: number, asker: Asker): Promise<Changes> {
  const { def, spec, key, creating, decide } = ticks;
  const draftOfRun = (changes: DraftChanges): Draft => ({ ...runDraftOf(def.def!, spec), ...changes });
  const { event, runs, changesOf, why } = creating === null
    ? plainTicking(decide, draftOfRun, now)
    : await hookedTicking(decide, draftOfRun, { creating, def, spec, now, by: asker.by });
  const asking = { ...asker, now, ...(why === undefined ? {} : { why }) };
  const newRuns = runs.map((run) => newRunOf(def, spec, run, key, now, asker, draftOfRun(changesOf(run))));
  return [record(def, [event], asking), ...newRuns];
}

const noneOf = (): Promise<ReadonlySet<string>> => Promise.resolve(new Set());

/** Returns no element for a definition that cannot be parsed: `read` disables it. */
function deployedOf(def: Job): readonly DeployedDef[] {
  const definition = parse(() => definitionOf(def));
  return definition instanceof Unreadable ? [] : [{ ...definition, name: def.def! }];
}

/** Disables a definition that no living build declares. The next build that declares it enables it again. */
function stop(def: Job, now: number, asker: Asker): Change {
  const input = JSON.stringify({ ...definitionOf(def), isAbandoned: true });
  const why = 'no living instance declares it';
  return record(def, [{ kind: 'edited', edit: { input } }, { kind: 'paused' }], { ...asker, now, why });
}

interface Readable {
  readonly def: Job;
  readonly spec: Spec;
  /** How many runs the due ticks of the definition create if the overlap policy skips none. */
  readonly calls: number;
}

/**
 * Parses the due definitions. One that cannot be parsed goes to `unreadable` and is disabled; the others still tick.
 */
function read(due: readonly Job[], now: number, runs: RunMoments, types: ReadonlyMap<string, TypeEntry>) {
  const readable: Readable[] = [];
  const unreadable: { readonly def: Job; readonly why: Unreadable }[] = [];
  for (const def of due) {
    const found = parse((): Readable => {
      const spec = specOf(definitionOf(def), types.get(def.type) ?? null);
      return { def, spec, calls: callsFor(def, spec, now, runs) };
    });
    if (found instanceof Unreadable) unreadable.push({ def, why: found });
    else readable.push(found);
  }
  return { readable, unreadable };
}

class Unreadable {
  readonly why: string;

  constructor(error: unknown) {
    const cause = error instanceof Error ? error.message : '';
    this.why = `its schedules cannot be read: ${cause}`.slice(0, 1000);
  }
}

function parse<T>(read: () => T): T | Unreadable {
  try {
    return read();
  } catch (error) {
    return new Unreadable(error);
  }
}

const disabled = (def: Job, { why }: Unreadable, now: number, asker: Asker): Change =>
  record(def, [{ kind: 'paused' }], { ...asker, now, why });

function newRunOf(
  def: Job,
  spec: Spec,
  { id, schedule, nominal, due }: CalledRun,
  key: string | null,
  now: number,
  asker: Asker,
  given: Draft,
): Change {
  const unique = key === null ? {} : { unique: { key } };
  const isAwaited = countsFromRun(spec.schedules[schedule]!);
  const tick = { def: def.id, schedule, nominal, isAwaited };
  const draft = { ...given, tick, ...unique };
  const { priority, phase } = firstStateOf(draft, now);
  const first = { due: Math.min(due, now), priority, ...(phase === undefined ? {} : { phase }) };
  return create({ ...originOf(draft, id, now), parent: null }, first, { ...asker, now });
}

async function momentsOf(store: Store, defs: readonly Job[]): Promise<RunMoments> {
  const awaited = defs.flatMap((def) => def.plan?.schedules.flatMap(({ run }) => run ?? []) ?? []);
  const found = awaited.length === 0 ? [] : await store.load(awaited);
  const moments = new Map(awaited.map((id) => [id, { startedAt: store.now(), endedAt: store.now() }] as const));
  const ranAt = (job: Job) => ({ startedAt: job.startedAt, endedAt: job.state === 'ended' ? job.endedAt : null });
  const known = found.map((job) => [job.id, ranAt(job)] as const);
  // A run that load() did not find was deleted. It counts as ended at the current time, so that its schedule does not
  // wait forever.
  return new Map<number, ReturnType<typeof ranAt>>([...moments, ...known]);
}
