// FinishJob, RetryJob and FailJob, and their effect on parent and children.
import { describe, expect } from 'vitest';
import type { Fields } from './client.ts';
import { at, both, hour, minute, onSqlite as test, second, sqlite, testOn } from './world.ts';

const unheld = '405 Can only retry/finish RUNNING and RUNQUEUED jobs';
const day = 24 * hour;

describe('the jobID parameter', () => {
  const verbs = ['QueryJob', 'UpdateJob', 'FinishJob', 'RetryJob', 'FailJob', 'CancelJob', 'DeleteJob'];
  test.for<[string, Fields, string]>([
    ['none', {}, '402 Missing jobID'],
    ['empty', { jobID: '' }, '402 Missing jobID'],
    ['01', { jobID: '01' }, '402 Malformed jobID'],
    ['1x', { jobID: '1x' }, '402 Malformed jobID'],
    ['+1', { jobID: '+1' }, '402 Malformed jobID'],
    ['-0', { jobID: '-0' }, '402 Malformed jobID'],
    ['abc', { jobID: 'abc' }, '402 Malformed jobID'],
    ['beyond 64 bits', { jobID: '9223372036854775808' }, '402 Malformed jobID'],
    ['0', { jobID: '0' }, '404 No job with this jobID'],
    ['-1', { jobID: '-1' }, '404 No job with this jobID'],
    ['the largest of 64 bits', { jobID: '9223372036854775807' }, '404 No job with this jobID'],
    ['the smallest of 64 bits', { jobID: '-9223372036854775808' }, '404 No job with this jobID'],
    ['of no job', { jobID: '4711' }, '404 No job with this jobID'],
  ])('%s is answered the same by every command', async ([, fields, status], { world }) => {
    for (const verb of verbs) expect(await world.status(verb, { ...fields, data: '{"a":1}' }), verb).toBe(status);
  });
});

