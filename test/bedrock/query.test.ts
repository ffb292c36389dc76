// Query: read-only SQL over the view `jobs`.
import { describe, expect } from 'vitest';
import { at, minute, onPostgres, onSqlite as test, sqlite, testOn } from './world.ts';

describe('Query', () => {
  test('has the columns of the original table, with the same values', async ({ world }) => {
    const parent = await world.running({ name: 'p', data: { p: 1 } });
    const [done, failed, cancelled] = [
      await world.create({ name: 'done', parentJobID: parent }), await world.create(
        { name: 'failed', parentJobID: parent },
      ),
      await world.create({ name: 'cancelled', parentJobID: parent }),
    ];
    await world.create({ name: 'sibling', parentJobID: parent, firstRun: at(minute) });
    await world.json('FinishJob', { jobID: parent });
    for (const name of ['done', 'failed']) await world.get(name);
    await world.json('FinishJob', { jobID: done });
    await world.json('FailJob', { jobID: failed });
    await world.json('CancelJob', { jobID: cancelled });
    await world.running({ name: 'gone' });
    await world.json('FinishJob', { jobID: 6 });
    await world.running({ name: 'r', retryAfter: '+5 minutes', repeat: 'finished, +1 hour', jobPriority: 750 });
    await world.json('FailJob', { jobID: await world.running({ name: 'f', data: { n: 9_007_199_254_740_991 } }) });

    const { headers, rows } = await world.json<{ headers: string[]; rows: unknown[][] }>('Query', {
      query: 'SELECT * FROM jobs ORDER BY jobID;', format: 'json',
    });
    expect(headers).toEqual([
      'created', 'jobID', 'state', 'name', 'nextRun', 'lastRun', 'repeat', 'data', 'priority', 'parentJobID',
      'retryAfter',
    ]);
    expect(rows).toEqual([
      [at(0), 1, 'PAUSED', 'p', at(0), at(0), '', { p: 1 }, 500, 0, ''],
      [at(0), 2, 'FINISHED', 'done', at(0), at(0), '', {}, 500, 1, ''],
      [at(0), 3, 'FAILED', 'failed', at(0), at(0), '', {}, 500, 1, ''],
      [at(0), 4, 'CANCELLED', 'cancelled', at(0), null, '', {}, 500, 1, ''],
      [at(0), 5, 'QUEUED', 'sibling', at(minute), null, '', {}, 500, 1, ''],
      [
        at(0),
        7,
        'RUNQUEUED',
        'r',
        at(5 * minute),
        at(0),
        'FINISHED, +1 HOUR',
        { retryAfterCount: 1 },
        750,
        0,
        '+5 minutes',
      ],
      [at(0), 8, 'FAILED', 'f', at(0), at(0), '', { n: 9_007_199_254_740_991 }, 500, 0, ''],
    ]);
    for (const [, id, state, , nextRun, lastRun, repeat, data, priority, , retryAfter] of rows) {
      expect(await world.query(Number(id))).toMatchObject(
        { state, nextRun, lastRun: lastRun ?? '', repeat, data, priority, retryAfter },
      );
    }
  });

  test('replies in the requested format', async ({ world }) => {
    await world.create({ name: 'a|b', data: { x: 1 } });
    const query = `SELECT jobID, name, data, lastRun, 1.5 AS f FROM jobs;`;
    const body = async (fields: Record<string, string>): Promise<string> =>
      (await world.ask('Query', { query, ...fields })).body;
    expect(await body({})).toBe('[[1,"a|b",{"x":1},null,1.5]]');
    expect(await body({ Format: 'JSON' })).toBe(
      '{"headers":["jobID","name","data","lastRun","f"],"rows":[[1,"a|b",{"x":1},null,1.5]]}',
    );
    expect(await body({ ReadDBFlags: '-json' })).toBe(
      '[{"jobID":1,"name":"a|b","data":"{\\"x\\":1}","lastRun":null,"f":1.5}]\n',
    );
    expect(await body({ SQLiteArgs: '-list' })).toBe('jobID|name|data|lastRun|f\n1|a|b|{"x":1}||1.5\n');
    world.client.send(`Query: select count(*) from jobs;\n\n`);
    expect((await world.client.answer()).body).toBe('[[1]]');
  });

  test('replies with no rows in each format', async ({ world }) => {
    const query = 'SELECT jobID FROM jobs;';
    expect((await world.ask('Query', { query })).body).toBe('[]');
    expect((await world.ask('Query', { query, format: 'json' })).body).toBe('{"headers":["jobID"],"rows":[]}');
    expect((await world.ask('Query', { query, ReadDBFlags: '-json' })).body).toBe('');
  });

  test('executes the queries of the original tests', async ({ world }) => {
    await world.create({ name: 'www-prod/BatchBad1', data: { mockRequest: true } });
    await world.running({ name: 'r', retryAfter: '+1 HOUR' });
    const questions: [string, unknown][] = [
      [`SELECT state FROM jobs WHERE jobID = 1;`, [['QUEUED']]],
      [`SELECT state FROM jobs WHERE jobID='1';`, [['QUEUED']]],
      [`SELECT COUNT(1) FROM jobs WHERE jobID IN (1,2,3);`, [[2]]],
      [`SELECT COUNT() FROM jobs;`, [[2]]],
      [`SELECT DISTINCT state FROM jobs ORDER BY 1;`, [['QUEUED'], ['RUNQUEUED']]],
      [`SELECT jobID FROM jobs WHERE JSON_EXTRACT(data,'$.mockRequest') IS NOT NULL;`, [[1]]],
      [`SELECT JSON_EXTRACT(data,'$.retryAfterCount') FROM jobs WHERE jobID = 2;`, [[1]]],
      [`SELECT jobID FROM jobs WHERE name GLOB 'www-prod/BatchBad*';`, [[1]]],
      [`SELECT STRFTIME('%Y-%m-%d %H:00:00', DATETIME('2026-03-01 12:34:56','+1 HOUR'));`, [['2026-03-01 13:00:00']]],
    ];
    for (const [query, rows] of questions) expect(await world.json('Query', { query }), query).toEqual(rows);
  });

  test.for<[string, string]>([
    ['', '402 Missing query'],
    ['select 1', '502 Query Missing Semicolon'],
    ['select jobID, from jobs;', '402 Bad query'],
    ['select nothing from jobs;', '402 Bad query'],
    ['select * from job;', '401 Unauthorized'],
    ['select * from main.ended;', '401 Unauthorized'],
    ['with jobs as (select * from main.job) select * from jobs;', '401 Unauthorized'],
    ['select (select input from main.job limit 1) from jobs;', '401 Unauthorized'],
    ['select * from sqlite_master;', '401 Unauthorized'],
    ['select * from sqlite_temp_schema;', '401 Unauthorized'],
    [`select * from pragma_table_info('job');`, '401 Unauthorized'],
    ['pragma user_version;', '401 Unauthorized'],
    ['pragma writable_schema = 1;', '401 Unauthorized'],
    [`attach '/tmp/x.db' as x;`, '401 Unauthorized'],
    [`select load_extension('x');`, '401 Unauthorized'],
    ['insert into jobs(name) values (1);', '401 Unauthorized'],
    ['insert into job(id) values (1);', '401 Unauthorized'],
    [`update jobs set state = 'FAILED' where jobID = 1;`, '401 Unauthorized'],
    ['delete from jobs where jobID > 0;', '401 Unauthorized'],
    ['drop table job;', '401 Unauthorized'],
    ['create table x(y);', '401 Unauthorized'],
    ['create temp table x(y);', '401 Unauthorized'],
    ['vacuum;', '401 Unauthorized'],
    ['begin immediate;', '401 Unauthorized'],
    ['select 1; delete from job;', '401 Unauthorized'],
    [`select hex(readfile('/etc/passwd'));`, '402 Bad query'],
    ['select length(zeroblob(900000000));', '402 Bad query'],
  ])('%s is answered %s', async ([query, status], { world }) => {
    await world.create({ name: 'secret', data: { secret: 1 } });
    const answer = await world.ask('Query', { query });
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain('secret');
    expect(await world.state(1)).toBe('QUEUED');
  });

  test('with mockRequest writes nothing and replies 200', async ({ world }) => {
    const id = await world.create({ name: 'x' });
    expect(await world.status('Query', { query: 'DELETE FROM jobs WHERE jobID > 0;', mockRequest: 'true' })).toBe(
      '200 OK',
    );
    expect(await world.state(id)).toBe('QUEUED');
  });
});

