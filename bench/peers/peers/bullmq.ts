/** BullMQ on Redis and on PostgreSQL. */
import type { FlowRun } from '../flow.ts';
import { queueName, type Peer, type Queue } from '../peer.ts';
import { load } from '../install.ts';
import type { Input } from '../../payload.ts';

interface Module {
  Queue: new (name: string, options: object) => BullQueue;
  FlowProducer: new (options: object) => BullFlowProducer;
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

interface BullFlowProducer {
  addBulk(trees: readonly Tree[]): Promise<unknown>;
  close(): Promise<void>;
}

interface BullWorker {
  on(event: 'error', call: (error: Error) => void): void;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

const jobSettings = { removeOnComplete: true };
const workerSettings = { concurrency: 100 };

const common = {
  package: 'bullmq',
  settings: JSON.stringify({ ...workerSettings, ...jobSettings }),
  flows: {
    isTree: true,
    note: 'a flow is a tree, in which only one job follows a job: in the layers, each follows one of the layer before instead ' +
      'of three; the fan-out is no flow, but the handler of the first job adds the others by addBulk',
  },
} as const;

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

async function open({ Queue, FlowProducer, Worker }: Module, connection: object): Promise<Queue> {
  const queue = new Queue(queueName, { connection, defaultJobOptions: jobSettings });
  await queue.waitUntilReady();
  let flows: BullFlowProducer | undefined;
  let worker: BullWorker | undefined;
  let followers: readonly Input[] = [];
  const addAll = (inputs: readonly Input[]): Promise<unknown> =>
    queue.addBulk(inputs.map((data) => ({ name: queueName, data })));
  return {
    create: async (inputs) => {
      if (inputs.length === 1) await queue.add(queueName, inputs[0]!);
      else await addAll(inputs);
    },
    createFlow: async (runs) => {
      const [first, ...others] = runs;
      if (others.length > 1 && others.every(({ after }) => after[0] === 0)) {
        followers = others.map(({ input }) => input);
        await queue.add(queueName, first!.input);
      } else {
        flows ??= new FlowProducer({ connection });
        await flows.addBulk(treesOf(runs));
      }
    },
    work: async (handle) => {
      const handleJob = async ({ data }: { readonly data: Input }): Promise<void> => {
        handle(data);
        if (followers.length === 0) return;
        const added = followers;
        followers = [];
        await addAll(added);
      };
      worker = new Worker(queueName, handleJob, { connection, ...workerSettings });
      worker.on('error', (error) => console.error(error));
      await worker.waitUntilReady();
    },
    unfinished: () => queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized', 'paused', 'waiting-children'),
    close: async () => {
      await worker?.close();
      await flows?.close();
      await queue.close();
    },
  };
}

/** A job whose children are done before it. */
interface Tree {
  readonly name: string;
  readonly queueName: string;
  readonly data: Input;
  readonly opts: typeof jobSettings;
  readonly children: Tree[];
}

function treesOf(runs: readonly FlowRun[]): Tree[] {
  const trees = runs.map(({ input: data }): Tree => ({ name: queueName, queueName, data, opts: jobSettings, children: [] }));
  runs.forEach(({ after }, index) => trees[index]!.children.push(...after.map((before) => trees[before]!)));
  const followed = new Set(runs.flatMap(({ after }) => after));
  return trees.filter((_, index) => !followed.has(index));
}
