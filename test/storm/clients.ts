// The clients of a storm: producers, one with its own transactions, operators, and workers of the Bedrock queue. A
// reply
// is evidence; without a reply the outcome is unknown.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../../src/index.ts';
import { Queue } from '../../src/jobs/bedrock/queue.ts';
import { isRefusal } from '../../src/refusal.ts';
import type { RandomStream } from '../sim/random-streams.ts';
import { Outage, type OwnTables } from './own-tables.ts';
import { defNames, simple, type TypeName } from './workload.ts';

export interface Client {
  readonly engine: Engine;
  readonly tables: OwnTables;
  readonly random: RandomStream;
  /** Ids of created jobs whose reply has arrived. */
  readonly acknowledged: Set<number>;
  /** Producers wait while more jobs are open. */
  readonly openMax: number;
}

type Action = (client: Client) => Promise<unknown>;

/** Executes one random action after another. Refusals and unknown outcomes are expected. */
export async function actUntil(
  actions: readonly Action[],
  client: Client,
  everyMs: number,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await sleep(client.random.intervalMs(everyMs));
    if (!isOver()) await tryAction(client.random.pick(actions), client);
  }
}

async function tryAction(action: Action, client: Client): Promise<void> {
  try {
    await action(client);
  } catch (error) {
    if (!isRefusal(error) && !(error instanceof Outage)) throw error;
  }
}

const produced: readonly TypeName[] = [
  'simple', 'simple', 'slow', 'slow', 'slow', 'flaky', 'fan', 'limited', 'fragile', 'transfer',
];
const keys = ['red', 'green', 'blue', 'white'] as const;

const produce: Action = async (client) => {
  const { engine, random, acknowledged } = client;
  await untilFewerOpen(client);
  const type = random.pick(produced);
  const delay = random.isTrue(0.2) ? { delay: `${random.integer(1, 2_000)}ms` as const } : {};
  const window = random.isTrue(0.3) ? { for: '5s' as const } : {};
  const unique = { key: `${type} ${random.pick(keys)}`, ...window };
  const isUnique = type !== 'transfer' && random.isTrue(0.25);
  acknowledged.add((await engine.createNamed({ type }, { ...delay, ...(isUnique ? { unique } : {}) })).id);
};

const produceMany: Action = async ({ engine, random, acknowledged, ...client }) => {
  await untilFewerOpen({ engine, ...client });
  const count = random.integer(5, 20);
  const runs = Array.from({ length: count }, () => ({}));
  for (const { id } of await engine.createJobRuns(simple, runs)) acknowledged.add(id);
};

async function untilFewerOpen({ engine, openMax }: Pick<Client, 'engine' | 'openMax'>): Promise<void> {
  for (;;) {
    const tallies = await engine.jobs.count({ standings: ['pending', 'running', 'held'] });
    if (tallies.reduce((sum, { count }) => sum + count, 0) < openMax) return;
    await sleep(200);
  }
}

let orders = 0;
/** Writes an order and its run in one transaction, which is rolled back in 30 % of the cases. */
const order: Action = async ({ engine, tables, random }) => {
  const key = `order ${(orders += 1)}`;
  const how = random.isTrue(0.7) ? 'commit' : 'rollback';
  await tables.write('orders', async (transaction) => {
    const { id } = await engine.in(transaction).createJobRun(simple, { tags: { order: key } });
    return { key, job: id, fence: 0 };
  }, how);
};

const pickRecent = ({ acknowledged, random }: Client): number | undefined => {
  const some = [...acknowledged].slice(-60);
  return some.length === 0 ? undefined : random.pick(some);
};

/** Skips transfers: the check counts their successes, so operators must not change them. */
const on = (act: (engine: Engine, id: number, random: RandomStream) => Promise<unknown>): Action => async (client) => {
  const id = pickRecent(client);
  if (id === undefined) return;
  const job = await client.engine.jobs.get(id);
  if (job && job.kind === 'run' && job.type !== 'transfer') await act(client.engine, id, client.random);
};

const cancel = on((engine, id) => engine.cancelJobRun(id, { why: 'an operator wants it' }));
const stop = on((engine, id) => engine.stopJobRun(id));
const retry = on((engine, id) => engine.retryJobRun(id, {}));
const edit = on((engine, id, random) => engine.editJobRun(id, { priority: random.integer(0, 20) }));
const pause = on(async (engine, id) => {
  await engine.pauseJobRun(id);
  await sleep(100);
  await engine.resumeJobRun(id);
});

// The Bedrock queue.

const actor = { by: 'queue client' };
const queueOf = ({ engine }: Pick<Client, 'engine'>): Queue => new Queue(engine.jobs);
const names = ['mail', 'report', 'import'] as const;

const enqueue: Action = async (client) => {
  const { random, acknowledged } = client;
  const draft = { name: random.pick(names), data: '{"n":1}', isUnique: random.isTrue(0.3), retryAfter: '+2 SECONDS' };
  for (const id of await queueOf(client).create([draft], false, actor.by)) acknowledged.add(id);
};

const workOnQueue: Action = async (client) => {
  const { random, acknowledged } = client;
  const queue = queueOf(client);
  const { handed } = await queue.handOut({ names: { glob: '*' }, limit: 3, holder: actor.by, withMocks: false });
  for (const { job } of handed) {
    if (job.parent === null && random.isTrue(0.3)) {
      const draft = () => ({ name: random.pick(names), data: null, parent: job.id, retryAfter: '+2 SECONDS' });
      await tryAction(() => queue.create([draft(), draft()], false, actor.by), client);
    }
    if (random.isTrue(0.1)) continue; // the worker never finishes it
    acknowledged.delete(job.id); // a finished Bedrock job is deleted
    const isDone = random.isTrue(0.8);
    await tryAction(
      () => (isDone ? queue.finish({ id: job.id }, actor) : queue.fail(job.id, undefined, actor)), client,
    );
  }
};

export const roles: readonly (readonly [actions: readonly Action[], everyMs: number])[] = [
  [[produce, produce, produce, produceMany], 60],
  [[order], 150],
  [[cancel, cancel, stop, retry, edit, pause], 150],
  [[enqueue, workOnQueue, workOnQueue], 120],
];

/** Disables the schedules, and ends the jobs that need a client to end: paused and queued jobs. */
export async function finishRemaining(client: Client): Promise<void> {
  const { engine } = client;
  const queue = queueOf(client);
  for (const name of defNames) await tryAction(() => engine.disable(name), client);
  const { jobs } = await engine.jobs.find({ standings: ['held'] }, { limit: 1000 });
  const paused = jobs.filter((job) => job.kind === 'run' && job.state === 'held' && job.hold === 'pause');
  for (const { id } of paused) await tryAction(() => engine.resumeJobRun(id), client);
  await tryAction(async () => {
    const { handed } = await queue.handOut({ names: { glob: '*' }, limit: 100, holder: actor.by, withMocks: false });
    for (const { job } of handed) {
      client.acknowledged.delete(job.id);
      await tryAction(() => queue.finish({ id: job.id }, actor), client);
    }
  }, client);
}
