/**
 * Measures the list requests of the HTTP API on a store with many ended jobs: `node bench/lists.ts [--rows 1000000]
 * [--databases sqlite,postgres]`. The rows are copies of a few real rows, inserted in SQL: first runs, then as many
 * tasks, with higher ids. A second client requests /health meanwhile: its longest wait is the delay of other clients.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Engine as Stint, jobDef, jobType } from '../src/index.ts';
import type { Database, ScratchDatabase } from './database.ts';
import { openPostgres } from './databases/postgres.ts';
import { SqliteDatabase } from './databases/sqlite.ts';
import { latencies } from './stopwatch.ts';

const times = 15;
const succeeding = jobType('list.good', { run: ({ input }) => input });
const failing = jobType('list.bad', {
  retry: { attempts: 1 },
  run: () => {
    throw new Error('the disk was full');
  },
});
const defined = jobDef('list nightly', jobType('list.defined', { run: () => 1 }));
const types = Array.from({ length: 20 }, (_, number) => `mail.kind${number}`);
const input = {
  customer: { id: 42, name: 'Ada' },
  lines: Array.from({ length: 5 }, (_, n) => ({ n, text: 'some text' })),
};

const requests: Readonly<Record<string, string>> = {
  'newest runs': '/runs?limit=50',
  'ended': '/runs?state=ended&limit=50',
  'failed': '/runs?state=failed&limit=50',
  'cancelled, of which there are none': '/runs?state=cancelled&limit=50',
  'open, of which there are few': '/runs?state=open&limit=50',
  'of one type': '/runs?type=mail.kind7&limit=50',
  'of a type and failed': '/runs?type=list.bad&state=failed&limit=50',
  'of a type and failed, none': '/runs?type=mail.kind7&state=failed&limit=50',
  'of an unknown type': '/runs?type=nothing&limit=50',
  'by GLOB': '/runs?type=mail.*&limit=50',
  'by GLOB, none': '/runs?type=nothing*&limit=50',
  'by GLOB and failed': '/runs?type=list.*&state=failed&limit=50',
  'by GLOB and failed, none': '/runs?type=mail.*&state=failed&limit=50',
  'of two types': '/runs?type=mail.kind7,list.bad&limit=50',
  'of two types, none': '/runs?type=nothing,none&limit=50',
  'of two types and failed, none': '/runs?type=mail.kind7,mail.kind8&state=failed&limit=50',
  'of a definition': '/runs?def=list%20nightly&limit=50',
  'of a definition and failed, none': '/runs?def=list%20nightly&state=failed&limit=50',
  'of a definition and a type, none': '/runs?def=list%20nightly&type=mail.kind7&limit=50',
  'oldest': '/runs?order=oldest&limit=50',
  'deep page': '/runs?limit=50&after=600000',
  'since a time': '/runs?from=2020-01-01T00:00:00Z&limit=50',
  'before any': '/runs?before=2020-01-01T00:00:00Z&limit=50',
  'after all': '/runs?from=2100-01-01T00:00:00Z&limit=50',
  'failed, before any': '/runs?state=failed&before=2020-01-01T00:00:00Z&limit=50',
  'failed, after all': '/runs?state=failed&from=2100-01-01T00:00:00Z&limit=50',
  'of one type, after all': '/runs?type=mail.kind7&from=2100-01-01T00:00:00Z&limit=50',
  'text, found': '/runs?q=disk&limit=50',
  'text, not found': '/runs?q=zebra&limit=50',
  'payload, not found': '/runs?payload=customer.id:43&limit=50',
  'tag, not found': '/runs?tag=a:b&limit=50',
  'tasks of a run': '/runs/{fan}/tasks?limit=50',
  'one run': '/runs/{fan}',
  'stats': '/stats',
  'stats with ended': '/stats?ended=true',
  'count of all': '/runs/count',
  'count of text': '/runs/count?q=zebra',
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '1000000' },
      databases: { type: 'string', default: 'sqlite,postgres' },
    },
  });
  for (const name of values.databases.split(',')) {
    const database: Database = name === 'sqlite' ? new SqliteDatabase() : await openPostgres();
    try {
      await measure(database, Number(values.rows));
    } finally {
      await database.close();
    }
  }
}

async function measure(database: Database, rows: number): Promise<void> {
  const scratch = await database.createScratch('ours', true);
  const url = database.name === 'sqlite' ? `sqlite:${scratch.address.location}` : scratch.address.location;
  const fanRun = await sample(url);
  await fillRuns(scratch, rows);
  await measureRequests(`${database.about}, ${rows} ended runs`, url, fanRun);
  await scratch.copyRows({ table: 'ended', sample: 'list.task', count: rows, first: 10_000_000, types: ['list.task'] });
  await scratch.cleanUp();
  await measureRequests(`${database.about}, ${rows} ended runs, then ${rows} tasks`, url, fanRun);
  await scratch.remove();
}

/** Creates and executes one job of each kind. Returns the id of the run that has the task. */
async function sample(url: string): Promise<number> {
  const stint = new Stint({ store: url, types: [succeeding, failing], defs: [defined] });
  await stint.resume();
  const runs = [
    await stint.createJobRun(succeeding, { input, tags: { tenant: 'one' } }),
    await stint.createJobRun(failing),
    await stint.createJobRun(defined),
  ];
  await Promise.allSettled(runs.map((run) => run.result({ timeout: '30s' })));
  const parent = await sampleTask(stint);
  await stint.close();
  return parent;
}

