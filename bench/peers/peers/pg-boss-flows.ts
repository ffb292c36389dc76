/**
 * pg-boss with flows. It releases followers in rounds of its own, in seconds, and tells no worker: polling at its shortest
 * intervals is how its documentation uses it. `resolveFlow()` releases them at once, in a loop that fetches and completes:
 * the quickest way that its calls allow.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqlCounter } from '../sql-counter.ts';
import type { FlowRun } from '../flow.ts';
import { queueName, type Handle, type Peer, type Queue } from '../peer.ts';
import { load } from '../install.ts';
import type { Input } from '../../payload.ts';

interface Module {
  PgBoss: new (options: object) => Boss;
}

interface Boss {
  on(event: 'error', call: (error: Error) => void): void;
  start(): Promise<unknown>;
  createQueue(name: string): Promise<void>;
  insert(name: string, jobs: readonly { data: Input }[]): Promise<unknown>;
  flow(jobs: readonly FlowJob[]): Promise<unknown>;
  resolveFlow(): Promise<void>;
  work(name: string, options: object, handle: (jobs: readonly Job[]) => Promise<void>): Promise<string>;
  fetch(name: string, options: object): Promise<readonly Job[]>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
  stop(options: object): Promise<void>;
}

interface Job {
  readonly id: string;
  readonly data: Input;
}

interface FlowJob {
  readonly ref: string;
  readonly name: string;
  readonly data: Input;
  readonly dependsOn: string[];
}

/** Starts a worker, and returns what stops it. */
type StartWorker = (boss: Boss, handle: Handle) => Promise<() => Promise<void>>;

const shared = { database: 'postgres', package: 'pg-boss', pace: 'fast', only: 'flow shapes' } as const;

const batch = { batchSize: 1_000 };
const pollingSettings = { flowIntervalSeconds: 1 };
const pollingWork = { ...batch, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };

export const pgBossPolling: Peer = {
  ...shared,
  name: 'pg-boss, polling',
  settings: JSON.stringify({ ...pollingSettings, ...pollingWork }),
  flows: { chainRunsMax: 5, note: 'followers wait for its next round, one a second; its chains have five runs' },
  open: (location, folder) => open(location, folder, pollingSettings, startPolling),
};

const drivenSettings = { supervise: false };

export const pgBossResolving: Peer = {
  ...shared,
  name: 'pg-boss, resolving at once',
  settings: `${JSON.stringify({ ...drivenSettings, ...batch })}, a loop of fetch, complete and resolveFlow`,
  flows: {},
  open: (location, folder) => open(location, folder, drivenSettings, startResolving),
};

async function open(connectionString: string, folder: string, settings: object, startWorker: StartWorker): Promise<Queue> {
  const { PgBoss } = await load<Module>(folder, 'pg-boss');
  const boss = new PgBoss({ connectionString, ...settings });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(queueName);
  const counter = await openSqlCounter(connectionString, `SELECT count(*) FROM pgboss.job WHERE state < 'completed'`);
  let stop: (() => Promise<void>) | undefined;
  return {
    create: async (inputs) => void (await boss.insert(queueName, inputs.map((data) => ({ data })))),
    createFlow: async (runs) => void (await boss.flow(runs.map(flowJobOf))),
    work: async (handle) => {
      stop = await startWorker(boss, handle);
    },
    unfinished: counter.count,
    close: async () => {
      await stop?.();
      await boss.stop({ graceful: false });
      await counter.close();
    },
  };
}

const flowJobOf = ({ input, after }: FlowRun, index: number): FlowJob =>
  ({ ref: String(index), name: queueName, data: input, dependsOn: after.map(String) });

const startPolling: StartWorker = async (boss, handle) => {
  await boss.work(queueName, pollingWork, async (jobs) => jobs.forEach(({ data }) => handle(data)));
  return async () => {};
};

const idleMs = 5;

const startResolving: StartWorker = async (boss, handle) => {
  let isStopping = false;
  const work = async (): Promise<void> => {
    while (!isStopping) {
      const jobs = await boss.fetch(queueName, batch);
      if (jobs.length === 0) await sleep(idleMs);
      else await finish(boss, jobs, handle);
    }
  };
  const working = work();
  return async () => {
    isStopping = true;
    await working;
  };
};

async function finish(boss: Boss, jobs: readonly Job[], handle: Handle): Promise<void> {
  for (const { data } of jobs) handle(data);
  await boss.complete(queueName, jobs.map(({ id }) => id));
  await boss.resolveFlow();
}
