// GetJob and GetJobs: selection, order, replies, retryAfter and CrashBedrockJob.
import { describe, expect } from 'vitest';
import type { Fields } from './client.ts';
import { at, both, minute, onSqlite as test, second, type BedrockWorld, type Handed } from './world.ts';

const none = '404 No job found';

async function namesOf(world: BedrockWorld, fields: Fields): Promise<string[]> {
  const { status, body } = await world.ask('GetJobs', { numResults: 99, ...fields });
  return status === none ? [] : (JSON.parse(body) as { jobs: Handed[] }).jobs.map(({ name }) => name);
}

describe('a request for jobs', () => {
  test.for<[string, string, Fields, string]>([
    ['GetJob', 'no name', {}, '402 Missing name'],
    ['GetJobs', 'no name', { numResults: 1 }, '402 Missing name'],
    ['GetJob', 'a name beyond all bounds', { name: 'n'.repeat(12_751) }, '402 Malformed name'],
    ['GetJob', 'numResults', { name: 'x', numResults: 1 }, '402 Cannot use numResults with GetJob; try GetJobs'],
    ['GetJobs', 'no numResults', { name: 'x' }, '402 Missing numResults'],
    ['GetJob', 'a bad priority', { name: 'x', jobPriority: 7 }, '402 Invalid priority value'],
    ['GetJob', 'too many stars', { name: 'a*b*c*d*e*f*g*h*i*' }, '402 Malformed name'],
    ['GetJob', 'half a character', { name: 'a\uD800'.replace('\uD800', '\\uD800') }, none],
  ])('%s refuses %s', async ([verb, , fields, status], { world }) => {
    expect(await world.status(verb, fields)).toBe(status);
  });

  test('with an unpaired surrogate or a NUL in a name is refused', async ({ world }) => {
    world.client.send('GetJob\nname: a\\uD800\n\nGetJob\nname: a\\u0000,b\n\nCreateJob\nname: a\\u0000\n\n');
    expect((await world.client.answers(3)).map(({ status }) => status)).toEqual(Array(3).fill('402 Malformed name'));
  });

  test('with one name takes it as a pattern', async ({ world }) => {
    for (const name of ['www/foo', 'www/bar', 'Www/foo', 'a,b', 'a[1]', 'plain']) await world.create({ name });
    expect(await namesOf(world, { name: 'www/*' })).toEqual(['www/foo', 'www/bar']);
    expect(await namesOf(world, { name: '[A-Z]ww/fo?' })).toEqual(['Www/foo']);
    expect(await namesOf(world, { name: 'plain,' })).toEqual([]);
    expect(await namesOf(world, { name: 'a?b' })).toEqual(['a,b']);
    expect(await namesOf(world, { name: 'a[1]' })).toEqual([]);
    expect(await namesOf(world, { name: 'a[[]1]' })).toEqual(['a[1]']);
  });

  test('with several names takes them as exact', async ({ world }) => {
    for (const name of ['foo', 'bar', 'foobar', 'b*']) await world.create({ name });
    expect(await namesOf(world, { name: 'foo,  b*,, nothing' })).toEqual(['foo', 'b*']);
  });

  test('gets at least one job and at most a thousand', async ({ world }) => {
    await world.json('CreateJobs', { jobs: Array.from({ length: 1003 }, () => ({ name: 'x' })) });
    const counts: number[] = [];
    for (const numResults of [0, -4, 'abc', 2, 5000]) counts.push(
      (await namesOf(world, { name: 'x', numResults })).length,
    );
    expect(counts).toEqual([1, 1, 1, 2, 998]);
  });

  test('can be limited to one priority', async ({ world }) => {
    for (const jobPriority of [0, 500, 1000]) await world.create({ name: `p${jobPriority}`, jobPriority });
    expect(await namesOf(world, { name: 'p*', jobPriority: 500 })).toEqual(['p500']);
    expect(await namesOf(world, { name: 'p*', jobPriority: 750 })).toEqual([]);
  });
});

