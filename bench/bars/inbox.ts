/** Requests that SQL writes to the inbox: how fast they become runs, beside runs that are created in bulk. */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { Engine, jobType, typed } from '../../src/index.ts';
import type { Database } from '../database.ts';
import { median } from '../median.ts';
import { input, type Input } from '../payload.ts';
import type { TargetAddress } from '../target.ts';
import { storeUrl } from '../workloads/scale-keys.ts';
import type { Bar } from './bar.ts';
import { timed } from './beside.ts';
import type { BarSizes } from './sizes.ts';

const batch = 1_000;
/** Rarely: to count the requests takes the server longer than to take a page of them. */
const pollMs = 250;
const type = jobType('mail.send', { input: typed<Input>(), run: () => {} });

/** Requests or runs per second. */
interface Rates {
  readonly written: number;
  readonly taken: number;
  readonly bulk: number;
}

export async function inbox(database: Database, { inbox: count, rounds }: BarSizes): Promise<readonly Bar[]> {
  const all: Rates[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await ratesOf(database, count));
  const middle = (pick: (rates: Rates) => number): string => median(all.map(pick)).toFixed(0);
  return [{
    database: database.name, unit: '×', bar: null,
    value: median(all.map(({ taken, bulk }) => taken / bulk)),
    title: `${count.toLocaleString('en')} requests of the inbox that become runs, to runs created in bulk`,
    from: `${middle(({ taken }) => taken)} and ${middle(({ bulk }) => bulk)} jobs/s; written by SQL ${middle(({ written }) => written)}/s`,
  }];
}

/** The type is paused, so that only the creation is measured. */
async function ratesOf(database: Database, count: number): Promise<Rates> {
  const scratch = await database.createScratch('ours', false);
  try {
    const { address } = scratch;
    await using engine = new Engine({ store: storeUrl(address), types: [type] });
    await engine.pauseType(type.name, { by: 'bench', why: 'only the creation is measured' });
    const perSecond = async (work: () => Promise<unknown>): Promise<number> => (count / (await timed(work))) * 1_000;
    const runs = Array.from({ length: batch }, () => ({ input: input() }));
    const createBulk = async (): Promise<void> => {
      for (let made = 0; made < count; made += batch) await engine.createJobRuns(type, runs);
    };
    await engine.createJobRuns(type, runs);
    const bulk = await perSecond(createBulk);
    await scratch.cleanUp();
    const written = await perSecond(() => write(address, count));
    const taken = await perSecond(async () => {
      await engine.resume();
      while ((await engine.jobs.store.countInbox()).waiting > 0) await wait(pollMs);
    });
    return { written, taken, bulk };
  } finally {
    await scratch.remove();
  }
}

/** Writes the requests in transactions of a thousand. */
async function write({ database, location }: TargetAddress, count: number): Promise<void> {
  const text = JSON.stringify(input());
  if (database === 'sqlite') return writeToFile(location, count, text);
  const client = new pg.Client({ connectionString: location });
  await client.connect();
  const enqueue = 'select stint.enqueue($1, $2::jsonb) from generate_series(1, $3::int)';
  for (let done = 0; done < count; done += batch) await client.query(enqueue, [type.name, text, batch]);
  await client.end();
}

function writeToFile(path: string, count: number, text: string): void {
  using db = new DatabaseSync(path, { timeout: 30_000 });
  const insert = db.prepare('insert into inbox (type, input) values (?, ?)');
  for (let done = 0; done < count; done += batch) {
    db.exec('begin immediate');
    for (let row = 0; row < batch; row += 1) insert.run(type.name, text);
    db.exec('commit');
  }
}