/** Plans a task as an external worker does: such a task can have its own type, which `copyRows` needs to find it. */
async function sampleTask({ jobs }: Stint): Promise<number> {
  const by = 'bench';
  const claim = async (type: string): Promise<{ id: number; fence: number }> =>
    (await jobs.claim({ kinds: ['run', 'task'], names: { exact: [type] }, limit: 1, holder: by, leaseMs: 60_000 }))[0]!;
  await jobs.create({ type: 'list.fan' }, by);
  const parent = await claim('list.fan');
  await jobs.createChildren(parent.id, [{ kind: 'task', type: 'list.task', input: { n: 1 } }], by, parent.fence);
  await jobs.succeed(parent.id, parent.fence, { by });
  const task = await claim('list.task');
  await jobs.succeed(task.id, task.fence, { by }, '"done"');
  return parent.id;
}

async function fillRuns(scratch: ScratchDatabase, rows: number): Promise<void> {
  const part = Math.floor(rows / 20);
  await scratch.copyRows({ table: 'ended', sample: 'list.good', count: rows - 2 * part, first: 1_000, types });
  await scratch.copyRows({ table: 'ended', sample: 'list.bad', count: part, first: 1_000 + rows, types: ['list.bad'] });
  await scratch.copyRows({
    table: 'ended',
    sample: 'list.defined',
    count: part,
    first: 1_000 + rows + part,
    types: ['list.defined'],
  });
  await scratch.cleanUp();
}

async function measureRequests(title: string, store: string, fanRun: number): Promise<void> {
  console.log(`\n${title}`);
  console.log(`${''.padEnd(38)}${['p50 ms', 'p95 ms', 'others'].map((word) => word.padStart(10)).join('')}`);
  const server = await start(store);
  try {
    for (const [name, path] of Object.entries(requests)) {
      const figures = await timed(server.url, path.replace('{fan}', String(fanRun)));
      console.log(`${name.padEnd(38)}${figures.map((ms) => ms.toFixed(1).padStart(10)).join('')}`);
    }
  } finally {
    await server.stop();
  }
}

/** Returns p50 and p95 of the request, and the longest wait of a concurrent health check. */
async function timed(url: string, path: string): Promise<number[]> {
  const took: number[] = [];
  let others = 0;
  for (let count = 0; count < times && sum(took) < 3_000; count++) {
    const finished = new AbortController();
    const other = longestHealthCheck(url, finished.signal);
    const start = performance.now();
    const response = await fetch(`${url}/api/v1${path}`);
    await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    took.push(performance.now() - start);
    finished.abort();
    others = Math.max(others, await other);
  }
  return [...latencies(took).readings.map(({ value }) => value), others];
}

async function longestHealthCheck(url: string, signal: AbortSignal): Promise<number> {
  let longest = 0;
  do {
    const start = performance.now();
    await (await fetch(`${url}/health`)).text();
    longest = Math.max(longest, performance.now() - start);
  } while (!signal.aborted);
  return longest;
}

async function start(store: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const bin = fileURLToPath(new URL('../bin/stint.js', import.meta.url));
  const args = ['serve', '--store', store, '--http', '127.0.0.1:0', '--bedrock', 'off'];
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await matchOutput(child, /HTTP +(\S+)/);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return { url, stop: () => (child.kill('SIGTERM'), ended) };
}

async function matchOutput(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const piece of child.stdout!) {
    const found = pattern.exec((text += String(piece)));
    if (found) return found[1]!;
  }
  throw new Error(`the server ended without printing ${pattern}: ${text}`);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

await main();
