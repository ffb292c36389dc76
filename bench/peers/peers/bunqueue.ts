/** bunqueue, embedded in a Bun process, on a SQLite file. */
import { queueName, type Peer, type Queue } from '../peer.ts';
import { load } from '../install.ts';
import type { Input } from '../../payload.ts';

interface Module {
  Queue: new (name: string, options: object) => BunqueueQueue;
  Worker: new (name: string, handle: (job: { data: Input }) => Promise<void>, options: object) => BunqueueWorker;
  shutdownManager: () => void;
}

interface BunqueueQueue {
  add(name: string, data: Input): Promise<unknown>;
  addBulk(jobs: readonly { name: string; data: Input }[]): Promise<unknown>;
  getJobCountsAsync(): Promise<Readonly<Record<string, number>>>;
}

interface BunqueueWorker {
  on(event: 'error', call: (error: Error) => void): void;
  close(): Promise<void>;
}

const workerSettings = { concurrency: 100, batchSize: 100 };

export const bunqueue: Peer = {
  name: 'bunqueue',
  database: 'sqlite',
  package: 'bunqueue',
  settings: `${JSON.stringify(workerSettings)}, embedded, its writes buffered (not durable: its own)`,
  pace: 'medium',
  runtime: 'bun',
  isEmbedded: true,
  open,
};

async function open(dataPath: string, folder: string): Promise<Queue> {
  const { Queue, Worker, shutdownManager } = await load<Module>(folder, 'bunqueue/client');
  const common = { embedded: true, dataPath };
  const queue = new Queue(queueName, common);
  let worker: BunqueueWorker | undefined;
  return {
    create: async (inputs) => {
      if (inputs.length === 1) await queue.add(queueName, inputs[0]!);
      else await queue.addBulk(inputs.map((data) => ({ name: queueName, data })));
    },
    work: async (handle) => {
      worker = new Worker(queueName, async ({ data }) => handle(data), { ...common, ...workerSettings });
      worker.on('error', (error) => console.error(error));
    },
    unfinished: async () => {
      const { waiting = 0, prioritized = 0, delayed = 0, active = 0 } = await queue.getJobCountsAsync();
      return waiting + prioritized + delayed + active;
    },
    close: async () => {
      await worker?.close();
      shutdownManager();
    },
  };
}