for (const { name: store, test: testOn } of both) {
  testOn(`jobs are handed out by priority, then due time, then id, on ${store}`, async ({ world }) => {
    const make = (name: string, jobPriority: number, ms: number): Promise<number> =>
      world.create({ name, jobPriority, firstRun: at(ms) });
    await make('d', 500, -second);
    await make('a', 850, -second);
    await make('e', 500, -second);
    await make('c', 500, -minute);
    await make('b', 750, -minute);
    await make('never', 1000, minute);
    expect(await namesOf(world, { name: '*' })).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  testOn(`each job is handed out to one of many concurrent workers, on ${store}`, async ({ world }) => {
    await world.json('CreateJobs', { jobs: Array.from({ length: 20 }, () => ({ name: 'x' })) });
    const clients = await Promise.all(Array.from({ length: 8 }, () => world.connect()));
    const taken = await Promise.all(clients.map(async (client) => {
      const ids: number[] = [];
      for (;;) {
        const { status, body } = await client.ask('GetJob', { name: 'x' });
        if (status === none) return ids;
        ids.push((JSON.parse(body) as Handed).jobID);
      }
    }));
    expect(taken.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });
}

describe('the reply to a worker', () => {
  test('has nine keys in order, with the job as it was before', async ({ world }) => {
    const id = await world.create({ name: 'x', data: { a: 1 }, firstRun: at(-minute), jobPriority: 750 });
    await world.advance(second);
    expect((await world.ask('GetJob', { name: 'x' })).body).toBe(
      `{"created":"${at(0)}","data":{"a":1},"jobID":${id},"lastRun":"","name":"x","nextRun":"${at(-minute)}",` +
        '"priority":750,"repeat":"","retryAfter":""}',
    );
    await world.json('RetryJob', { jobID: id });
    await world.advance(second);
    expect((await world.get('x'))['lastRun']).toBe(at(second));
    expect((await world.query(id)).lastRun).toBe(at(2 * second));
  });

  test('is valid JSON for any name', async ({ world }) => {
    for (const name of ['123', 'true', 'null', '{"a":1}', 'a"b/c']) await world.create({ name });
    expect(await namesOf(world, { name: '*' })).toEqual(['123', 'true', 'null', '{"a":1}', 'a"b/c']);
  });

  test('has eleven keys for a child, including its parent', async ({ world }) => {
    const parent = await world.running({ name: 'p', data: { of: 'parent' } });
    await world.create({ name: 'c', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent, data: { of: 'the parent' } });
    const told = await world.get('c');
    expect(Object.keys(told)).toEqual([
      'created', 'data', 'jobID', 'lastRun', 'name', 'nextRun', 'parentData', 'parentJobID', 'priority', 'repeat',
      'retryAfter',
    ]);
    expect(told).toMatchObject({ parentJobID: parent, parentData: { of: 'the parent' } });
  });

  test('has eleven keys for a resumed parent, including its ended children', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const [done, cancelled] = [
      await world.create({ name: 'c', parentJobID: parent }), await world.create({ name: 'x', parentJobID: parent }),
    ];
    await world.json('FinishJob', { jobID: parent });
    await world.get('c');
    await world.json('FinishJob', { jobID: done, data: { result: 1 } });
    await world.json('CancelJob', { jobID: cancelled });
    const told = await world.get('p');
    expect(Object.keys(told)).toHaveLength(11);
    expect(told).toMatchObject({
      finishedChildJobs: [{ data: { result: 1 }, jobID: done }],
      cancelledChildJobs: [{ data: {}, jobID: cancelled }],
    });
    expect(Object.keys(told)).toEqual(
      Object.keys(told).toSorted((a, b) => a.toLowerCase().localeCompare(b.toLowerCase())),
    );
  });

  test('is the same for a parent that is handed out repeatedly until it finishes', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent });
    await world.get('c');
    await world.json('FinishJob', { jobID: child });
    expect(await world.get('p')).toHaveProperty('finishedChildJobs');
    await world.json('RetryJob', { jobID: parent });
    expect(await world.get('p')).not.toHaveProperty('finishedChildJobs');
    expect(await world.state(child)).toBe('gone');
  });
});

describe.each(both)('on $name', ({ test: onStore }) => {
  onStore('jobs whose time to retry has passed are never missed by sixteen connections', async ({ world }) => {
    for (let made = 0; made < 16; made++) await world.create({ name: `storm/${made % 3}`, retryAfter: '+0 SECONDS' });
    const clients = await Promise.all(Array.from({ length: 16 }, () => world.connect()));
    const statuses = await Promise.all(clients.map(async (client, at) => {
      const seen: string[] = [];
      for (let round = 0; round < 8; round++) {
        seen.push((await client.ask('GetJob', { name: at % 2 ? 'storm/*' : 'storm/0,storm/1,storm/2' })).status);
      }
      return seen;
    }));
    expect(new Set(statuses.flat())).toEqual(new Set(['200 OK']));
  });
});

