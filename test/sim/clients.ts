// The clients: producers, operators and clients of the Bedrock queue. Each has its own simulated process.
import { Queue } from '../../src/jobs/bedrock/queue.ts';
import type { FlowDraft } from '../../src/jobs/create-flow.ts';
import { every, type Engine } from '../../src/index.ts';
import type { Following } from '../../src/model/following.ts';
import type { Job } from '../../src/model/job.ts';
import { isInForce, keyOf } from '../../src/model/pause.ts';
import { isRefusal } from '../../src/refusal.ts';
import { askingType } from './asking.ts';
import { completingTypes } from './completing.ts';
import { drawChangedDef, drawFollower, drawFollowing, drawOperatorDef, linkedType } from './following-defs.ts';
import type { RandomStream } from './random-streams.ts';
import type { Goals } from './goals.ts';
import { drawOverride } from './limits.ts';
import type { SimProcess } from './process.ts';
import { isLostCall } from './unreliable-store.ts';
import type { Ledger, TypeName } from './workload.ts';

export interface Client {
  readonly engine: Engine;
  readonly process: SimProcess;
  readonly random: RandomStream;
  readonly goals: Goals;
  readonly ledger: Ledger;
  readonly types: readonly TypeName[];
  readonly defs: readonly string[];
  /** The named limits. */
  readonly limits: readonly string[];
  /** Ids of created jobs whose reply has arrived. */
  readonly acknowledged: Set<number>;
  /** The current jobs of the store. */
  readonly jobs: () => readonly Job[];
}

/** One request of a client. Refusals and unknown outcomes are expected. */
type Action = (client: Client) => Promise<unknown>;

export async function tryAction(action: Action, client: Client): Promise<void> {
  try {
    await action(client);
  } catch (error) {
    if (!isRefusal(error) && !isLostCall(error)) throw error;
  }
}

const tenants = ['ann', 'bob'] as const;
const keys = ['red', 'green', 'blue'] as const;

const produce: Action = async ({ engine, random, types, acknowledged }) => {
  const type = random.pick(types);
  const [hasDelay, hasKey, isForLong, isUrgent] = [0.2, 0.25, 0.3, 0.2].map((chance) => random.isTrue(chance));
  const [seconds, key, tenant] = [random.integer(1, 90), random.pick(keys), random.pick(tenants)];
  const onTaken = random.pick(['keep', 'update'] as const);
  const unique = { key: `${type} ${key}`, onTaken, ...(isForLong ? { for: '2m' as const } : {}) };
  const run = await engine.createNamed({ type }, {
    input: { tenant },
    ...(hasDelay ? { delay: `${seconds}s` as const } : {}),
    ...(hasKey ? { unique } : {}),
    ...(isUrgent ? { priority: 10 } : {}),
  });
  acknowledged.add(run.id);
};

const produceCompleting: Action = async ({ engine, random, acknowledged }) => {
  for (const type of [completingTypes[0], random.pick(completingTypes)]) {
    acknowledged.add((await engine.createNamed({ type }, {})).id);
  }
};

/** Some requests have the name of no type, or options that are refused. */
const writeRequests: Action = async ({ engine, random, types }) => {
  const requests = Array.from({ length: random.integer(1, 4) }, () => ({
    type: random.isTrue(0.1) ? 'no name' : random.pick(types),
    input: JSON.stringify({ tenant: random.pick(tenants) }),
    options: random.pick(['{}', '{}', '{"priority":7}', '{"priority":"high"}', '{"unique":"request"}']),
  }));
  await engine.jobs.store.enqueue(requests);
};

const changeRequest: Action = async ({ engine, random }) => {
  const refused = await engine.inboxRequests({ standing: 'refused', limit: 10 });
  if (refused.length === 0) return;
  const { id } = random.pick(refused);
  await (random.isTrue(0.6) ? engine.retryInboxRequest(id) : engine.removeInboxRequest(id));
};

const produceMany: Action = async (client) => {
  const count = client.random.integer(2, 6);
  await Promise.all(Array.from({ length: count }, () => tryAction(produce, client)));
};

