/** BullMQ on Redis and on PostgreSQL. */
import { queueName, type Entrant, type Queue } from '../entrant.ts';
import { load } from '../install.ts';
import type { Input } from '../../payload.ts';

interface Module {
  Queue: new (name: string, options: object) => BullQueue;
  Worker: new (name: string, handle: (job: { data: Input }) => Promise<void>, options: object) => BullWorker;
  createPostgresBackend: unknown;
  setDefaultBackendFactory(factory: unknown): void;
}

interface BullQueue {
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: Input): Promise<unknown>;
  addBulk(jobs: readonly { name: string; data: Input }[]): Promise<unknown>;
  getJobCountByTypes(...types: string[]): Promise<number>;
  close(): Promise<void>;
}

interface BullWorker {
  on(event: 'error', call: (error: Error) => void): void;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

const jobSettings = { removeOnComplete: true };
const workerSettings = { concurrency: 100 };

const entrant = { peer: 'bullmq', settings: JSON.stringify({ ...workerSettings, ...jobSettings }) } as const;

export const bullmqRedis: Entrant = {
  ...entrant,
  name: 'BullMQ on Redis',
  ground: 'redis',
  pace: 'middling',
  open: async (at, folder) => {
    const module = await load<Module>(folder, 'bullmq');
    const { hostname, port } = new URL(at);
    return open(module, { host: hostname, port: Number(port), maxRetriesPerRequest: null });
  },
};

export const bullmqPostgres: Entrant = {
  ...entrant,
  name: 'BullMQ on PostgreSQL',
  ground: 'postgres',
  pace: 'slow',
  open: async (at, folder) => {
    const module = await load<Module>(folder, 'bullmq');
    module.setDefaultBackendFactory(module.createPostgresBackend);
    return open(module, { connectionString: at, max: 20, migrate: true });
  },
};

async function open({ Queue, Worker }: Module, connection: object): Promise<Queue> {
  const queue = new Queue(queueName, { connection, defaultJobOptions: jobSettings });
  await queue.waitUntilReady();
  let worker: BullWorker | undefined;
  return {
    create: async (inputs) => {
      if (inputs.length === 1) await queue.add(queueName, inputs[0]!);
      else await queue.addBulk(inputs.map((data) => ({ name: queueName, data })));
    },
    work: async (handle) => {
      worker = new Worker(queueName, async ({ data }) => handle(data), { connection, ...workerSettings });
      worker.on('error', (error) => console.error(error));
      await worker.waitUntilReady();
    },
    unfinished: () => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized', 'paused'),
    close: async () => {
      await worker?.close();
      await queue.close();
    },
  };
}
