/**
 * Ticking: for every due tick of a schedule, creates a run or records a skip. The run or skip is committed together
 * with the time of the next tick, so that no tick is handled twice or lost.
 */
import { applyTogether, peek, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import {
  awaitedRuns, callsFor, countsFromRun, definitionOf, goOn, isAlone, specOf, tick, wakeUp,
  type CalledRun, type RunMoments, type Spec,
} from '../model/definition.ts';
import type { EventBody, TickOutcome } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { create, record } from '../model/machine.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import type { Store } from '../store/store.ts';
import type { Producer } from './new-jobs.ts';
import { draftOf } from './definition-draft.ts';
import { firstStateOf, gateOf, originOf, type Draft } from './draft.ts';
import { followerPlan, followerRuns, type FollowerPlan, type NewFollowing } from './follower-runs.ts';
import { hookedTicking, plainTicking, type DecideTicks, type DraftChanges } from './hooked-ticks.ts';
import { overlapKeys } from './overlap-keys.ts';
import { registered, type DeployedDef, type TickKnowledge } from './tick-knowledge.ts';

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
  let following: Partial<NewFollowing> = {};
  await applyTogether(definer.store, async () => {
    const { jobs, searchedAt } = await peek(definer.store, { ...everyDefinition, limit: tickBatch });
    ticked = { count: jobs.length, searchedAt };
    if (jobs.length === 0) return [];
    const answered = await answers(definer, jobs, definer.store.now(), asker, knowledge);
    ({ following } = answered);
    return answered.changes;
  }, () => following);
  return ticked;
}

/**
 * Handles the due ticks of one definition by its old spec, before it gets a new spec. Returns the change of the
 * definition, then the changes of its new runs; stores nothing. If the definition is disabled, its due ticks are
 * recorded as skipped.
 */
export async function tickBefore(definer: Producer, def: Job, now: number, asker: Asker): Promise<Ticked> {
  if (def.state === 'pending' && def.due <= now) return answers(definer, [def], now, asker, registered(definer));
  const isMissed = def.state === 'held' && def.plan!.schedules.some(({ next }) => next !== null && next.nominal <= now);
  const change = record(def, isMissed ? [wakeUp(def, specOf(definitionOf(def)), now)] : [], { ...asker, now });
  return { changes: [change], following: {} };
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
): Promise<TickedTogether> {
  const isDue = (def: Job): boolean => def.state === 'pending' && def.due <= now;
  const due = defs.filter(isDue);
  const { changes, following } = due.length === 0
    ? nothingTicked
    : await answers(definer, due, now, asker, registered(definer));
  const others = await Promise.all(defs.filter((def) => !isDue(def)).map((def) => tickBefore(definer, def, now, asker)));
  const ofDefs = [...changes.filter(({ before }) => before !== null), ...others.flatMap((other) => other.changes)];
  return {
    ticked: new Map(ofDefs.map((change) => [change.before!.id, change])),
    newRuns: changes.filter(({ before }) => before === null),
    following,
  };
}

/** The changes of ticked definitions, each before those of its new runs, and what the commit writes beside them. */
export interface Ticked {
  readonly changes: readonly Change[];
  /** Empty: no definition follows one of them. */
  readonly following: Partial<NewFollowing>;
}

const nothingTicked: Ticked = { changes: [], following: {} };

export interface TickedTogether extends Pick<Ticked, 'following'> {
  /** The changes of the definitions, by id. */
  readonly ticked: ReadonlyMap<number, Change>;
  readonly newRuns: readonly Change[];
}

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
  producer: Producer,
  due: readonly Job[],
  now: number,
  asker: Asker,
  knowledge: TickKnowledge,
): Promise<Ticked> {
  const { store, ids } = producer;
  const { typesOf, undeclaredOf = noneOf } = knowledge;
  const undeclared = await undeclaredOf(due.flatMap(deployedOf));
  const live = due.filter((def) => !undeclared.has(def.def!));
  const runs = await momentsOf(store, live);
  const types = await typesOf(live.map(({ type }) => type));
  const { readable, unreadable } = read(live, now, runs, types);
  const stopped = due.filter((def) => undeclared.has(def.def!)).map((def) => stop(def, now, asker));
  const keys = await overlapKeys(store, readable, now, asker);
  const numbers = await ids.take(readable.reduce((sum, { calls }) => sum + calls, 0));
  const pausedDefs = unreadable.map(({ def, why }) => disabled(def, why, now, asker));
  const ticked: Ticked[] = [];
  for (const { def, spec } of readable) {
    const key = isAlone(spec) ? keys.free({ def, spec }) : null;
    const given = { now, ids: numbers, isBusy: isAlone(spec) && key === null, runs };
    const decide: DecideTicks = (isRefused) => tick(def, spec, { ...given, isRefused });
    const answered = await changesOfTicks(producer, { def, spec, key, decide, knowledge }, now, asker);
    numbers.splice(0, answered.runs);
    if (answered.runs > 0 && key !== null) keys.take(key);
    ticked.push(answered);
  }
  const changes = [...stopped, ...pausedDefs, ...ticked.flatMap((one) => one.changes)];
  return { changes, following: together(ticked.map(({ following }) => following)) };
}