describe('FinishJob', () => {
  test('ends a job: it is no longer found, but its history stays', async ({ world }) => {
    const id = await world.running({ name: 'x' });
    expect(await world.ask('FinishJob', { jobID: id, data: { result: 1 } })).toMatchObject(
      { status: '200 OK', body: '' },
    );
    expect(await world.state(id)).toBe('gone');
    expect(await world.status('FinishJob', { jobID: id })).toBe('404 No job with this jobID');
    expect(await world.events(id)).toEqual(['created', 'claimed', 'edited', 'succeeded']);
    expect((await world.job(id)).input).toBe('{"result":1}');
  });

  test('repeats a job with its newest data', async ({ world }) => {
    const id = await world.running({ name: 'x', repeat: 'FINISHED, +1 MINUTE', data: { n: 1 } });
    await world.advance(10 * second);
    await world.json('FinishJob', { jobID: id, data: { n: 2 } });
    expect(await world.query(id)).toMatchObject(
      { state: 'QUEUED', nextRun: at(70 * second), lastRun: at(0), data: { n: 2 } },
    );
    await world.advance(minute);
    await world.get('x');
    await world.json('FinishJob', { jobID: id });
    expect((await world.query(id)).data).toEqual({ n: 2 });
  });

  test.for<[string, number]>([
    ['SCHEDULED, +1 HOUR', hour],
    ['STARTED, +1 HOUR', hour + 15 * minute],
    ['FINISHED, +1 HOUR', hour + 45 * minute],
    ['HOURLY', hour + 45 * minute],
    ['DAILY', day + 45 * minute],
    ['WEEKLY', 7 * day + 45 * minute],
    ['FINISHED, +1 DAY, START OF DAY, +4 HOURS', day - 8 * hour],
    ['finished, +1 day, weekday 1, start of day, +6 hours', day - 6 * hour],
    ['SCHEDULED, START OF HOUR, +90 SECONDS', 90 * second],
  ])('counts %s from the right moment', async ([repeat, expected], { world }) => {
    const id = await world.create({ name: 'x', repeat });
    await world.advance(15 * minute);
    await world.get('x');
    await world.advance(30 * minute);
    await world.json('FinishJob', { jobID: id });
    expect((await world.query(id)).nextRun).toBe(at(expected));
  });

  test('ends a repeating job that is marked for deletion, or with ignoreRepeat', async ({ world }) => {
    const deleted = [{ data: { delete: true } }, { data: { delete: 'true' } }];
    const ways = [...deleted, { ignoreRepeat: 'true' }, { ignoreRepeat: 1 }];
    for (const fields of ways) {
      const id = await world.running({ name: 'x', repeat: 'DAILY' });
      await world.json('FinishJob', { jobID: id, ...fields });
      expect(await world.state(id)).toBe('gone');
    }
    const id = await world.running({ name: 'x', repeat: 'DAILY' });
    await world.json('FinishJob', { jobID: id, ignoreRepeat: 'false', data: { delete: false } });
    expect(await world.state(id)).toBe('QUEUED');
  });

  test('refuses invalid data and changes nothing', async ({ world }) => {
    const id = await world.running({ name: 'x', data: { a: 1 } });
    for (const verb of ['FinishJob', 'RetryJob', 'FailJob', 'UpdateJob']) {
      expect(await world.status(verb, { jobID: id, data: '{broken' }), verb).toBe('402 Malformed data');
    }
    expect(await world.query(id)).toMatchObject({ state: 'RUNNING', data: { a: 1 } });
    await world.json('FinishJob', { jobID: id, data: '[1,2]' });
  });

  test('ignores delay, nextRun and name', async ({ world }) => {
    const id = await world.running({ name: 'x' });
    await world.json('FinishJob', { jobID: id, delay: 5, nextRun: '2030-01-01', name: 'y' });
    expect(await world.state(id)).toBe('gone');
  });

  test('reports errors in the same order as the original', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    const bad = { jobID: child, data: '{"mockRequest":true}' };
    expect(await world.status('FinishJob', bad)).toBe(unheld);
    await world.json('RequeueJobs', { jobIDs: child });
    await world.get('c');
    expect(await world.status('FinishJob', bad)).toBe('405 Can only retry/finish child job when parent is PAUSED');
    expect(await world.status('RetryJob', bad)).toBe('405 Can only retry/finish child job when parent is PAUSED');
    await world.json('FinishJob', { jobID: parent });
    expect(await world.status('FinishJob', bad)).toBe('500 Mock Mismatch');
    await world.json('FinishJob', { jobID: child });
    expect(await world.state(parent)).toBe('QUEUED');
  });

  test('keeps the mark of mocks', async ({ world }) => {
    const mock = await world.running({ name: 'm', mockRequest: '1' });
    expect(await world.status('FinishJob', { jobID: mock, data: '{"a":1}' })).toBe('500 Mock Mismatch');
    await world.json('RetryJob', { jobID: mock, data: '{"a":1,"mockRequest":1}' });
    expect((await world.query(mock)).data).toEqual({ a: 1, mockRequest: 1 });
    await world.json('FinishJob', { jobID: mock });
  });
});

const reanchoring = testOn(sqlite, { reanchor: true });

describe('a schedule that was missed', () => {
  const missed = { name: 'x', repeat: 'SCHEDULED, +1 HOUR', firstRun: at(-150 * minute) };

  test('is caught up run by run', async ({ world }) => {
    const id = await world.create(missed);
    const times: unknown[] = [];
    for (let n = 0; n < 3; n++) {
      times.push((await world.get('x'))['nextRun']);
      await world.json('FinishJob', { jobID: id });
    }
    expect(times).toEqual([at(-150 * minute), at(-90 * minute), at(-30 * minute)]);
    expect((await world.query(id)).nextRun).toBe(at(30 * minute));
  });

  reanchoring('is skipped where the server is told so, on the same phase', async ({ world }) => {
    const id = await world.create(missed);
    await world.get('x');
    await world.json('FinishJob', { jobID: id });
    expect((await world.query(id)).nextRun).toBe(at(30 * minute));
    const long = await world.create(
      { ...missed, name: 'long', repeat: 'SCHEDULED, +4 HOURS', firstRun: at(-9 * hour) },
    );
    await world.get('long');
    await world.json('FinishJob', { jobID: long });
    expect((await world.query(long)).nextRun).toBe(at(-5 * hour));
  });
});