describe('retryAfter', () => {
  test('hands a job out again when its worker has not replied in time', async ({ world }) => {
    const id = await world.create({ name: 'r', retryAfter: '+5 MINUTES', data: { a: 1 } });
    expect((await world.get('r')).data).toEqual({ a: 1 });
    expect(await world.query(id)).toMatchObject(
      { state: 'RUNQUEUED', nextRun: at(5 * minute), data: { a: 1, retryAfterCount: 1 } },
    );
    await world.advance(5 * minute - 1);
    expect(await world.status('GetJob', { name: 'r' })).toBe(none);
    await world.advance(1);
    expect((await world.get('r')).data).toEqual({ a: 1, retryAfterCount: 1 });
    expect((await world.query(id)).data).toEqual({ a: 1, retryAfterCount: 2 });
  });

  test('ends after ten hand-outs: the eleventh reply is empty, and the job has failed', async ({ world }) => {
    const id = await world.create({ name: 'r', retryAfter: '+1 SECOND' });
    for (let n = 0; n < 10; n++) {
      expect((await world.get('r')).jobID).toBe(id);
      await world.advance(second);
    }
    expect(await world.ask('GetJob', { name: 'r' })).toMatchObject({ status: '200 OK', body: '{}' });
    expect(await world.state(id)).toBe('FAILED');
    expect(await world.status('GetJob', { name: 'r' })).toBe(none);
  });

  test('ends after ten hand-outs, while other jobs are handed out', async ({ world }) => {
    const id = await world.create({ name: 'r', retryAfter: '+1 SECOND' });
    for (let n = 0; n < 10; n++) {
      await world.get('r');
      await world.advance(second);
    }
    const fresh = await world.create({ name: 'r' });
    const { jobs } = await world.json<{ jobs: Handed[] }>('GetJobs', { name: 'r', numResults: 2 });
    expect(jobs.map(({ jobID }) => jobID)).toEqual([fresh]);
    expect(await world.state(id)).toBe('FAILED');
    await world.json('RequeueJobs', { jobIDs: id });
    expect((await world.json<{ jobs: Handed[] }>('GetJobs', { name: 'r', numResults: 2 })).jobs).toHaveLength(1);
  });

  test('does not limit the hand-outs of other jobs', async ({ world }) => {
    const id = await world.create({ name: 'manual/r', retryAfter: '+1 SECOND' });
    for (let n = 0; n < 15; n++) {
      expect(await world.get('manual/r')).toMatchObject({ jobID: id, data: {} });
      await world.advance(second);
    }
  });

  test('restarts its count when the job finishes and repeats', async ({ world }) => {
    const id = await world.create({ name: 'r', retryAfter: '+1 SECOND', repeat: 'FINISHED, +1 HOUR' });
    await world.get('r');
    await world.advance(second);
    await world.get('r');
    await world.json('FinishJob', { jobID: id, data: { done: 1, retryAfterCount: 1 } });
    expect((await world.query(id)).data).toEqual({ done: 1 });
  });

  test('applies only if the next repeat is later', async ({ world }) => {
    const soon = await world.create({ name: 'soon', retryAfter: '+5 MINUTES', repeat: 'FINISHED, +1 MINUTE' });
    const late = await world.create({ name: 'late', retryAfter: '+5 MINUTES', repeat: 'FINISHED, +1 HOUR' });
    await world.get('soon');
    await world.get('late');
    expect((await world.query(soon)).nextRun).toBe(at(minute));
    expect((await world.query(late)).nextRun).toBe(at(5 * minute));
  });

  test('also applies to a repeating job that is behind its schedule', async ({ world }) => {
    const id = await world.create(
      { name: 'r', retryAfter: '+5 MINUTES', repeat: 'SCHEDULED, +1 MINUTE', firstRun: at(-60 * minute) },
    );
    await world.get('r');
    expect((await world.query(id)).nextRun).toBe(at(5 * minute));
    expect(await world.status('GetJob', { name: 'r' })).toBe(none);
  });

  test('keeps the phase of the schedule after lost workers', async ({ world }) => {
    const id = await world.create({ name: 'r', retryAfter: '+7 MINUTES', repeat: 'SCHEDULED, +1 HOUR' });
    for (let n = 0; n < 3; n++) {
      await world.get('r');
      await world.advance(7 * minute);
    }
    await world.get('r');
    await world.json('FinishJob', { jobID: id });
    expect((await world.query(id)).nextRun).toBe(at(60 * minute));
  });

  test('applies several modifiers one after the other', async ({ world }) => {
    const id = await world.create({ name: 'r', retryAfter: '+1 HOUR, +5 MINUTES' });
    await world.get('r');
    expect((await world.query(id)).nextRun).toBe(at(65 * minute));
  });

  for (const { name: store, test: testOn } of both) {
    testOn(`a worker that answers late is heard while nobody else has the job, on ${store}`, async ({ world }) => {
      const finish = await world.running({ name: 'finish', retryAfter: '+1 MINUTE' });
      const retry = await world.running({ name: 'retry', retryAfter: '+1 MINUTE' });
      const fail = await world.running({ name: 'fail', retryAfter: '+1 MINUTE' });
      await world.advance(minute);
      // A request for another job detects the late ones.
      expect(await world.status('GetJob', { name: 'other' })).toBe(none);
      expect(await world.events(finish)).toEqual(['created', 'claimed', 'lapsed']);
      await world.json('FinishJob', { jobID: finish, data: { late: true } });
      await world.json('RetryJob', { jobID: retry });
      await world.json('FailJob', { jobID: fail });
      expect([await world.state(finish), await world.state(retry), await world.state(fail)]).toEqual(
        ['gone', 'QUEUED', 'FAILED'],
      );
      expect(await world.status('FinishJob', { jobID: retry })).toBe(
        '405 Can only retry/finish RUNNING and RUNQUEUED jobs',
      );
    });
  }

  test('is replaced by UpdateJob with nextRun', async ({ world }) => {
    const id = await world.running({ name: 'r', retryAfter: '+1 MINUTE' });
    await world.json('UpdateJob', { jobID: id, data: { a: 1 }, nextRun: at(10 * minute) });
    expect((await world.query(id)).nextRun).toBe(at(10 * minute));
    await world.advance(9 * minute);
    expect(await world.status('GetJob', { name: 'r' })).toBe(none);
    await world.advance(minute);
    expect((await world.get('r')).jobID).toBe(id);
  });
});

