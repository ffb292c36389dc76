// Runs that are created in the caller's own transaction: they exist if and when that commits, and not before.
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Engine, jobType, typed } from '../../../src/index.ts';
import { migratedDatabase } from '../../support/fresh-database.ts';
import { refused } from './kit.ts';

const mail = jobType('mail', { input: typed<string>(), run: ({ input }) => `sent ${input}` });

async function open(store: string): Promise<Engine> {
  const engine = new Engine({ store, types: [mail] });
  onTestFinished(() => engine.close());
  await engine.ready();
  return engine;
}

const inputs = async (engine: Engine): Promise<string[]> => (await engine.find({})).jobs.map(({ input }) => input);

describe('SQLite', () => {
  async function world(): Promise<{ engine: Engine; db: DatabaseSync }> {
    const folder = await mkdtemp(join(tmpdir(), 'stint-tx-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'jobs.db');
    const engine = await open(`sqlite:${path}`);
    const db = new DatabaseSync(path);
    onTestFinished(() => db.close());
    return { engine, db };
  }

  test('a commit makes the run, and its handle works', async () => {
    const { engine, db } = await world();
    db.exec('BEGIN');
    const run = await engine.in(db).createJobRun(mail, { input: 'ann' });
    db.exec('COMMIT');
    expect(run.outcome).toBe('created');
    await engine.resume();
    expect(await run.result({ timeout: '10s' })).toBe('sent ann');
  });

  test('a rollback leaves nothing', async () => {
    const { engine, db } = await world();
    db.exec('BEGIN');
    await engine.in(db).createJobRun(mail, { input: 'ann' });
    db.exec('ROLLBACK');
    expect(await inputs(engine)).toEqual([]);
  });

  test('what is no transaction is refused', async () => {
    const { engine, db } = await world();
    expect(await refused(engine.in(db).createJobRun(mail, { input: 'ann' }))).toBe('malformed.store');
    expect(await refused(engine.in('tx').createJobRun(mail, { input: 'ann' }))).toBe('malformed.store');
  });
});

describe('PostgreSQL', () => {
  async function world(): Promise<{ engine: Engine; client: pg.Client }> {
    const url = await migratedDatabase();
    const engine = await open(url);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    return { engine, client };
  }

  test('the commit creates the run, which was invisible before', async () => {
    const { engine, client } = await world();
    await client.query('begin');
    const run = await engine.in(client).createJobRun(mail, { input: 'ann' });
    expect(await inputs(engine)).toEqual([]);
    await client.query('commit');
    await engine.resume();
    expect(await run.result({ timeout: '10s' })).toBe('sent ann');
  });

  test('a rollback leaves nothing', async () => {
    const { engine, client } = await world();
    await client.query('begin');
    await engine.in(client).createJobRun(mail, { input: 'ann' });
    await client.query('rollback');
    expect(await inputs(engine)).toEqual([]);
  });

  test('whatever can run a parametrised statement will do', async () => {
    const { engine, client } = await world();
    const adapter = { query: (text: string, values?: unknown[]) => client.query(text, values) };
    await client.query('begin');
    await engine.in(adapter).createJobRun(mail, { input: 'ann' });
    await client.query('commit');
    expect(await inputs(engine)).toEqual(['"ann"']);
  });
});

test('the store in memory takes part in none', async () => {
  const engine = await open('memory:');
  expect(await refused(engine.in({}).createJobRun(mail, { input: 'ann' }))).toBe('malformed.store');
});
