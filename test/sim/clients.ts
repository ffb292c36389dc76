// The clients: producers, operators and those of the queue. Each lives in a process of its own.
import { Queue } from '../../src/jobs/bedrock/queue.ts';
import { every, type Engine } from '../../src/index.ts';
import type { Job } from '../../src/model/job.ts';
import { isRefusal } from '../../src/refusal.ts';
import type { Stream } from './draws.ts';
import type { Goals } from './goals.ts';
import type { SimProcess } from './process.ts';
import type { DefName, Ledger, TypeName } from './trade.ts';

export interface Desk {
  readonly engine: Engine;
  readonly process: SimProcess;
  readonly dice: Stream;
  readonly goals: Goals;
  readonly ledger: Ledger;
  readonly types: readonly TypeName[];
  readonly defs: readonly DefName[];
  /** Jobs of which somebody was told that they are stored. */
  readonly acknowledged: Set<number>;
  /** The jobs as they are. */
  readonly jobs: () => readonly Job[];
}

/** One thing that somebody does. What is refused, or of which nobody knows whether it happened, is part of life. */
type Deed = (desk: Desk) => Promise<unknown>;

export async function attempt(deed: Deed, desk: Desk): Promise<void> {
  try {
    await deed(desk);
  } catch (error) {
    if (!isRefusal(error) && !/line was cut|store is down|no reply came/.test(String(error))) throw error;
  }
}

const tenants = ['ann', 'bob'] as const;
const keys = ['red', 'green', 'blue'] as const;

const produce: Deed = async ({ engine, dice, types, acknowledged }) => {
  const type = dice.pick(types);
  const [hasDelay, hasKey, isForLong, isUrgent] = [0.2, 0.25, 0.3, 0.2].map((chance) => dice.isTrue(chance));
  const [seconds, key, tenant] = [dice.whole(1, 90), dice.pick(keys), dice.pick(tenants)];
  const onTaken = dice.pick(['keep', 'update'] as const);
  const unique = { key: `${type} ${key}`, onTaken, ...(isForLong ? { for: '2m' as const } : {}) };
  const run = await engine.createNamed({ type }, {
    input: { tenant },
    ...(hasDelay ? { delay: `${seconds}s` as const } : {}),
    ...(hasKey ? { unique } : {}),
    ...(isUrgent ? { priority: 10 } : {}),
  });
  acknowledged.add(run.id);
};

const produceMany: Deed = async (desk) => {
  const count = desk.dice.whole(2, 6);
  await Promise.all(Array.from({ length: count }, () => attempt(produce, desk)));
};

const isOpenRun = ({ kind, state }: Job): boolean => kind === 'run' && state !== 'ended';

function pick({ jobs, dice }: Desk, isMeant: (job: Job) => boolean): Job | undefined {
  const all = jobs();
  // Mostly the newest, which are alive.
  const from = Math.max(0, all.length - (dice.isTrue(0.8) ? 60 : all.length));
  const meant = all.slice(from).filter(isMeant);
  return meant.length === 0 ? undefined : dice.pick(meant);
}

const on = (isMeant: (job: Job) => boolean, act: (desk: Desk, job: Job) => Promise<unknown>): Deed => async (desk) => {
  const job = pick(desk, isMeant);
  if (!job) return;
  const isDoubled = desk.dice.isTrue(0.15);
  const acts = [act(desk, job), ...(isDoubled ? [act(desk, job)] : [])];
  const refused = (await Promise.allSettled(acts)).find((answer) => answer.status === 'rejected');
  if (refused) throw refused.reason;
};

const isWork = ({ kind }: Job): boolean => kind === 'run' || kind === 'task';
const isOpenWork = (job: Job): boolean => isWork(job) && job.state !== 'ended';
const isEndedWork = (job: Job): boolean => isWork(job) && job.state === 'ended';
const isPausedRun = (job: Job): boolean => job.kind === 'run' && job.state === 'held' && job.hold === 'pause';
const isPendingRun = ({ kind, state }: Job): boolean => kind === 'run' && state === 'pending';

