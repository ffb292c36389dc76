// Jobs and job schedulers that BullMQ itself has stored in Redis become runs and definitions, each once.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load } from '../../bench/peers/install.ts';
import type { PeerDatabase } from '../../bench/peers/peer-database.ts';
import { openRedis } from '../../bench/peers/redis.ts';
import { Place } from '../cli/stint.ts';
import { isInstalled, redis } from '../support/runtimes.ts';
import { installed, queues, type OpenPeer } from './peer.ts';
import { importScenario } from './scenario.ts';

interface Module {
  Queue: new (name: string, options: object) => BullQueue;
  Worker: new (name: string, handle: null, options: object) => BullWorker;
}

interface BullQueue {
  addBulk(jobs: readonly object[]): Promise<unknown>;
  upsertJobScheduler(id: string, repeat: object, template: object): Promise<unknown>;
  close(): Promise<void>;
}

interface BullWorker {
  getNextJob(token: string): Promise<{ readonly data: { readonly n: number } } | undefined>;
  close(isForced: boolean): Promise<void>;
}

interface Client {
  keys(pattern: string): Promise<string[]>;
  dumpBuffer(key: string): Promise<Buffer>;
  quit(): Promise<unknown>;
}

const needed = isInstalled(redis) ? '' : ` (skipped: there is no redis-server. ${redis.advice})`;

describe.skipIf(needed !== '')(`BullMQ${needed}`, () => {
  test('10,000 waiting jobs and 50 schedulers, none lost or doubled by an import that is killed and repeated', async () => {
    const server = (await openRedis())!;
    const peer = await openPeer(server);
    try {
      await importScenario(peer);
    } finally {
      await peer.close();
    }
  });

  test('an import without ioredis says what to install', async () => {
    using place = new Place();
    await place.stint('migrate', '--store', 'sqlite:jobs.db');
    const { code, err } = await place.alone('import', 'bullmq', '--from', 'redis://127.0.0.1:1', '--store', 'sqlite:jobs.db');
    expect([code, err]).toEqual([2, expect.stringContaining('npm install ioredis')]);
  });
});

async function openPeer(server: PeerDatabase): Promise<OpenPeer> {
  const { location: url } = await server.createScratch();
  const folder = installed('bullmq');
  const { Queue, Worker } = await load<Module>(folder, 'bullmq');
  const { Redis } = await load<{ Redis: new (url: string) => Client }>(folder, 'ioredis');
  const client = new Redis(url);
  const connection = { host: '127.0.0.1', port: Number(new URL(url).port), maxRetriesPerRequest: null };
  const opened = new Map(queues.map((queue) => [queue as string, new Queue(queue, { connection })]));
  return {
    fill: async (jobs, schedules) => {
      for (const [queue, some] of Map.groupBy(jobs, (job) => job.queue)) {
        for (let from = 0; from < some.length; from += 500) {
          await opened.get(queue)!.addBulk(some.slice(from, from + 500).map(({ payload, due, priority, attempts }) => {
            const timestamp = Date.now();
            const delay = due === undefined ? {} : { timestamp, delay: due - timestamp };
            return { name: 'make', data: payload, opts: { attempts, priority: priority === 0 ? 0 : -priority, ...delay } };
          }));
        }
      }
      for (const { name, cron, zone } of schedules) {
        await opened.get('mail')!.upsertJobScheduler(name, { pattern: cron, tz: zone }, { name: 'make', data: { name } });
      }
    },
    digest: async () => {
      const hash = createHash('sha256');
      for (const key of (await client.keys('*')).toSorted()) hash.update(key).update(await client.dumpBuffer(key));
      return hash.digest('hex');
    },
    next: async (queue, count) => {
      const worker = new Worker(queue, null, { connection, autorun: false });
      const taken: number[] = [];
      while (taken.length < count) taken.push((await worker.getNextJob('test'))!.data.n);
      await worker.close(true);
      return taken;
    },
    words: ['bullmq', '--from', url],
    modules: join(folder, 'node_modules'),
    definitionName: (name) => `mail ${name}`,
    close: async () => {
      for (const queue of opened.values()) await queue.close();
      await client.quit();
      await server.close();
    },
  };
}