describe('RetryJob', () => {
  test('requeues a job at once, after a delay, or at a time', async ({ world }) => {
    const id = await world.running({ name: 'x', data: { a: 1 } });
    const retry = async (fields: Fields): Promise<string> => {
      await world.json('RetryJob', { jobID: id, ...fields });
      const { nextRun } = await world.query(id);
      await world.json('RequeueJobs', { jobIDs: id });
      await world.get('x');
      return nextRun;
    };
    expect(await retry({})).toBe(at(0));
    expect(await retry({ delay: 90 })).toBe(at(90 * second));
    expect(await retry({ delay: '5x' })).toBe(at(5 * second));
    expect(await retry({ delay: '99999999' })).toBe(at(99_999_999 * second));
    expect(await retry({ nextRun: at(hour), delay: 5 })).toBe(at(hour));
    expect(await retry({ nextRun: '' })).toBe(at(0));
    expect((await world.query(id)).data).toEqual({ a: 1 });
  });

  test('refuses an invalid delay or time, unless the job repeats', async ({ world }) => {
    const once = await world.running({ name: 'x' });
    const again = await world.running({ name: 'y', repeat: 'FINISHED, +1 HOUR' });
    const bad: [Fields, string][] = [
      [{ delay: -1 }, '402 Must specify a non-negative delay when retrying'],
      [{ delay: '123456789' }, '402 Malformed delay'],
      [{ nextRun: 'soon' }, '402 Malformed nextRun'],
    ];
    for (const [fields, status] of bad) expect(await world.status('RetryJob', { jobID: once, ...fields })).toBe(status);
    for (const [fields] of bad) {
      await world.json('RetryJob', { jobID: again, ...fields });
      expect((await world.query(again)).nextRun).toBe(at(hour));
      await world.json('RequeueJobs', { jobIDs: again });
      await world.get('y');
    }
  });

  test('follows the repeat unless ignoreRepeat is set', async ({ world }) => {
    const id = await world.running({ name: 'x', repeat: 'FINISHED, +1 HOUR' });
    await world.json('RetryJob', { jobID: id, delay: 5 });
    expect((await world.query(id)).nextRun).toBe(at(hour));
    await world.advance(hour);
    await world.get('x');
    await world.json('RetryJob', { jobID: id, delay: 5, ignoreRepeat: '1' });
    expect((await world.query(id)).nextRun).toBe(at(hour + 5 * second));
  });

  test('sets name, priority and data of a job', async ({ world }) => {
    const id = await world.running({ name: 'x' });
    expect(await world.status('RetryJob', { jobID: id, jobPriority: 3 })).toBe('402 Invalid priority value');
    expect(await world.status('RetryJob', { jobID: id, name: 'n'.repeat(256) })).toBe('402 Malformed name');
    await world.json('RetryJob', { jobID: id, name: 'y', jobPriority: 850, data: { b: 2 } });
    expect(await world.query(id)).toMatchObject({ name: 'y', priority: 850, data: { b: 2 }, state: 'QUEUED' });
    expect((await world.get('y')).jobID).toBe(id);
  });

  test('does not change children', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('RetryJob', { jobID: parent });
    expect([await world.state(parent), await world.state(child)]).toEqual(['QUEUED', 'PAUSED']);
    await world.get('p');
    await world.json('FinishJob', { jobID: parent });
    expect([await world.state(parent), await world.state(child)]).toEqual(['PAUSED', 'QUEUED']);
  });
});

