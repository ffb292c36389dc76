// Statements that a connection has described: they are executed by one message, and answer as the driver does.
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Database } from '../../../src/store/postgres/sql/database.ts';
import { systemDriver } from '../../../src/store/postgres/sql/driver.ts';
import { ServerClock } from '../../../src/store/postgres/sql/server-clock.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/sql/url.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { waitMs } from '../../support/patience.ts';

const echo = 'select $1::text as text, $2::bigint as number, $3::text as nothing, $4::text[] as list, true as flag';

test.each([
  ['texts of several bytes a character', ['äß€😀\\"\n', 7, null, '{a,"b c",NULL}']],
  ['an empty text and a negative number', ['', -3, undefined, '{}']],
  ['a long text', ['x€'.repeat(100_000), 2 ** 40, null, null]],
  ['a list that only the driver can write', ['a', 1, null, ['a', 'b c', null]]],
])('a statement with %s returns the same rows each time', async (_title, values) => {
  const { database } = await open();
  const first = await database.run(echo, values);
  expect(await database.run(echo, values)).toEqual(first);
  expect(await database.run(echo, values)).toEqual(first);
});

test('a connection asks once for a description of the rows', async () => {
  const { database, described } = await open();
  for (const value of ['a', 'b', 'c']) expect(await database.run('select $1::text as it', [value])).toEqual([{ it: value }]);
  expect(described).toEqual(['select $1::text as it']);
});

test('a statement without rows is executed again, too', async () => {
  const { database, described } = await open();
  await database.runUnprepared('create table mark (n bigint)');
  for (const n of [1, 2, 3]) expect(await database.run('insert into mark values ($1)', [n])).toEqual([]);
  expect(await database.runUnprepared('select n from mark order by n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(described.filter((text) => text.startsWith('insert'))).toHaveLength(1);
});

test('an error rejects its statement, and the connection continues', async () => {
  const { database } = await open();
  const divide = 'select 6 / $1::bigint as share';
  expect(await database.run(divide, [2])).toEqual([{ share: 3 }]);
  const answers = await database.use((session) =>
    Promise.allSettled([0, 3, 0, 1].map((by) => session.run(divide, [by]))));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
  expect((answers[0] as PromiseRejectedResult).reason).toMatchObject({ code: '22012' });
  expect(await database.run(divide, [6])).toEqual([{ share: 1 }]);
});

test('a number beyond 2^53 rejects its statement, and the connection continues', async () => {
  const { database } = await open();
  const read = 'select $1::bigint as number';
  expect(await database.run(read, [1])).toEqual([{ number: 1 }]);
  await expect(database.run(read, ['9007199254740993'])).rejects.toThrow();
  expect(await database.run(read, [2])).toEqual([{ number: 2 }]);
});

test('an answered statement leaves no timer of the `query_timeout` of the driver', async () => {
  const timeoutMs = waitMs + 1;
  const timers = timersOf(timeoutMs);
  const { database } = await open({ query_timeout: timeoutMs });
  const divide = 'select 6 / $1::bigint as share';
  for (const by of [2, 3]) expect(await database.run(divide, [by])).toEqual([{ share: 6 / by }]);
  await expect(database.run(divide, [0])).rejects.toMatchObject({ code: '22012' });
  expect(timers.started()).toBeGreaterThanOrEqual(3);
  expect(timers.open()).toBe(0);
});

/** Counts the timers that are started with a delay, and those of them that were not stopped. */
function timersOf(delayMs: number): { started: () => number; open: () => number } {
  const start = vi.spyOn(globalThis, 'setTimeout');
  const stop = vi.spyOn(globalThis, 'clearTimeout');
  onTestFinished(() => [start, stop].forEach((spy) => spy.mockRestore()));
  const isOfDelay = (index: number): boolean => start.mock.calls[index]![1] === delayMs;
  const started = (): unknown[] =>
    start.mock.results.filter((_, index) => isOfDelay(index)).map(({ value }) => value as unknown);
  const stopped = (timer: unknown): boolean => stop.mock.calls.some(([one]) => one === timer);
  return { started: () => started().length, open: () => started().filter((timer) => !stopped(timer)).length };
}

/** A database with one connection. `described`: the texts of the prepared statements that the driver executed. */
async function open(config: pg.ClientConfig = {}): Promise<{ database: Database; described: string[] }> {
  const described: string[] = [];
  class Client extends pg.Client {
    constructor(given: pg.ClientConfig) {
      super({ ...given, ...config });
    }

    // oxlint-disable-next-line typescript/no-explicit-any -- the overloads of the driver
    override query(config: any, ...more: any[]): any {
      if (config.name !== undefined) described.push(config.text as string);
      return (super.query as (...all: unknown[]) => unknown)(config, ...more);
    }
  }
  const settings = { schema: 'stint', max: 1, prepare: true, statementTimeoutMs: waitMs, silenceMs: waitMs, patienceMs: 0 };
  const url = parsePostgresUrl(await freshDatabase());
  const database = new Database(url, settings, new ServerClock(undefined), { ...systemDriver, Client });
  onTestFinished(() => database.close());
  return { database, described };
}
