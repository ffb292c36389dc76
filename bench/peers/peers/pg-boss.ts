/** pg-boss in batches, without a pause after a full batch, woken by NOTIFY. */
import { Application } from '../application.ts';
import { openSqlCounter } from '../sql-counter.ts';
import { queueName, type Peer, type Queue } from '../peer.ts';
import { load } from '../install.ts';
import type { Input } from '../../payload.ts';

interface Module {
  PgBoss: new (options: object) => Boss;
}

interface Boss {
  on(event: 'error', call: (error: Error) => void): void;
  start(): Promise<unknown>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: Input, options?: { readonly db: Executor }): Promise<unknown>;
  insert(name: string, jobs: readonly { data: Input }[]): Promise<unknown>;
  work(name: string, options: object, handle: (jobs: readonly { data: Input }[]) => Promise<void>): Promise<string>;
  stop(options: object): Promise<void>;
}

interface Executor {
  executeSql(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}

const queueSettings = { notify: true };
const workSettings = { batchSize: 1_000, burstWhenBatchFull: true };

export const pgBoss: Peer = {
  name: 'pg-boss',
  database: 'postgres',
  package: 'pg-boss',
  settings: JSON.stringify({ useListenNotify: true, ...queueSettings, ...workSettings }),
  pace: 'fast',
  joinsTransactions: true,
  open,
};

async function open(connectionString: string, folder: string): Promise<Queue> {
  const { PgBoss } = await load<Module>(folder, 'pg-boss');
  const boss = new PgBoss({ connectionString, useListenNotify: true });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(queueName, queueSettings);
  const counter = await openSqlCounter(connectionString, `SELECT count(*) FROM pgboss.job WHERE state < 'completed'`);
  const application = new Application(connectionString);
  return {
    order: (input) => application.order((transaction) => {
      const db = { executeSql: (text: string, values: unknown[]) => transaction.query(text, values) };
      return boss.send(queueName, input, { db });
    }),
    create: async (inputs) => {
      if (inputs.length === 1) await boss.send(queueName, inputs[0]!);
      else await boss.insert(queueName, inputs.map((data) => ({ data })));
    },
    work: async (handle) => {
      await boss.work(queueName, workSettings, async (jobs) => jobs.forEach(({ data }) => handle(data)));
    },
    unfinished: counter.count,
    close: async () => {
      await boss.stop({ graceful: false });
      await counter.close();
      await application.close();
    },
  };
}