const isOpenRun = ({ kind, state }: Job): boolean => kind === 'run' && state !== 'ended';

function pick({ jobs, random }: Client, matches: (job: Job) => boolean): Job | undefined {
  const all = jobs();
  // Prefers new jobs: most of them are still open.
  const from = Math.max(0, all.length - (random.isTrue(0.8) ? 60 : all.length));
  const matching = all.slice(from).filter(matches);
  return matching.length === 0 ? undefined : random.pick(matching);
}

type JobAction = (client: Client, job: Job) => Promise<unknown>;

const on = (matches: (job: Job) => boolean, act: JobAction): Action => async (client) => {
  const job = pick(client, matches);
  if (!job) return;
  const isDoubled = client.random.isTrue(0.15);
  const acts = [act(client, job), ...(isDoubled ? [act(client, job)] : [])];
  const refused = (await Promise.allSettled(acts)).find((answer) => answer.status === 'rejected');
  if (refused) throw refused.reason;
};

const isWork = ({ kind }: Job): boolean => kind === 'run' || kind === 'task';
const isOpenWork = (job: Job): boolean => isWork(job) && job.state !== 'ended';
const isEndedWork = (job: Job): boolean => isWork(job) && job.state === 'ended';
const isPausedRun = (job: Job): boolean => job.kind === 'run' && job.state === 'held' && job.hold === 'pause';
const isPendingRun = ({ kind, state }: Job): boolean => kind === 'run' && state === 'pending';

const cancel = on(isOpenWork, async ({ engine, random, goals }, { id }) => {
  const grace = random.isTrue(0.4) ? { grace: '5s' as const } : {};
  try {
    await engine.cancelJobRun(id, { why: 'an operator wants it', ...grace });
  } catch (error) {
    if (isRefusal(error) && error.code === 'wrong.state') goals.reach('completion before cancel');
    throw error;
  }
});
const isWaitingRun = (job: Job): boolean => job.kind === 'run' && job.state === 'held' && job.hold === 'children';
const cancelParent = on(isWaitingRun, ({ engine }, { id }) => engine.cancelJobRun(id));
const stop = on(isOpenRun, ({ engine }, { id }) => engine.stopJobRun(id));
const retryRun = on(isEndedWork, ({ engine, random }, { id }) =>
  engine.retryJobRun(id, random.isTrue(0.5) ? { only: 'failed' } : {}));
const pauseRun = on(isPendingRun, ({ engine }, { id }) => engine.pauseJobRun(id));
const resumeRun = on(isPausedRun, ({ engine }, { id }) => engine.resumeJobRun(id));
const editRun = on(isOpenRun, ({ engine, random }, { id }) =>
  engine.editJobRun(id, { priority: random.integer(0, 20) }));
const deleteRun = on(isEndedWork, ({ engine }, { id }) => engine.deleteJobRun(id));
const produceAsking: Action = async ({ engine, random, acknowledged }) => {
  const delay = random.isTrue(0.4) ? { delay: '30s' as const } : {};
  acknowledged.add((await engine.createNamed({ type: askingType }, delay)).id);
};

/** Answers early, late, wrongly, as somebody who must not, and twice. */
const answerQuestion: Action = async (client) => {
  const { engine, random } = client;
  const run = pick(client, ({ type }) => type === askingType);
  if (run === undefined) return;
  const [name, value, by] = [random.pick(['a', 'b', 'b']), random.integer(3, 9), random.pick(['ada', 'ada', 'ada', 'eve'])];
  const isTwice = random.isTrue(0.3);
  const answers = [value, ...(isTwice ? [value + random.integer(0, 1)] : [])].map((one) => engine.answer(run.id, name, one, { by }));
  const refused = (await Promise.allSettled(answers)).find(({ status }) => status === 'rejected');
  if (refused) throw (refused as PromiseRejectedResult).reason;
};

const isAsking = ({ type, state }: Job): boolean => type === askingType && state !== 'ended';
const cancelAsking = on(isAsking, ({ engine }, { id }) => engine.cancelJobRun(id));
const retryAsking = on(({ type, state }) => type === askingType && state === 'ended', ({ engine, random }, { id }) =>
  engine.retryJobRun(id, random.isTrue(0.5) ? { from: random.pick(['a', 'b', 'plan']) } : {}));