const cancel = on(isOpenWork, async ({ engine, dice, goals }, { id }) => {
  const grace = dice.isTrue(0.4) ? { grace: '5s' as const } : {};
  try {
    await engine.cancelJobRun(id, { why: 'an operator wants it', ...grace });
  } catch (error) {
    if (isRefusal(error) && error.code === 'wrong.state') goals.reach('completion before cancel');
    throw error;
  }
});
const isWaitingRun = (job: Job): boolean => job.kind === 'run' && job.state === 'held' && job.hold === 'children';
const cancelFamily = on(isWaitingRun, ({ engine }, { id }) => engine.cancelJobRun(id));
const stop = on(isOpenRun, ({ engine }, { id }) => engine.stopJobRun(id));
const retryRun = on(isEndedWork, ({ engine, dice }, { id }) =>
  engine.retryJobRun(id, dice.isTrue(0.5) ? { only: 'failed' } : {}));
const pauseRun = on(isPendingRun, ({ engine }, { id }) => engine.pauseJobRun(id));
const resumeRun = on(isPausedRun, ({ engine }, { id }) => engine.resumeJobRun(id));
const editRun = on(isOpenRun, ({ engine, dice }, { id }) => engine.editJobRun(id, { priority: dice.whole(0, 20) }));
const deleteRun = on(isEndedWork, ({ engine }, { id }) => engine.deleteJobRun(id));
const bulk: Deed = async ({ engine, acknowledged, dice }) => {
  const action = dice.pick(['cancel', 'retry'] as const);
  const run = await engine.createNamed({ type: 'stint.bulk' }, {
    input: { action, query: { types: ['flaky'] }, by: 'operator', why: null, only: 'failed', asked: engine.now() },
  });
  acknowledged.add(run.id);
};

const complete: Deed = async ({ engine, ledger, dice }) => {
  const token = ledger.tokens[ledger.tokens.length - dice.whole(1, 5)];
  if (token === undefined) return;
  if (dice.isTrue(0.7)) await engine.complete(token, { from: 'outside' });
  else await engine.fail(token, new Error('it failed outside'));
};

const editSchedule: Deed = async ({ engine, dice, defs }) => {
  const name = dice.pick(defs);
  const seconds = dice.whole(20, 200);
  const [isTakenBack, isDouble] = [dice.isTrue(0.3), dice.isTrue(0.3)];
  const schedules = [every(`${seconds}s`), ...(isDouble ? [every('90s')] : [])];
  await engine.override(name, isTakenBack ? null : { schedules });
};
const switchOff: Deed = ({ engine, dice, defs }) => engine.disable(dice.pick(defs));
const switchOn: Deed = ({ engine, dice, defs }) => engine.enable(dice.pick(defs));
const runByHand: Deed = async ({ engine, dice, defs, acknowledged }) => {
  acknowledged.add((await engine.createNamed({ def: dice.pick(defs) }, {})).id);
};

// The queue of Bedrock.

const queueOf = ({ engine }: Desk): Queue => new Queue(engine.jobs);
const asker = { by: 'queue client' };
const names = ['manual/mail', 'mail', 'report', 'import'] as const;

const enqueue: Deed = async (desk) => {
  const { dice, acknowledged } = desk;
  const [isUnique, repeats, again] = [dice.isTrue(0.3), dice.isTrue(0.15), dice.isTrue(0.6)];
  const [id] = await queueOf(desk).create([{
    name: dice.pick(names),
    data: `{"n":${dice.whole(1, 9)}}`,
    isUnique,
    ...(repeats ? { repeat: 'FINISHED, +1 MINUTE' } : {}),
    ...(again ? { retryAfter: '+20 SECONDS' } : {}),
  }], false, asker.by);
  acknowledged.add(id!);
};