for (const { name: store, test: onStore } of both) {
  describe(`a family on ${store}`, () => {
    onStore('waits for its children, goes on with what they did, and ends', async ({ world }) => {
      const parent = await world.running({ name: 'p', data: { p: 1 } });
      const children = [await world.create({ name: 'c1', parentJobID: parent }), await world.create(
        { name: 'c2', parentJobID: parent },
      )];
      await world.json('FinishJob', { jobID: parent, data: { p: 2 } });
      for (const [index, child] of children.entries()) {
        expect(await world.state(parent)).toBe('PAUSED');
        expect(await world.status('GetJob', { name: 'p' })).toBe('404 No job found');
        await world.get(`c${index + 1}`);
        await world.json('FinishJob', { jobID: child, data: { c: index } });
        expect(await world.state(child)).toBe('FINISHED');
      }
      expect(await world.state(parent)).toBe('QUEUED');
      const told = await world.get('p');
      expect(told).toMatchObject(
        { data: { p: 2 }, finishedChildJobs: [{ data: { c: 0 } }, { data: { c: 1 } }], cancelledChildJobs: [] },
      );
      await world.json('FinishJob', { jobID: parent });
      expect([await world.state(parent), await world.state(children[0]!)]).toEqual(['gone', 'gone']);
    });

    onStore('goes on exactly once when its last children end at the same moment', async ({ world }) => {
      const clients = await Promise.all(Array.from({ length: 6 }, () => world.connect()));
      const parent = await world.running({ name: 'p' });
      await world.json('CreateJobs', { jobs: clients.map(() => ({ name: 'c', parentJobID: parent })) });
      await world.json('FinishJob', { jobID: parent });
      const { jobs } = await world.json<{ jobs: { jobID: number }[] }>('GetJobs', { name: 'c', numResults: 9 });
      const ends = await Promise.all(clients.map((client, n) => client.ask('FinishJob', { jobID: jobs[n]!.jobID })));
      expect(ends.map(({ status }) => status)).toEqual(Array(6).fill('200 OK'));
      expect(await world.state(parent)).toBe('QUEUED');
      expect((await world.events(parent)).filter((kind) => kind === 'settled')).toHaveLength(1);
    });

    onStore('goes on when its last child fails, is told of it, and can be finished', async ({ world }) => {
      const parent = await world.running({ name: 'p' });
      const child = await world.create({ name: 'c', parentJobID: parent, data: { c: 1 } });
      await world.json('FinishJob', { jobID: parent });
      await world.get('c');
      await world.json('FailJob', { jobID: child, data: { why: 'broken' } });
      expect(await world.state(parent)).toBe('QUEUED');
      const told = await world.get('p');
      expect(told).toMatchObject({ failedChildJobs: [{ data: { why: 'broken' }, jobID: child }] });
      expect(Object.keys(told)).toHaveLength(10);
      await world.json('FinishJob', { jobID: parent });
      expect([await world.state(parent), await world.state(child)]).toEqual(['gone', 'FAILED']);
    });

    onStore('lives again when a child that failed is put back after its parent has ended', async ({ world }) => {
      const parent = await world.running({ name: 'p' });
      const child = await world.create({ name: 'c', parentJobID: parent });
      await world.json('FinishJob', { jobID: parent });
      await world.get('c');
      await world.json('FailJob', { jobID: child });
      await world.get('p');
      await world.json('FinishJob', { jobID: parent });
      await world.json('RequeueJobs', { jobIDs: child });
      expect([await world.state(parent), await world.state(child)]).toEqual(['PAUSED', 'QUEUED']);
      await world.get('c');
      await world.json('FinishJob', { jobID: child });
      expect(await world.get('p')).toMatchObject({ finishedChildJobs: [{ jobID: child }] });
    });
  });
}

describe('a family', () => {
  test('whose parent fails ends with it, because its children could never be released', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('FailJob', { jobID: parent });
    expect([await world.state(parent), await world.state(child)]).toEqual(['FAILED', 'CANCELLED']);
  });

  test('repeats with its parent, which is scheduled from its own time', async ({ world }) => {
    const parent = await world.running({ name: 'p', repeat: 'SCHEDULED, +1 HOUR' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent });
    expect(await world.state(parent)).toBe('PAUSED');
    await world.advance(10 * minute);
    await world.get('c');
    await world.json('FinishJob', { jobID: child });
    await world.get('p');
    await world.json('FinishJob', { jobID: parent });
    expect(await world.query(parent)).toMatchObject({ state: 'QUEUED', nextRun: at(hour) });
    expect(await world.state(child)).toBe('gone');
  });

  test('with a repeating child continues when that child ends', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent, repeat: 'FINISHED, +1 MINUTE' });
    await world.json('FinishJob', { jobID: parent });
    await world.get('c');
    await world.json('FinishJob', { jobID: child });
    expect([await world.state(child), await world.state(parent)]).toEqual(['QUEUED', 'PAUSED']);
    await world.json('CancelJob', { jobID: child });
    expect([await world.state(child), await world.state(parent)]).toEqual(['CANCELLED', 'QUEUED']);
  });
});

describe('FailJob', () => {
  test('ends a job, also one that repeats or is RUNQUEUED', async ({ world }) => {
    const repeats = await world.running({ name: 'x', repeat: 'DAILY' });
    const runqueued = await world.running({ name: 'y', retryAfter: '+1 HOUR' });
    await world.json('FailJob', { jobID: repeats, data: { why: 1 } });
    await world.json('FailJob', { jobID: runqueued });
    expect(await world.query(repeats)).toMatchObject({ state: 'FAILED', data: { why: 1 } });
    world.clock.jump(2 * day);
    expect(await world.status('GetJob', { name: '*' })).toBe('404 No job found');
    expect(await world.state(runqueued)).toBe('FAILED');
  });
});