const bulk: Action = async ({ engine, acknowledged, random }) => {
  const action = random.pick(['cancel', 'retry'] as const);
  const run = await engine.createNamed({ own: 'stint.bulk' }, {
    input: { action, query: { types: ['flaky'] }, by: 'operator', why: null, only: 'failed', asked: engine.now() },
  });
  acknowledged.add(run.id);
};

const pauseType: Action = async ({ engine, random, types }) => {
  const [type, seconds, tenant] = [random.pick(types), random.integer(5, 120), random.pick(tenants)];
  const key = type === 'tenant' && random.isTrue(0.5) ? { key: tenant } : {};
  await engine.pauseType(type, { why: 'a system is down', until: `${seconds}s`, ...key });
};
const resumeType: Action = async (client) => {
  const pause = pick(client, ({ kind }) => kind === 'pause');
  if (pause) await resume(client, pause);
};
const resume = ({ engine }: Client, pause: Job): Promise<void> =>
  engine.resumeType(pause.type, { key: keyOf(pause) ?? undefined });

const overrideLimit: Action = async ({ engine, random, limits }) => {
  const name = random.pick(limits);
  await engine.overrideLimit(name, drawOverride(name, random));
};
const pauseLimit: Action = async ({ engine, random, limits }) => {
  const [name, seconds] = [random.pick(limits), random.integer(5, 60)];
  await engine.pauseLimit(name, { why: 'a system is down', until: `${seconds}s` });
};
const resumeLimit: Action = ({ engine, random, limits }) => engine.resumeLimit(random.pick(limits), {});

const complete: Action = async ({ engine, ledger, random }) => {
  const token = ledger.tokens[ledger.tokens.length - random.integer(1, 5)];
  if (token === undefined) return;
  if (random.isTrue(0.7)) await engine.complete(token, { from: 'outside' });
  else await engine.fail(token, new Error('it failed outside'));
};

const editSchedule: Action = async ({ engine, random, defs }) => {
  const name = random.pick(defs);
  const seconds = random.integer(20, 200);
  const [isRemoved, isDouble] = [random.isTrue(0.3), random.isTrue(0.3)];
  const schedules = [every(`${seconds}s`), ...(isDouble ? [every('90s')] : [])];
  await engine.override(name, isRemoved ? null : { schedules });
};
const switchOff: Action = ({ engine, random, defs }) => engine.disable(random.pick(defs));
const switchOn: Action = ({ engine, random, defs }) => engine.enable(random.pick(defs));
const runManually: Action = async ({ engine, random, defs, acknowledged }) => {
  acknowledged.add((await engine.createNamed({ def: random.pick(defs) }, {})).id);
};

// Definitions that follow definitions.

const defineFollower: Action = ({ engine, random }) => engine.define(drawOperatorDef(random), linkedType, drawFollowing(random));
const deleteFollower: Action = ({ engine, random }) => engine.undefine(drawChangedDef(random));
const changeFollower: Action = async ({ engine, random }) => {
  const [name, following, isRemoved] = [drawChangedDef(random), drawFollowing(random), random.isTrue(0.3)];
  await engine.override(name, isRemoved ? null : following);
};
const switchFollower: Action = ({ engine, random }) => {
  const [name, isOff] = [drawFollower(random), random.isTrue(0.3)];
  return isOff ? engine.disable(name) : engine.enable(name);
};

/** Several changes at a time, which may exclude each other. */
const changeFollowers: Action = async (client) => {
  const actions = Array.from({ length: client.random.integer(2, 3) }, () => client.random.pick([defineFollower, deleteFollower, changeFollower]));
  await Promise.all(actions.map((action) => tryAction(action, client)));
};

// The Bedrock queue.

const queueOf = ({ engine }: Client): Queue => new Queue(engine.jobs);
const actor = { by: 'queue client' };
const names = ['manual/mail', 'mail', 'report', 'import'] as const;

