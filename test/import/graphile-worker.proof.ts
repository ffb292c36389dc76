// Jobs that graphile-worker itself has stored, and its crontab, become runs and definitions, each once.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { test } from 'vitest';
import { load } from '../../bench/peers/install.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { installed, type OpenPeer } from './peer.ts';
import { digestOf, importScenario } from './scenario.ts';

interface Module {
  Logger: new (logger: () => () => void) => unknown;
  makeWorkerUtils: (options: object) => Promise<Utils>;
  runOnce: (options: object) => Promise<void>;
}

interface Utils {
  migrate(): Promise<void>;
  addJobs(specs: readonly object[]): Promise<unknown>;
  release(): Promise<void>;
}

test('graphile-worker: 10,000 waiting jobs and 50 schedules, none lost or doubled by an import that is killed and repeated', async () => {
  const peer = await openPeer();
  try {
    await importScenario(peer, { hasZones: false });
  } finally {
    await peer.close();
  }
});

async function openPeer(): Promise<OpenPeer> {
  const url = await freshDatabase();
  const { Logger, makeWorkerUtils, runOnce } = await load<Module>(installed('graphile-worker'), 'graphile-worker');
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const folder = mkdtempSync(join(tmpdir(), 'stint-crontab-'));
  const crontab = join(folder, 'crontab');
  return {
    fill: async (jobs, schedules) => {
      // Jobs with equal times have no order in graphile-worker.
      const past = Date.now() - 3_600_000;
      for (let from = 0; from < jobs.length; from += 1_000) {
        await utils.addJobs(jobs.slice(from, from + 1_000).map(({ n, queue, payload, due = past + n, priority, attempts }) => ({
          identifier: queue, payload, priority: priority === 0 ? 0 : -priority, maxAttempts: attempts, runAt: new Date(due),
        })));
      }
      writeFileSync(crontab, schedules.map(({ name, cron }) => `${cron} mail ?id=${name}&fill=1d {"name":"${name}"}\n`).join(''));
    },
    digest: () => digestOf(client, ['graphile_worker._private_jobs', 'graphile_worker._private_tasks']),
    next: async (queue, count) => {
      const taken: number[] = [];
      const taskList = { [queue]: async ({ n }: { readonly n: number }) => void taken.push(n) };
      await runOnce({ connectionString: url, logger, concurrency: 1, taskList, noHandleSignals: true });
      return taken.slice(0, count);
    },
    words: ['graphile-worker', '--from', url, '--crontab', crontab],
    definitionName: (name) => name,
    close: async () => {
      await utils.release();
      await client.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
