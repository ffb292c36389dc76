/**
 * Compares layouts of the tables on PostgreSQL: `node bench/raw/layouts/main.ts --jobs 20000 --rounds 3
 * --layouts 'today;once' --drains 'drain 100;drain 1000'`. Each round measures all layouts in turn, each in an empty
 * database. Printed for each step: CPU time of the server, WAL and dead rows a job. No rates, which depend on what else
 * runs on the machine.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { TestPostgres } from '../../../test/support/postgres.ts';
import { median } from '../../median.ts';
import { input } from '../../payload.ts';
import { cpuUsOfServer, postmasterOf } from '../../server-cpu.ts';
import type { HeldJob, Layout } from './layout.ts';
import { once } from './once.ts';
import { rows } from './rows.ts';
import { stint } from './stint.ts';
import { today } from './today.ts';

const layouts: readonly Layout[] = [
  stint(),
  today,
  rows,
  once(),
  once({ name: 'once, rest as array', left: 'array' }),
  once({ name: 'once, ids in main', storage: 'main' }),
  once({ name: 'once, no body', hasBody: false }),
  once({ name: 'once, merged ids', endedIndexes: 'merged' }),
  once({ name: 'once, 2 indexes', endedIndexes: 'few' }),
  once({ name: 'once, 1 index', endedIndexes: 'one' }),
  once({ name: 'once, 4 indexes', endedIndexes: 'main' }),
  once({ name: 'once, only 2 indexes', endedIndexes: 'mainFew' }),
  once({ name: 'once, slim job', jobIndexes: 'lane' }),
];

/** How a drain claims and ends: `ends` jobs in a statement, from up to `open` claims of `claims` jobs. */
interface Drain {
  readonly title: string;
  readonly claims: number;
  readonly ends: number;
  readonly open: number;
}

const drains: readonly Drain[] = [
  { title: 'drain 1', claims: 1, ends: 1, open: 1 },
  { title: 'drain 10', claims: 10, ends: 10, open: 1 },
  { title: 'drain 100', claims: 100, ends: 100, open: 1 },
  { title: 'drain 1000', claims: 1000, ends: 1000, open: 1 },
  { title: 'drain 1000, ended by 100', claims: 1000, ends: 100, open: 1 },
  { title: 'drain 1000, ended by 200 of 2 claims', claims: 1000, ends: 200, open: 2 },
];

const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    layouts: { type: 'string', default: 'today;rows;once' },
    drains: { type: 'string', default: 'drain 100;drain 1000' },
  },
});
const [jobs, rounds] = [Number(options.jobs), Number(options.rounds)];
const chosen = layouts.filter(({ name }) => options.layouts.split(';').includes(name));
const chosenDrains = drains.filter(({ title }) => options.drains.split(';').includes(title));

interface Figures {
  readonly serverUs: number;
  readonly walBytes: number;
  readonly deadRows: number;
}

const figures = new Map<string, Figures[]>();

const server = await TestPostgres.create({ fsync: true, settings: { max_wal_size: '4GB' } });
try {
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? chosen : chosen.toReversed();
    for (const layout of order) await measureLayout(layout);
  }
  print();
} finally {
  await server.stop();
}

async function measureLayout(layout: Layout): Promise<void> {
  const name = `layout_${randomBytes(4).toString('hex')}`;
  const admin = await connect(server.url);
  await admin.query(`create database ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  const client = await connect(url.href);
  for (const statement of layout.schema) await client.query(statement);
  const close = await layout.open?.(url.href);
  await create(layout, client, 1, 2000);
  await drainAll(layout, client, drains[3]!);
  let first = 10_001;
  for (const drain of chosenDrains) {
    const count = Math.max(1000, Math.min(jobs, drain.claims * 500));
    await watch(`${layout.name}|create 1000`, client, count, () => create(layout, client, first, count));
    first += count;
    await watch(`${layout.name}|${drain.title}`, client, count, () => drainAll(layout, client, drain));
  }
  await close?.();
  await client.end();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
}

async function create(layout: Layout, client: pg.Client, first: number, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1000) {
    const inputs = Array.from({ length: Math.min(1000, count - done) }, () => JSON.stringify(input()));
    await layout.create(client, first + done, inputs);
  }
}

async function drainAll(layout: Layout, client: pg.Client, { claims, ends, open }: Drain): Promise<void> {
  const held: HeldJob[][] = [];
  for (let isLeft = true; isLeft || held.length > 0; ) {
    while (isLeft && held.length < open) {
      const claimed = await layout.claim(client, claims);
      isLeft = claimed.length === claims;
      if (claimed.length > 0) held.push([...claimed]);
    }
    const ended = held.flatMap((batch) => batch.splice(0, Math.ceil(ends / held.length)));
    if (ended.length > 0) await layout.end(client, ended);
    for (let at = held.length - 1; at >= 0; at -= 1) if (held[at]!.length === 0) held.splice(at, 1);
  }
}

async function watch(title: string, client: pg.Client, count: number, work: () => Promise<void>): Promise<void> {
  const before = await reading(client);
  await work();
  const after = await reading(client);
  const known = figures.get(title) ?? [];
  figures.set(title, known);
  known.push({
    serverUs: (after.cpuUs - before.cpuUs) / count,
    walBytes: (after.wal - before.wal) / count,
    deadRows: (after.dead - before.dead) / count,
  });
}

async function reading(client: pg.Client): Promise<{ cpuUs: number; wal: number; dead: number }> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows: [row] } = await client.query<{ pid: number; wal: string; dead: string }>(`select pg_backend_pid() as pid,
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal,
    (select coalesce(sum(n_tup_del + n_tup_upd), 0) from pg_stat_user_tables) as dead`);
  return { cpuUs: cpuUsOfServer(postmasterOf(row!.pid)!)!, wal: Number(row!.wal), dead: Number(row!.dead) };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  // The store hides values from the planner, to the same end: a statement is planned once, not for each array.
  await client.query(`set plan_cache_mode = 'force_generic_plan'`);
  return client;
}

function print(): void {
  const steps = [...new Set([...figures.keys()].map((key) => key.split('|')[1]!))];
  for (const step of steps) {
    console.log(`\n${step}: server µs (rounds), WAL bytes, dead rows a job`);
    for (const { name } of chosen) {
      const known = figures.get(`${name}|${step}`) ?? [];
      if (known.length === 0) continue;
      const of = (field: keyof Figures): number => median(known.map((each) => each[field]));
      const all = known.map(({ serverUs }) => serverUs.toFixed(1)).join(' ');
      const figure = (field: keyof Figures, digits: number): string => of(field).toFixed(digits).padStart(6);
      console.log(`  ${name.padEnd(24)} ${figure('serverUs', 1)} (${all}) ${figure('walBytes', 0)} ${figure('deadRows', 2)}`);
    }
  }
}