const enqueue: Action = async (client) => {
  const { random, acknowledged } = client;
  const [isUnique, repeats, isRetried] = [random.isTrue(0.3), random.isTrue(0.15), random.isTrue(0.6)];
  const [id] = await queueOf(client).create([{
    name: random.pick(names),
    data: `{"n":${random.integer(1, 9)}}`,
    isUnique,
    ...(repeats ? { repeat: 'FINISHED, +1 MINUTE' } : {}),
    ...(isRetried ? { retryAfter: '+20 SECONDS' } : {}),
  }], false, actor.by);
  acknowledged.add(id!);
};

const workOnQueue: Action = async (client) => {
  const { random, process } = client;
  const queue = queueOf(client);
  const limit = random.integer(1, 3);
  const { handed } = await queue.handOut({ names: { glob: '*' }, limit, holder: process.name, withMocks: false });
  for (const { job } of handed) {
    await process.clock.sleep(random.between(10, 4_000));
    if (job.parent === null && random.isTrue(0.25)) await tryAction(() => addChildren(client, queue, job.id), client);
    await tryAction(() => conclude(client, queue, job.id), client);
  }
};

async function addChildren({ random, acknowledged }: Client, queue: Queue, parent: number): Promise<void> {
  const drafts = Array.from({ length: random.integer(1, 3) }, () => ({ name: random.pick(names), data: null, parent }));
  for (const id of await queue.create(drafts, false, actor.by)) acknowledged.add(id);
}

async function conclude({ random }: Client, queue: Queue, id: number): Promise<void> {
  const chance = random.next();
  if (chance < 0.6) return queue.finish({ id }, actor);
  if (chance < 0.7) return queue.fail(id, undefined, actor);
  if (chance < 0.8) return queue.retry({ id, due: { inSeconds: random.integer(0, 30) } }, actor);
  if (chance < 0.85) return queue.update({ id, data: '{"updated":true}' }, actor);
  // Otherwise the worker never finishes the job.
}

const isQueued = ({ kind }: Job): boolean => kind === 'bedrock';
const changeQueue = on(isQueued, async (client, { id }) => {
  const queue = queueOf(client);
  const chance = client.random.next();
  if (chance < 0.3) return queue.cancel(id, actor);
  if (chance < 0.6) return queue.delete(id, actor);
  return queue.requeue({ ids: [id] }, actor);
});

// Flows.

const followOn = ['succeeded', 'succeeded', 'failed', 'ended'] as const;

/** A run, some that follow it, and one that follows those. */
const createFlow: Action = async ({ engine, random, types, acknowledged }) => {
  const width = random.integer(1, 3);
  const run = (after: readonly number[], on: Following['on'] = 'succeeded'): FlowDraft => ({
    // These drafts do not have the policies of their types. The default timeout is an hour: longer than the healing.
    draft: { type: random.pick(types), input: { tenant: random.pick(tenants) }, policy: { timeoutMs: 120_000 } },
    after: after.map((index) => ({ run: { index }, links: [] })),
    follows: { on, otherwise: random.isTrue(0.2) ? 'wait' : 'cancel' },
  });
  const middle = Array.from({ length: width }, () => run([0], random.pick(followOn)));
  const last = run(middle.map((_, index) => index + 1), random.pick(followOn));
  const runs = await engine.jobs.createFlow([run([]), ...middle, last], 'producer');
  for (const { id } of runs) acknowledged.add(id);
};

const createFollower: Action = async (client) => {
  const { engine, random, types, acknowledged } = client;
  const followed = [0, 1].flatMap(() => pick(client, ({ kind }) => kind === 'run') ?? []);
  if (followed.length === 0) return;
  const input = { tenant: random.pick(tenants) };
  const on = random.pick(followOn);
  const run = await engine.createNamed({ type: random.pick(types) }, { input, on, after: followed.map(({ id }) => id) });
  acknowledged.add(run.id);
};

const isFollowed = (job: Job): boolean => job.kind === 'run' && job.isFollowed;
const retryDownstream = on((job) => isFollowed(job) && job.state === 'ended', ({ engine, random }, { id }) =>
  engine.retryJobRun(id, { downstream: random.pick(['all', 'failed']) }));