const strict = testOn(sqlite, { inspection: { rowsMax: 3, timeMs: 300 } });

describe('a costly Query', () => {
  strict('is ended when it finds too much', async ({ world }) => {
    await world.json('CreateJobs', { jobs: Array(4).fill({ name: 'x' }) });
    expect(await world.json('Query', { query: 'select jobID from jobs limit 3;' })).toHaveLength(3);
    const { status, headers } = await world.ask('Query', { query: 'select jobID from jobs;' });
    expect([status, headers['error']]).toEqual(['502 Query failed', expect.stringContaining('more than 3 rows')]);
  });

  strict('is ended when it takes too long, and keeps nobody waiting meanwhile', async ({ world }) => {
    for (let n = 0; n < 2; n++) await world.json('CreateJobs', { jobs: Array(60).fill({ name: 'x' }) });
    const other = await world.connect();
    const long = world.ask('Query', { query: 'select count(*) from jobs a, jobs b, jobs c, jobs d, jobs e;' });
    expect((await other.ask('Ping')).status).toBe('200 OK');
    const { status, headers } = await long;
    expect([status, headers['error']]).toEqual(['502 Query failed', expect.stringContaining('longer than 300 ms')]);
    expect(await world.json('Query', { query: 'select count(*) from jobs;' })).toEqual([[120]]);
  });
});

onPostgres('Query is refused on PostgreSQL, which has no way to keep it to the view', async ({ world }) => {
  expect(await world.status('Query', { query: 'select 1;' })).toBe('405 Query is only available on a SQLite store');
});