describe('CrashBedrockJob', () => {
  test('makes jobs fail instead of being handed out, until it is cleared', async ({ world }) => {
    await world.json('CrashBedrockJob', { names: 'www/Bad*, other' });
    const bad = await world.create({ name: 'www/BadWorker', repeat: 'DAILY' });
    const good = await world.create({ name: 'www/Good' });
    const { jobs } = await world.json<{ jobs: Handed[] }>('GetJobs', { name: 'www/*', numResults: 5 });
    expect(jobs.map(({ jobID }) => jobID)).toEqual([good]);
    expect(await world.state(bad)).toBe('FAILED');
    expect((await world.job(bad)).error?.message).toContain('www/Bad*');
    const { plugins } = await world.json<{ plugins: object[] }>('Status');
    expect(plugins).toMatchObject(
      [{ name: 'Jobs', crashedBedrockJobs: 2, crashedBedrockJobList: ['www/Bad*', 'other'] }],
    );
    await world.json('ClearCrashedBedrockJobs');
    await world.create({ name: 'www/BadWorker' });
    expect((await world.get('www/Bad*')).name).toBe('www/BadWorker');
  });

  test('gives an empty reply when there is no other job', async ({ world }) => {
    await world.json('CrashBedrockJob', { names: 'x' });
    await world.create({ name: 'x' });
    expect((await world.ask('GetJob', { name: 'x' })).body).toBe('{}');
    await world.create({ name: 'x' });
    expect((await world.ask('GetJobs', { name: 'x', numResults: 2 })).body).toBe('{"jobs":[]}');
    expect(await world.status('CrashBedrockJob')).toBe('402 Missing names');
    expect(await world.status('CrashBedrockJob', { names: 'a*b*c*d*e*f*g*h*i*' })).toBe('402 Malformed names');
  });
});

test('a job that an operator has cancelled is not handed out', async ({ world }) => {
  const first = await world.create({ name: 'x' });
  const second_ = await world.create({ name: 'x' });
  await world.jobs.stop(first, { by: 'operator' });
  expect((await world.get('x')).jobID).toBe(second_);
});