const deleteFollowed = on((job) => isFollowed(job) && job.state === 'ended', ({ engine }, { id }) => engine.deleteJobRun(id));
const endFlow: Action = async ({ engine, random }) => {
  const [id] = (await engine.flows({ limit: 3 })).map((flow) => flow.id);
  if (id === undefined) return;
  const chance = random.next();
  if (chance < 0.4) await engine.cancelFlow(id);
  else if (chance < 0.7) await engine.stopFlow(id);
  else await engine.retryFlow(id);
};

const waitsForRetry = (job: Job): boolean =>
  job.state === 'held' && job.hold === 'runs' && job.follows?.otherwise === 'wait';

type WeightedActions = readonly (readonly [Action, number])[];

type RoleName = 'producer' | 'operator' | 'queue' | 'flow' | 'pauser' | 'completer' | 'writer' | 'limiter' | 'asker' | 'planner';

const actionsByRole: Readonly<Record<RoleName, WeightedActions>> = {
  producer: [[produce, 10], [produceMany, 3], [runManually, 2], [complete, 4]],
  operator: [
    [cancel, 6], [cancelParent, 3], [stop, 3], [retryRun, 5], [pauseRun, 2], [resumeRun, 2], [editRun, 2],
    [deleteRun, 2], [bulk, 1], [editSchedule, 2], [switchOff, 1], [switchOn, 2],
  ],
  pauser: [[pauseType, 3], [resumeType, 1]],
  completer: [[produceCompleting, 1]],
  writer: [[writeRequests, 4], [changeRequest, 1]],
  asker: [[produceAsking, 3], [answerQuestion, 10], [cancelAsking, 1], [retryAsking, 1]],
  planner: [[defineFollower, 5], [deleteFollower, 3], [changeFollower, 4], [switchFollower, 3], [changeFollowers, 2]],
  limiter: [[overrideLimit, 4], [pauseLimit, 1], [resumeLimit, 1]],
  queue: [[enqueue, 6], [workOnQueue, 8], [changeQueue, 2]],
  flow: [[createFlow, 8], [createFollower, 4], [retryDownstream, 2], [deleteFollowed, 2], [endFlow, 1]],
};

export type Role = RoleName;
export const roles = Object.keys(actionsByRole) as Role[];

const expand = (actions: WeightedActions): readonly Action[] =>
  actions.flatMap(([action, weight]) => Array<Action>(weight).fill(action));

/** Executes one random action after another. */
export async function actUntil(role: Role, client: Client, everyMs: number, isOver: () => boolean): Promise<void> {
  const actions = expand(actionsByRole[role]);
  while (!isOver()) {
    await client.process.clock.sleep(client.random.intervalMs(everyMs));
    if (!isOver()) await tryAction(client.random.pick(actions), client);
  }
}

/** Ends the jobs that need a client to end: handed off, paused, queued and repeating jobs. */
export async function finishRemaining(client: Client): Promise<void> {
  const { engine, jobs, process } = client;
  const queue = queueOf(client);
  const everything = { names: { glob: '*' }, limit: 100, holder: process.name, withMocks: true } as const;
  for (const name of client.defs) await tryAction(() => engine.disable(name), client);
  for (const name of client.limits) await tryAction(() => engine.overrideLimit(name, null), client);
  for (;;) {
    for (const job of jobs()) {
      const { id } = job;
      if (waitsForRetry(job)) await tryAction(() => engine.cancelJobRun(id), client);
      if (job.kind === 'pause' && isInForce(job, engine.now())) await tryAction(() => resume(client, job), client);
      if (isPausedRun(job)) await tryAction(() => engine.resumeJobRun(id), client);
      const isHandedOut = isQueued(job) && job.state === 'running';
      if (isHandedOut) await tryAction(() => queue.finish({ id, ignoreRepeat: true }, actor), client);
    }
    await tryAction(() => queue.handOut(everything), client);
    await process.clock.sleep(2_000);
  }
}