const workOnQueue: Deed = async (desk) => {
  const { dice, process } = desk;
  const queue = queueOf(desk);
  const limit = dice.whole(1, 3);
  const { handed } = await queue.handOut({ names: { glob: '*' }, limit, holder: process.name, withMocks: false });
  for (const { job } of handed) {
    await process.clock.sleep(dice.between(10, 4_000));
    if (job.parent === null && dice.isTrue(0.25)) await attempt(() => addChildren(desk, queue, job.id), desk);
    await attempt(() => conclude(desk, queue, job.id), desk);
  }
};

async function addChildren({ dice, acknowledged }: Desk, queue: Queue, parent: number): Promise<void> {
  const drafts = Array.from({ length: dice.whole(1, 3) }, () => ({ name: dice.pick(names), data: null, parent }));
  for (const id of await queue.create(drafts, false, asker.by)) acknowledged.add(id);
}

async function conclude({ dice }: Desk, queue: Queue, id: number): Promise<void> {
  const chance = dice.next();
  if (chance < 0.6) return queue.finish({ id }, asker);
  if (chance < 0.7) return queue.fail(id, undefined, asker);
  if (chance < 0.8) return queue.retry({ id, due: { inSeconds: dice.whole(0, 30) } }, asker);
  if (chance < 0.85) return queue.update({ id, data: '{"updated":true}' }, asker);
  // Otherwise the worker forgets about it.
}

const isQueued = ({ kind }: Job): boolean => kind === 'bedrock';
const changeQueue = on(isQueued, async (desk, { id }) => {
  const queue = queueOf(desk);
  const chance = desk.dice.next();
  if (chance < 0.3) return queue.cancel(id, asker);
  if (chance < 0.6) return queue.delete(id, asker);
  return queue.requeue([id], asker);
});

type Menu = readonly (readonly [Deed, number])[];

const menus: Readonly<Record<'producer' | 'operator' | 'queue', Menu>> = {
  producer: [[produce, 10], [produceMany, 3], [runByHand, 2], [complete, 4]],
  operator: [
    [cancel, 6], [cancelFamily, 3], [stop, 3], [retryRun, 5], [pauseRun, 2], [resumeRun, 2], [editRun, 2],
    [deleteRun, 2], [bulk, 1], [editSchedule, 2], [switchOff, 1], [switchOn, 2],
  ],
  queue: [[enqueue, 6], [workOnQueue, 8], [changeQueue, 2]],
};

export type Role = keyof typeof menus;
export const roles = Object.keys(menus) as Role[];

const dishes = (menu: Menu): readonly Deed[] => menu.flatMap(([deed, weight]) => Array<Deed>(weight).fill(deed));

/** One deed after another, for ever. */
export async function live(role: Role, desk: Desk, everyMs: number, isOver: () => boolean): Promise<void> {
  const deeds = dishes(menus[role]);
  while (!isOver()) {
    await desk.process.clock.sleep(desk.dice.wait(everyMs));
    if (!isOver()) await attempt(desk.dice.pick(deeds), desk);
  }
}

/** Brings to an end what only somebody outside can: what was handed off, paused, queued, or repeats. */
export async function clearUp(desk: Desk): Promise<void> {
  const { engine, jobs, process } = desk;
  const queue = queueOf(desk);
  const everything = { names: { glob: '*' }, limit: 100, holder: process.name, withMocks: true } as const;
  for (const name of desk.defs) await attempt(() => engine.disable(name), desk);
  for (;;) {
    for (const job of jobs()) {
      const { id } = job;
      if (isPausedRun(job)) await attempt(() => engine.resumeJobRun(id), desk);
      const isHandedOut = isQueued(job) && job.state === 'running';
      if (isHandedOut) await attempt(() => queue.finish({ id, ignoreRepeat: true }, asker), desk);
    }
    await attempt(() => queue.handOut(everything), desk);
    await process.clock.sleep(2_000);
  }
}
