// The clients of a storm: producers, one with a transaction of its own, operators, and workers of the queue. What they
// were told is evidence; what they were not told is in doubt.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../../src/index.ts';
import { Queue } from '../../src/jobs/bedrock/queue.ts';
import { isRefusal } from '../../src/refusal.ts';
import type { Stream } from '../sim/draws.ts';
import { Outage, type OwnTables } from './own-tables.ts';
import { defNames, simple, type TypeName } from './trade.ts';

export interface Desk {
  readonly engine: Engine;
  readonly tables: OwnTables;
  readonly dice: Stream;
  /** Jobs of which somebody was told that they are stored. */
  readonly acknowledged: Set<number>;
  /** How many jobs may be open before producers wait. */
  readonly openMax: number;
}

type Deed = (desk: Desk) => Promise<unknown>;

/** One deed after another until it is over. What is refused, or nobody knows the outcome of, is part of a storm. */
export async function live(deeds: readonly Deed[], desk: Desk, everyMs: number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sleep(desk.dice.wait(everyMs));
    if (!isOver()) await attempt(desk.dice.pick(deeds), desk);
  }
}

async function attempt(deed: Deed, desk: Desk): Promise<void> {
  try {
    await deed(desk);
  } catch (error) {
    if (!isRefusal(error) && !(error instanceof Outage)) throw error;
  }
}

const produced: readonly TypeName[] = [
  'simple', 'simple', 'slow', 'slow', 'slow', 'flaky', 'fan', 'limited', 'fragile', 'transfer',
];
const keys = ['red', 'green', 'blue', 'white'] as const;

const produce: Deed = async (desk) => {
  const { engine, dice, acknowledged } = desk;
  await untilFewer(desk);
  const type = dice.pick(produced);
  const delay = dice.isTrue(0.2) ? { delay: `${dice.whole(1, 2_000)}ms` as const } : {};
  const window = dice.isTrue(0.3) ? { for: '5s' as const } : {};
  const unique = { key: `${type} ${dice.pick(keys)}`, ...window };
  const isUnique = type !== 'transfer' && dice.isTrue(0.25);
  acknowledged.add((await engine.createNamed({ type }, { ...delay, ...(isUnique ? { unique } : {}) })).id);
};

const produceMany: Deed = async ({ engine, dice, acknowledged, ...desk }) => {
  await untilFewer({ engine, ...desk });
  const count = dice.whole(5, 20);
  const asks = Array.from({ length: count }, () => ({}));
  for (const { id } of await engine.createJobRuns(simple, asks)) acknowledged.add(id);
};

async function untilFewer({ engine, openMax }: Pick<Desk, 'engine' | 'openMax'>): Promise<void> {
  for (;;) {
    const tallies = await engine.jobs.count({ standings: ['pending', 'running', 'held'] });
    if (tallies.reduce((sum, { count }) => sum + count, 0) < openMax) return;
    await sleep(200);
  }
}

let orders = 0;
/** An order and the run that sees to it, in one transaction, which may be taken back. */
const order: Deed = async ({ engine, tables, dice }) => {
  const key = `order ${(orders += 1)}`;
  const how = dice.isTrue(0.7) ? 'commit' : 'rollback';
  await tables.write('orders', async (transaction) => {
    const { id } = await engine.in(transaction).createJobRun(simple, { tags: { order: key } });
    return { key, job: id, fence: 0 };
  }, how);
};

const lately = ({ acknowledged, dice }: Desk): number | undefined => {
  const some = [...acknowledged].slice(-60);
  return some.length === 0 ? undefined : dice.pick(some);
};

/** Of transfers it is counted how often they succeed: nobody gets in their way. */
const on = (act: (engine: Engine, id: number, dice: Stream) => Promise<unknown>): Deed => async (desk) => {
  const id = lately(desk);
  if (id === undefined) return;
  const job = await desk.engine.jobs.get(id);
  if (job && job.kind === 'run' && job.type !== 'transfer') await act(desk.engine, id, desk.dice);
};

const cancel = on((engine, id) => engine.cancelJobRun(id, { why: 'an operator wants it' }));
const stop = on((engine, id) => engine.stopJobRun(id));
const retry = on((engine, id) => engine.retryJobRun(id, {}));
const edit = on((engine, id, dice) => engine.editJobRun(id, { priority: dice.whole(0, 20) }));
const pause = on(async (engine, id) => {
  await engine.pauseJobRun(id);
  await sleep(100);
  await engine.resumeJobRun(id);
});

// The queue of Bedrock.

const asker = { by: 'queue client' };
const queueOf = ({ engine }: Pick<Desk, 'engine'>): Queue => new Queue(engine.jobs);
const names = ['mail', 'report', 'import'] as const;

const enqueue: Deed = async (desk) => {
  const { dice, acknowledged } = desk;
  const draft = { name: dice.pick(names), data: '{"n":1}', isUnique: dice.isTrue(0.3), retryAfter: '+2 SECONDS' };
  for (const id of await queueOf(desk).create([draft], false, asker.by)) acknowledged.add(id);
};

const workOnQueue: Deed = async (desk) => {
  const { dice, acknowledged } = desk;
  const queue = queueOf(desk);
  const { handed } = await queue.handOut({ names: { glob: '*' }, limit: 3, holder: asker.by, withMocks: false });
  for (const { job } of handed) {
    if (job.parent === null && dice.isTrue(0.3)) {
      const draft = () => ({ name: dice.pick(names), data: null, parent: job.id, retryAfter: '+2 SECONDS' });
      await attempt(() => queue.create([draft(), draft()], false, asker.by), desk);
    }
    if (dice.isTrue(0.1)) continue; // the worker forgets about it
    acknowledged.delete(job.id); // what is finished is gone
    const isDone = dice.isTrue(0.8);
    await attempt(() => (isDone ? queue.finish({ id: job.id }, asker) : queue.fail(job.id, undefined, asker)), desk);
  }
};

export const roles: readonly (readonly [deeds: readonly Deed[], everyMs: number])[] = [
  [[produce, produce, produce, produceMany], 60],
  [[order], 150],
  [[cancel, cancel, stop, retry, edit, pause], 150],
  [[enqueue, workOnQueue, workOnQueue], 120],
];

/** Brings to an end what only somebody outside can: what is paused, queued, or has schedules. */
export async function clearUp(desk: Desk): Promise<void> {
  const { engine } = desk;
  const queue = queueOf(desk);
  for (const name of defNames) await attempt(() => engine.disable(name), desk);
  const { jobs } = await engine.jobs.find({ standings: ['held'] }, { limit: 1000 });
  const paused = jobs.filter((job) => job.kind === 'run' && job.state === 'held' && job.hold === 'pause');
  for (const { id } of paused) await attempt(() => engine.resumeJobRun(id), desk);
  await attempt(async () => {
    const { handed } = await queue.handOut({ names: { glob: '*' }, limit: 100, holder: asker.by, withMocks: false });
    for (const { job } of handed) {
      desk.acknowledged.delete(job.id);
      await attempt(() => queue.finish({ id: job.id }, asker), desk);
    }
  }, desk);
}
