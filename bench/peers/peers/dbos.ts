/** DBOS: a durable workflow for each job, started through a queue. */
import { openSqlCounter } from '../sql-counter.ts';
import { queueName, type Peer, type Queue } from '../peer.ts';
import { load } from '../install.ts';
import { input as stepResult, type Input } from '../../payload.ts';

interface Module {
  DBOS: {
    setConfig(config: object): void;
    registerWorkflow<Given>(work: (given: Given) => Promise<void>, config: object): (given: Given) => Promise<void>;
    runStep<Result>(work: () => Promise<Result>, config: object): Promise<Result>;
    startWorkflow<Given>(work: (given: Given) => Promise<void>): (given: Given) => Promise<{ getResult(): Promise<void> }>;
    launch(): Promise<void>;
    registerQueue(name: string, options: object): Promise<unknown>;
    shutdown(): Promise<void>;
  };
  DBOSClient: { create(config: object): Promise<Client> };
}

interface Client {
  registerQueue(name: string, options: object): Promise<unknown>;
  enqueue(options: object, input: Input): Promise<unknown>;
  destroy(): Promise<void>;
}

const queueSettings = { workerConcurrency: 100, minPollingIntervalMs: 50 };
const workflowName = 'send';
const version = '1';
const inFlight = 16;

export const dbos: Peer = {
  name: 'DBOS',
  database: 'postgres',
  package: 'dbos',
  settings: JSON.stringify(queueSettings),
  pace: 'slow',
  lacksBulk: true,
  hasSteps: true,
  open,
};

async function open(systemDatabaseUrl: string, folder: string): Promise<Queue> {
  const { DBOS, DBOSClient } = await load<Module>(folder, '@dbos-inc/dbos-sdk');
  let handle: (input: Input) => void = () => {};
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error', applicationVersion: version });
  DBOS.registerWorkflow(async (input: Input) => handle(input), { name: workflowName });
  const stepped = DBOS.registerWorkflow(async (steps: number) => {
    for (let done = 0; done < steps; done += 1) await DBOS.runStep(async () => stepResult(), { name: `step ${done}` });
  }, { name: 'stepped' });
  // launch() creates the tables that the client needs.
  await DBOS.launch();
  await DBOS.shutdown();
  const client = await DBOSClient.create({ systemDatabaseUrl });
  const counter = await openSqlCounter(systemDatabaseUrl, unfinished);
  let isLaunched = false;
  const enqueue = (input: Input): Promise<unknown> => client.enqueue({ queueName, workflowName }, input);
  return {
    create: async (inputs) => {
      for (let done = 0; done < inputs.length; done += inFlight) {
        await Promise.all(inputs.slice(done, done + inFlight).map(enqueue));
      }
    },
    work: async (start) => {
      handle = start;
      isLaunched = true;
      await DBOS.launch();
      await DBOS.registerQueue(queueName, queueSettings);
    },
    // Without the queue, which delays the start: this is how DBOS executes workflows fastest.
    steps: async (runs, steps) => {
      let left = runs;
      const one = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await (await DBOS.startWorkflow(stepped)(steps)).getResult();
        }
      };
      await Promise.all(Array.from({ length: queueSettings.workerConcurrency }, one));
    },
    unfinished: counter.count,
    close: async () => {
      if (isLaunched) await DBOS.shutdown();
      await client.destroy();
      await counter.close();
    },
  };
}

const unfinished = `SELECT count(*) FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING', 'DELAYED')`;
