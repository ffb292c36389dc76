/** plainjob on better-sqlite3. plainjob itself sets WAL and synchronous=NORMAL. */
import { queueName, type Peer, type Queue } from '../peer.ts';
import { load } from '../install.ts';
import type { Input } from '../../payload.ts';

interface Module {
  better: (database: object) => object;
  defineQueue: (options: object) => PlainQueue;
  defineWorker: (type: string, handle: (job: { data: string }) => void, options: object) => PlainWorker;
}

interface PlainQueue {
  add(type: string, data: Input): unknown;
  addMany(type: string, data: readonly Input[]): unknown;
  countJobs(filter: { status: number }): number;
  close(): void;
}

interface PlainWorker {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Sqlite {
  default: new (path: string) => object;
}

const workerSettings = { pollIntervall: 10 };
const [pending, processing] = [0, 1];
const logger = { error: console.error, warn: () => {}, info: () => {}, debug: () => {} };

export const plainjob: Peer = {
  name: 'plainjob',
  database: 'sqlite',
  package: 'plainjob',
  settings: `${JSON.stringify(workerSettings)}, better-sqlite3, WAL, synchronous=NORMAL (its own)`,
  pace: 'medium',
  open,
};

async function open(path: string, folder: string): Promise<Queue> {
  const { better, defineQueue, defineWorker } = await load<Module>(folder, 'plainjob');
  const { default: Database } = await load<Sqlite>(folder, 'better-sqlite3');
  const queue = defineQueue({ connection: better(new Database(path)), logger });
  let worker: PlainWorker | undefined;
  return {
    create: async (inputs) => {
      if (inputs.length === 1) queue.add(queueName, inputs[0]!);
      else queue.addMany(queueName, inputs);
    },
    work: async (handle) => {
      const work = ({ data }: { data: string }): void => handle(JSON.parse(data) as Input);
      worker = defineWorker(queueName, work, { queue, logger, ...workerSettings });
      void worker.start();
    },
    unfinished: async () => queue.countJobs({ status: pending }) + queue.countJobs({ status: processing }),
    close: async () => {
      await worker?.stop();
      queue.close();
    },
  };
}
