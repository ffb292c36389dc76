/** graphile-worker: plain, and batched with the settings of its performance page. */
import { Application } from '../application.ts';
import { openSqlCounter } from '../sql-counter.ts';
import { queueName, type Peer, type Queue } from '../peer.ts';
import { load } from '../install.ts';

interface Module {
  Logger: new (logger: () => () => void) => unknown;
  makeWorkerUtils: (options: object) => Promise<Utils>;
  run: (options: object) => Promise<{ stop(): Promise<void> }>;
}

interface Utils {
  migrate(): Promise<void>;
  addJob(name: string, payload: unknown): Promise<unknown>;
  addJobs(specs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>;
  release(): Promise<void>;
}

const concurrency = { concurrentJobs: 24, maxPoolSize: 25 };
const batching = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

const shared = { database: 'postgres', package: 'graphile-worker', joinsTransactions: true } as const;

export const graphilePlain: Peer = {
  ...shared,
  name: 'graphile-worker',
  settings: JSON.stringify(concurrency),
  pace: 'medium',
  open: (location, folder) => open(location, folder, concurrency),
};

export const graphileBatched: Peer = {
  ...shared,
  name: 'graphile-worker batched',
  settings: JSON.stringify({ ...concurrency, ...batching }),
  pace: 'fast',
  isBatched: true,
  open: (location, folder) => open(location, folder, { ...concurrency, ...batching }),
};

async function open(connectionString: string, folder: string, settings: object): Promise<Queue> {
  const { Logger, makeWorkerUtils, run } = await load<Module>(folder, 'graphile-worker');
  const preset = { worker: { connectionString, ...settings } };
  const common = { preset, logger: new Logger(() => () => {}) };
  const utils = await makeWorkerUtils(common);
  await utils.migrate();
  const counter = await openSqlCounter(connectionString, 'SELECT count(*) FROM graphile_worker.jobs');
  const application = new Application(connectionString);
  let runner: Awaited<ReturnType<Module['run']>> | undefined;
  return {
    order: (input) => application.order((transaction) =>
      transaction.query('select graphile_worker.add_job($1, $2)', [queueName, input])),
    create: async (inputs) => {
      if (inputs.length === 1) await utils.addJob(queueName, inputs[0]);
      else await utils.addJobs(inputs.map((payload) => ({ identifier: queueName, payload })));
    },
    work: async (handle) => {
      const taskList = { [queueName]: handle };
      runner = await run({ ...common, noHandleSignals: true, taskList });
    },
    unfinished: counter.count,
    close: async () => {
      await runner?.stop();
      await utils.release();
      await counter.close();
      await application.close();
    },
  };
}
