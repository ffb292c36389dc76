// `complete`: the writes of a handler and the end of its job are one commit, on the database of the store.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Engine, jobType, LeaseLost, typed, type EngineOptions } from '../../src/index.ts';
import { PostgresStore } from '../../src/store/postgres/store.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { waitMs } from '../support/patience.ts';

interface Place {
  open(): Store;
  /** The rows of the handlers' own table. */
  effects(): Promise<string[]>;
}

async function onPostgres(): Promise<Place> {
  const url = await migratedDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('create table effects(text text)');
  return {
    open: () => new PostgresStore(url),
    effects: async () => (await client.query<{ text: string }>('select text from effects')).rows.map(({ text }) => text),
  };
}

async function onSqlite(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-complete-'));
  const path = join(folder, 'app.db');
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE effects(text TEXT)');
  onTestFinished(async () => {
    db.close();
    await rm(folder, { recursive: true });
  });
  return {
    open: () => new SqliteStore(path),
    effects: async () => db.prepare('SELECT text FROM effects').all().map(({ text }) => String(text)),
  };
}

async function started(place: Place, options: EngineOptions): Promise<Engine> {
  const engine = new Engine({ store: place.open(), ...options });
  onTestFinished(() => engine.close({ patience: '1s' }));
  await engine.resume();
  return engine;
}

const insert = 'insert into effects values ($1)';
const result = { timeout: `${waitMs}ms` } as const;

