// Jobs and schedules that pg-boss itself has stored become runs and definitions, each once.
import pg from 'pg';
import { test } from 'vitest';
import { load } from '../../bench/peers/install.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { installed, queues, type OpenPeer } from './peer.ts';
import { digestOf, importScenario } from './scenario.ts';

interface Module {
  PgBoss: new (options: object) => Boss;
}

interface Boss {
  on(event: 'error', call: (error: Error) => void): void;
  start(): Promise<unknown>;
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, jobs: readonly object[]): Promise<unknown>;
  schedule(name: string, cron: string, data: object, options: object): Promise<void>;
  fetch(name: string): Promise<readonly { readonly data: { readonly n: number } }[]>;
  stop(options: object): Promise<void>;
}

test('pg-boss: 10,000 waiting jobs and 50 schedules, none lost or doubled by an import that is killed and repeated', async () => {
  const peer = await openPeer();
  try {
    await importScenario(peer);
  } finally {
    await peer.close();
  }
});

async function openPeer(): Promise<OpenPeer> {
  const url = await freshDatabase();
  const { PgBoss } = await load<Module>(installed('pg-boss'), 'pg-boss');
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  boss.on('error', () => {});
  await boss.start();
  for (const queue of queues) await boss.createQueue(queue, {});
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    fill: async (jobs, schedules) => {
      for (const [queue, some] of Map.groupBy(jobs, (job) => job.queue)) {
        for (let from = 0; from < some.length; from += 500) {
          await boss.insert(queue, some.slice(from, from + 500).map(({ payload, due, priority, attempts }) => ({
            data: payload, priority, retryLimit: attempts - 1, ...(due === undefined ? {} : { startAfter: new Date(due).toISOString() }),
          })));
        }
      }
      for (const { name, cron, zone } of schedules) await boss.schedule('mail', cron, { name }, { tz: zone, key: name });
    },
    digest: () => digestOf(client, ['pgboss.job', 'pgboss.schedule']),
    next: async (queue, count) => {
      const taken: number[] = [];
      while (taken.length < count) taken.push((await boss.fetch(queue))[0]!.data.n);
      return taken;
    },
    words: ['pg-boss', '--from', url],
    definitionName: (name) => `mail ${name}`,
    close: async () => {
      await boss.stop({ graceful: false });
      await client.end();
    },
  };
}
