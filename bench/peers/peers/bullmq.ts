/** BullMQ on Redis and on PostgreSQL. */
import { queueName, type Peer, type Queue } from '../peer.ts';
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

const common = { package: 'bullmq', settings: JSON.stringify({ ...workerSettings, ...jobSettings }) } as const;

export const bullmqRedis: Peer = {
  ...common,
  name: 'BullMQ on Redis',
  database: 'redis',
  pace: 'medium',
  open: async (location, folder) => {
    const module = await load<Module>(folder, 'bullmq');
    const { hostname, port } = new URL(location);
    return open(module, { database: hostname, port: Number(port), maxRetriesPerRequest: null });
  },
};

export const bullmqPostgres: Peer = {
  ...common,
  name: 'BullMQ on PostgreSQL',
  database: 'postgres',
  pace: 'slow',
  open: async (location, folder) => {
    const module = await load<Module>(folder, 'bullmq');
    module.setDefaultBackendFactory(module.createPostgresBackend);
    return open(module, { connectionString: location, max: 20, migrate: true });
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