describe.each([{ on: 'PostgreSQL', open: onPostgres }, { on: 'SQLite', open: onSqlite }])('on $on', ({ open }) => {
  test('a step or sleep inside complete is refused, and so is complete inside a step or after a sleep', async () => {
    const place = await open();
    const told: string[] = [];
    const tell = (error: unknown): void => void told.push((error as Error).message.replace(/until .*/, ''));
    const mixed = jobType('mixed', {
      run: async ({ step, sleep, complete }) => {
        await step('outer', () => complete(() => 'inside').catch(tell));
        await complete(async (tx) => {
          await tx.query(insert, ['rolled back']);
          await step('inner', () => 1).catch(tell);
          await sleep('pause', '1h').catch(tell);
          throw new Error('roll back');
        }).catch(tell);
        await sleep('nap', '1h').catch(() => {});
        await complete((tx) => tx.query(insert, ['too early'])).catch(tell);
      },
    });
    const engine = await started(place, { types: [mixed] });
    const run = await engine.createJobRun(mixed);
    await vi.waitUntil(async () => (await run.events()).some(({ kind }) => kind === 'slept'), { timeout: waitMs });
    expect(told).toEqual([
      'cannot call complete() inside the step "outer": it ends the job, so call it after the steps',
      'cannot call step ("inner") inside complete(): call it before complete()',
      'cannot call sleep ("pause") inside complete(): call it before complete()',
      'roll back',
      'the handler sleeps (nap) ',
    ]);
    expect(await place.effects()).toEqual([]);
  });

  test('the writes, the result and the end of the run are there together', async () => {
    const place = await open();
    const ship = jobType('ship', {
      input: typed<string>(),
      run: ({ input, complete }) => complete(async (tx) => {
        await tx.query(insert, [input]);
        expect(await place.effects()).toEqual([]);
        const { rows } = await tx.query<{ count: number }>('select count(*) as count from effects');
        return { shipped: input, rows: Number(rows[0]!.count) };
      }),
    });
    const engine = await started(place, { types: [ship] });
    const run = await engine.createJobRun(ship, { input: 'order 1' });

    expect(await run.result(result)).toEqual({ shipped: 'order 1', rows: 1 });
    expect(await place.effects()).toEqual(['order 1']);
    expect((await run.events()).map(({ kind }) => kind)).toEqual(['created', 'claimed', 'succeeded']);
  });

  test('if the work throws, nothing is written, and the next attempt can complete', async () => {
    const place = await open();
    const ship = jobType('ship', {
      retry: { attempts: 2, base: '1ms' },
      run: ({ run, complete }) => complete(async (tx) => {
        await tx.query(insert, [`attempt ${run.attempt}`]);
        if (run.attempt === 1) throw new Error('no parcels left');
        return 'shipped';
      }),
    });
    const engine = await started(place, { types: [ship] });

    expect(await (await engine.createJobRun(ship)).result(result)).toBe('shipped');
    expect(await place.effects()).toEqual(['attempt 2']);
  });

  test('an error of its own statement fails the run with the message of the database', async () => {
    const place = await open();
    const ship = jobType('ship', {
      retry: { attempts: 1 },
      run: ({ complete }) => complete((tx) => tx.query('insert into nowhere values (1)')),
    });
    const engine = await started(place, { types: [ship] });

    await expect((await engine.createJobRun(ship)).result(result)).rejects.toThrow(/failed: .*nowhere/);
  });

  test('what a handler does after it has completed changes nothing', async () => {
    const place = await open();
    const ship = jobType('ship', {
      run: async ({ complete, log }) => {
        await complete((tx) => tx.query(insert, ['once']).then(() => 'shipped'));
        log.info('too late');
        throw new Error('too late');
      },
    });
    const engine = await started(place, { types: [ship] });

    expect(await (await engine.createJobRun(ship)).result(result)).toBe('shipped');
    expect(await place.effects()).toEqual(['once']);
  });

  test('jobResults and tasks can complete, and runs can be created in the transaction', async () => {
    const place = await open();
    const mail = jobType('mail', { input: typed<string>(), run: ({ input }) => `mailed ${input}` });
    const pack = jobType('pack', {
      taskDetails: () => ['a', 'b', 'c'],
      taskResults: ({ task, complete }) => complete(async (tx) => void (await tx.query(insert, [task]))),
      jobResults: ({ counts, complete }) => complete(async (tx) => {
        await tx.query(insert, [`${counts.succeeded} packed`]);
        return (await engine.in(tx).createJobRun(mail, { input: 'ann' })).id;
      }),
    });
    const engine = await started(place, { types: [mail, pack] });
    const mailed = await (await engine.createJobRun(pack)).result(result);

    expect(await engine.run(mailed).result(result)).toBe('mailed ann');
    expect((await place.effects()).toSorted()).toEqual(['3 packed', 'a', 'b', 'c']);
  });

  test('a run that is cancelled meanwhile ends as cancelled, without the writes', async () => {
    const place = await open();
    const ship = jobType('ship', {
      run: async ({ run, complete }) => {
        clearInterval(ticking);
        await other.cancelJobRun(run.id);
        return complete((tx) => tx.query(insert, ['too late']));
      },
    });
    // With a clock that stands still from the start of the handler on, no heartbeat tells it of the cancel.
    const clock = new VirtualClock(Date.now());
    const ticking = setInterval(() => void clock.advance(10), 10);
    const engine = await started(place, { types: [ship], clock });
    const other = new Engine({ store: place.open(), types: [ship] });
    onTestFinished(() => other.close());
    const run = await engine.createJobRun(ship);

    await expect(run.result(result)).rejects.toThrow('was cancelled');
    expect(await place.effects()).toEqual([]);
  });

  test('a worker that has lost the job to another gets LeaseLost, and its writes are rolled back', async () => {
    const place = await open();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const answer = Promise.withResolvers<unknown>();
    const shipFor = (worker: string, wait: Promise<void>, ready: () => void) => jobType('ship', {
      run: async ({ complete }) => {
        ready();
        await wait;
        const given = complete((tx) => tx.query(insert, [worker]).then(() => worker));
        given.then(answer.resolve, answer.resolve);
        return given;
      },
    });
    const [claimed, reclaimed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const types = [shipFor('stale', first.promise, claimed.resolve)];
    // With a clock that stands still, no heartbeat tells the first worker that it has lost the job. Until the claim the
    // clock goes on: by the time of PostgreSQL, the run may be due only some milliseconds after its creation.
    const clock = new VirtualClock(Date.now());
    const stale = await started(place, { types, clock, instance: 'stale' });
    const run = await stale.createJobRun(types[0]!);
    const ticking = setInterval(() => void clock.advance(10), 10);
    await claimed.promise;
    clearInterval(ticking);
    await stale.suspend();
    await stale.jobs.requeue(run.id, Date.now(), { by: 'test' });
    const holder = await started(place, { types: [shipFor('holder', second.promise, reclaimed.resolve)], instance: 'holder' });
    await reclaimed.promise;
    first.resolve();
    expect(await answer.promise).toBeInstanceOf(LeaseLost);
    expect(await place.effects()).toEqual([]);
    second.resolve();

    expect(await holder.run(run.id).result(result)).toBe('holder');
    expect(await place.effects()).toEqual(['holder']);
  });
});

test('the store in memory refuses complete', async () => {
  const ship = jobType('ship', { run: ({ complete }) => complete(() => 'shipped') });
  const engine = new Engine({ store: 'memory:', types: [ship] });
  onTestFinished(() => engine.close());
  await engine.resume();

  await expect((await engine.createJobRun(ship)).result(result)).rejects.toThrow('complete() needs a store');
});
