// Runs created in the caller's own transaction: they exist if and when it commits, whatever speaks to the database.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Engine, jobDef, jobType, typed } from '../../../src/index.ts';
import { migratedDatabase } from '../../support/fresh-database.ts';

const greet = jobType('greet', { input: typed<{ name: string }>(), run: ({ input }) => `hello ${input.name}` });
const daily = jobDef('daily greeting', greet, { params: { name: 'all' } });

/** A caller with a transaction on its own table. */
interface Caller {
  /** What is passed to `engine.in`. */
  readonly transaction: unknown;
  write(text: string): Promise<void>;
  end(how: 'commit' | 'rollback'): Promise<void>;
  written(): Promise<string[]>;
}

interface Place extends AsyncDisposable {
  readonly engine: Engine;
  begin(): Promise<Caller>;
}

async function sqlite(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-within-'));
  const path = join(folder, 'app.db');
  const engine = new Engine({ store: `sqlite:${path}`, types: [greet], defs: [daily], instance: 'app' });
  await engine.resume();
  const db = new DatabaseSync(path, { timeout: 5_000 });
  db.exec('CREATE TABLE own(text TEXT)');
  return {
    engine,
    begin: async () => {
      db.exec('BEGIN IMMEDIATE');
      return {
        transaction: db,
        write: async (text) => void db.prepare('INSERT INTO own VALUES(?)').run(text),
        end: async (how) => db.exec(how),
        written: async () => db.prepare('SELECT text FROM own').all().map(({ text }) => String(text)),
      };
    },
    [Symbol.asyncDispose]: async () => {
      db.close();
      await engine.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** How each of the well-known libraries is put before a client: one line. */
const adapters: Readonly<Record<string, (client: pg.Client) => unknown>> = {
  'a pg client': (client) => client,
  Kysely: (client) => fromKysely(kyselyOn(client)),
  Drizzle: (client) => fromDrizzle(drizzleOn(client)),
  Prisma: (client) => fromPrisma(prismaOn(client)),
};

const fromKysely = (trx: ReturnType<typeof kyselyOn>) => ({
  query: (sql: string, parameters: unknown[]) => trx.executeQuery({ sql, parameters }),
});

const fromDrizzle = (tx: ReturnType<typeof drizzleOn>) => ({
  query: (text: string, values: unknown[]) => tx._.session.client.query(text, values),
});

const fromPrisma = (tx: ReturnType<typeof prismaOn>) => ({
  query: async (text: string, values: unknown[]) => ({ rows: await tx.$queryRawUnsafe(text, ...values) }),
});

const kyselyOn = (client: pg.Client) => ({
  executeQuery: async ({ sql, parameters }: { sql: string; parameters: unknown[] }) => {
    const { rows, rowCount } = await client.query(sql, parameters);
    return { rows: rows as unknown[], numAffectedRows: BigInt(rowCount ?? 0) };
  },
});

const drizzleOn = (client: pg.Client) => ({ _: { session: { client } } });

/** Prisma gives 64-bit numbers as BigInt. */
const prismaOn = (client: pg.Client) => ({
  $queryRawUnsafe: async (text: string, ...values: unknown[]): Promise<unknown[]> => {
    const getTypeParser = (id: number) => (id === 20 ? BigInt : pg.types.getTypeParser(id));
    return (await client.query({ text, values, types: { getTypeParser } })).rows as unknown[];
  },
});

const postgres = (adapter: string) => async (): Promise<Place> => {
  const url = await migratedDatabase();
  const engine = new Engine({ store: url, types: [greet], defs: [daily], instance: 'app' });
  await engine.resume();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table own(text text)');
  return {
    engine,
    begin: async () => {
      await client.query('begin');
      return {
        transaction: adapters[adapter]!(client),
        write: async (text) => void (await client.query('insert into own values ($1)', [text])),
        end: async (how) => void (await client.query(how)),
        written: async () => {
          const { rows } = await client.query<{ text: string }>('select text from own');
          return rows.map(({ text }) => text);
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await engine.close();
    },
  };
};

const places = [
  { name: 'SQLite by node:sqlite', open: sqlite },
  ...Object.keys(adapters).map((adapter) => ({ name: `PostgreSQL by ${adapter}`, open: postgres(adapter) })),
];

describe.concurrent.each(places)('on $name', ({ open }) => {
  test('a run that was created in a transaction is there and runs once that commits', async () => {
    await using place = await open();
    const { engine } = place;
    const caller = await place.begin();
    await caller.write('order 1');
    const run = await engine.in(caller.transaction).createJobRun(greet, { input: { name: 'ann' } });
    const ofDef = await engine.in(caller.transaction).createJobRun(daily);
    expect(await engine.jobs.store.load([run.id, ofDef.id])).toEqual([]);
    await caller.end('commit');

    expect(await run.result()).toBe('hello ann');
    expect(await ofDef.result()).toBe('hello all');
    expect(await caller.written()).toEqual(['order 1']);
  });

  test('a run that was created in a transaction was never there when that is rolled back', async () => {
    await using place = await open();
    const { engine } = place;
    const caller = await place.begin();
    await caller.write('order 1');
    const run = await engine.in(caller.transaction).createJobRun(greet, { input: { name: 'ann' }, unique: 'order 1' });
    await caller.end('rollback');

    expect(await engine.jobs.store.load([run.id])).toEqual([]);
    expect(await engine.history(run.id)).toEqual([]);
    expect(await caller.written()).toEqual([]);
    const again = await engine.createJobRun(greet, { input: { name: 'bob' }, unique: 'order 1' });
    expect(again.outcome).toBe('created');
  });

  test('a unique key that is taken gives the run that has it, also inside a transaction', async () => {
    await using place = await open();
    const { engine } = place;
    const first = await engine.createJobRun(greet, { input: { name: 'ann' }, unique: 'once', delay: '1h' });
    const caller = await place.begin();
    const second = await engine.in(caller.transaction).createJobRun(greet, { input: { name: 'bob' }, unique: 'once' });
    await caller.write('goes on');
    await caller.end('commit');

    expect(second).toMatchObject({ id: first.id, outcome: 'existing' });
    expect(await caller.written()).toEqual(['goes on']);
  });
});

test.each([sqlite, postgres('a pg client')])('what is no transaction is refused', async (open) => {
  await using place = await open();

  for (const nonsense of [null, undefined, 7, {}, 'begin']) {
    const created = place.engine.in(nonsense).createJobRun(greet, { input: { name: 'ann' } });
    await expect(created).rejects.toMatchObject({ code: 'malformed.store' });
  }
});