function together(all: readonly Partial<NewFollowing>[]): Partial<NewFollowing> {
  const edges = all.flatMap((one) => one.edges ?? []);
  return edges.length === 0 ? {} : { edges, flows: all.flatMap((one) => one.flows ?? []) };
}

export interface TicksToDecide {
  readonly def: Job;
  readonly spec: Spec;
  /** The unique key of each new run; null: none. */
  readonly key: string | null;
  readonly decide: DecideTicks;
  readonly knowledge: TickKnowledge;
  /** True: the definitions that follow it get no runs. */
  readonly isUnfollowed?: boolean;
}

export interface TickedDefinition extends Ticked {
  /** How many runs of the definition itself the ticks create. */
  readonly runs: number;
}

/**
 * Returns the change of the definition that records the ticks, then the new runs, then the runs of the definitions that
 * follow it. The hook may refuse or change each run.
 */
export async function changesOfTicks(
  producer: Producer,
  ticks: TicksToDecide,
  now: number,
  asker: Asker,
): Promise<TickedDefinition> {
  const { creating = null } = producer;
  const { def, spec, key, decide, isUnfollowed = false } = ticks;
  const draftOfRun = (changes: DraftChanges): Draft => ({ ...runDraftOf(def.def!, spec), ...changes });
  const { event, runs, changesOf, why } = creating === null
    ? plainTicking(decide, draftOfRun, now)
    : await hookedTicking(decide, draftOfRun, { creating, def, spec, now, by: asker.by });
  const asking = { ...asker, now, ...(why === undefined ? {} : { why }) };
  const plan = runs.length === 0 || isUnfollowed ? [] : await followerPlan(producer.store, def, ticks.knowledge);
  const followed = await followedTicks(producer, plan, def, runs, now, asker);
  const newRuns = runs.map((run) =>
    newRunOf({ def, spec, run, key, isFollowed: followed.isFollowed(run.id) }, now, asker, draftOfRun(changesOf(run))));
  return {
    changes: [record(def, [followed.recordedIn(event)], asking), ...newRuns, ...followed.changes],
    following: followed.following,
    runs: runs.length,
  };
}

/** Creates the runs that follow the runs of ticks. Each run of a tick and those that follow it are a flow. */
async function followedTicks(
  producer: Producer,
  plan: FollowerPlan,
  def: Job,
  runs: readonly CalledRun[],
  now: number,
  asker: Asker,
) {
  const all = new Map<number, Awaited<ReturnType<typeof followerRuns>>>();
  if (plan.length > 0) for (const run of runs) all.set(run.id, await followerRuns(producer, plan, { def, run, now, asker }));
  const withRuns = [...all].filter(([, { changes }]) => changes.length > 0);
  const flows = withRuns.map(([id, { changes }]) => ({ id, runs: [id, ...changes.map(({ after }) => after!.id)] }));
  const named = (tick: TickOutcome): TickOutcome =>
    ('run' in tick && all.has(tick.run) ? { ...tick, followers: all.get(tick.run)!.outcomes } : tick);
  return {
    changes: withRuns.flatMap(([, { changes }]) => changes),
    following: flows.length === 0 ? {} : { edges: withRuns.flatMap(([, { edges }]) => edges), flows },
    isFollowed: (run: number): boolean => (all.get(run)?.changes.length ?? 0) > 0,
    recordedIn: (event: EventBody): EventBody =>
      (event.kind === 'ticked' && all.size > 0 ? { ...event, ticks: event.ticks.map(named) } : event),
  };
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

interface NewTickRun {
  readonly def: Job;
  readonly spec: Spec;
  readonly run: CalledRun;
  readonly key: string | null;
  readonly isFollowed: boolean;
}

function newRunOf({ def, spec, run, key, isFollowed }: NewTickRun, now: number, asker: Asker, given: Draft): Change {
  const { id, schedule, nominal, due } = run;
  const unique = key === null ? {} : { unique: { key } };
  const isAwaited = countsFromRun(spec.schedules[schedule]!);
  const tick = { def: def.id, schedule, nominal, isAwaited };
  const draft = { ...given, tick, ...unique };
  const { priority, phase } = firstStateOf(draft, now);
  const first = {
    due: Math.min(due, now), priority, ...(phase === undefined ? {} : { phase }),
    ...(isFollowed ? { isFollowed: true as const } : {}),
  };
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
