// The decisions where the sources differ: one test for each line of the specification's first table.
import { describe, expect } from 'vitest';
import { at, both, hour, minute, onSqlite as test } from './world.ts';

describe('the decided behaviour of the Bedrock protocol', () => {
  test('replies have nine, ten or eleven keys, as in the current version', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    await world.create({ name: 'c', parentJobID: parent });
    expect(Object.keys(await world.query(parent))).toHaveLength(10);
    await world.json('FinishJob', { jobID: parent });
    const child = await world.get('c');
    expect(Object.keys(child)).toHaveLength(11);
    await world.json('FinishJob', { jobID: child.jobID });
    expect(Object.keys(await world.get('p'))).toHaveLength(11);
    await world.create({ name: 'x' });
    expect(Object.keys(await world.get('x'))).toHaveLength(9);
  });

  test('Connection: wait waits, on GetJob and GetJobs', async ({ world }) => {
    const worker = await world.connect();
    const first = worker.ask('GetJob', { name: 'x', Connection: 'wait', timeout: 60_000 });
    await world.waiting(1);
    const id = await world.create({ name: 'x' });
    expect(JSON.parse((await first).body)).toMatchObject({ jobID: id });
    const second_ = worker.ask('GetJobs', { name: 'x', numResults: 3, Connection: 'wait', timeout: 1000 });
    await world.waiting(1);
    await world.advance(1000);
    expect((await second_).status).toBe('404 No job found');
  });

  test('Connection: wait is ignored on every other command', async ({ world }) => {
    const wait = { Connection: 'wait', timeout: 60_000 };
    const id = await world.create({ name: 'x', ...wait });
    await world.get('x', {});
    for (const verb of ['QueryJob', 'RetryJob', 'DeleteJob']) await world.json(verb, { jobID: id, ...wait });
  });

  test('HOURLY, DAILY and WEEKLY count from the end of the last run', async ({ world }) => {
    const expected = { HOURLY: hour, DAILY: 24 * hour, WEEKLY: 7 * 24 * hour };
    for (const [repeat, ms] of Object.entries(expected)) {
      const id = await world.running({ name: repeat, repeat });
      await world.json('FinishJob', { jobID: id });
      expect((await world.query(id)).nextRun).toBe(at(ms));
    }
  });

  test('missed SCHEDULED repeats are caught up', async ({ world }) => {
    const id = await world.create({ name: 'x', repeat: 'SCHEDULED, +1 MINUTE', firstRun: at(-3 * minute) });
    const runs: unknown[] = [];
    while ((await world.query(id)).nextRun <= at(0)) {
      runs.push((await world.get('x'))['nextRun']);
      await world.json('FinishJob', { jobID: id });
    }
    expect(runs).toEqual([at(-3 * minute), at(-2 * minute), at(-minute), at(0)]);
  });

  test('retryAfter can be combined with repeat, with unique and with children', async ({ world }) => {
    const parent = await world.running({ name: 'p', retryAfter: '+1 HOUR', repeat: 'DAILY', unique: 'true' });
    expect(await world.state(parent)).toBe('RUNQUEUED');
    const child = await world.create({ name: 'c', parentJobID: parent });
    expect(await world.state(child)).toBe('PAUSED');
    await world.json('FinishJob', { jobID: parent });
    expect([await world.state(parent), await world.state(child)]).toEqual(['PAUSED', 'QUEUED']);
  });

  test('a FAILED child counts as ended', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent });
    await world.get('c');
    await world.json('FailJob', { jobID: child });
    expect(await world.get('p')).toMatchObject({ failedChildJobs: [{ jobID: child }] });
    await world.json('FinishJob', { jobID: parent });
    expect(await world.state(child)).toBe('FAILED');
    await world.json('DeleteJob', { jobID: child });
  });

  test('ids of jobs are small and increase', async ({ world }) => {
    const ids = [
      await world.create({ name: 'x' }), await world.create({ name: 'x' }), await world.create({ name: 'x' }),
    ];
    expect(ids).toEqual([1, 2, 3]);
  });

  test('a job whose worker died stays RUNNING, is shown, and can be released', async ({ world }) => {
    const worker = await world.connect();
    const id = await world.create({ name: 'x' });
    await worker.ask('GetJob', { name: 'x' });
    await worker.ask('Ping');
    await worker.close();
    await world.settle();
    world.clock.jump(24 * hour);
    expect(await world.state(id)).toBe('RUNNING');
    const [stuck] = (await world.jobs.find({ kinds: ['bedrock'], standings: ['running'] })).jobs;
    expect(stuck).toMatchObject(
      { id, lease: { holder: expect.stringMatching(/^bedrock 127\.0\.0\.1:\d+$/), until: null } },
    );
    await world.jobs.requeue(id, world.clock.now(), { by: 'operator' });
    expect((await world.get('x')).jobID).toBe(id);
  });

  test('malformed values are refused and never stored', async ({ world }) => {
    const id = await world.running({ name: 'x' });
    expect(await world.status('FailJob', { jobID: id, data: 'broken' })).toBe('402 Malformed data');
    expect(await world.status('RetryJob', { jobID: id, nextRun: 'garbage' })).toBe('402 Malformed nextRun');
    expect(await world.status('UpdateJob', { jobID: id, data: '{}', repeat: 'garbage' })).toBe('402 Malformed repeat');
    expect(await world.status('CreateJob', { name: 'x', firstRun: 'garbage' })).toBe('402 Malformed firstRun');
  });

  test('no stored job prevents others from being handed out', async ({ world }) => {
    // Backwards by a thousand years each time: after a while its rule leads out of the calendar.
    const odd = await world.create(
      { name: 'odd', repeat: 'SCHEDULED, -999 YEARS', retryAfter: '+1 MINUTE', firstRun: '0500-01-01' },
    );
    expect((await world.get('o*')).jobID).toBe(odd);
    const other = await world.create({ name: 'other' });
    expect((await world.get('o*')).jobID).toBe(other);
    expect(await world.status('FinishJob', { jobID: odd })).toBe('402 Malformed repeat');
    await world.json('FinishJob', { jobID: odd, ignoreRepeat: 1 });
  });

  test('times have the form of a date, or of a date with seconds or milliseconds', async ({ world }) => {
    const nextRuns: string[] = [];
    for (const firstRun of ['2027-01-02', '2027-01-02 03:04:05', '2027-01-02 03:04:05.678']) {
      nextRuns.push((await world.query(await world.create({ name: 'x', firstRun }))).nextRun);
    }
    expect(nextRuns).toEqual(['2027-01-02 00:00:00', '2027-01-02 03:04:05', '2027-01-02 03:04:05']);
    for (const firstRun of ['2027-01-02T03:04:05', '2027-1-2', '2027-01-02 03:04', '1', 'now', '2027-01-02 25:00:00']) {
      expect(await world.status('CreateJob', { name: 'x', firstRun })).toBe('402 Malformed firstRun');
    }
  });

  test('names are strings and numbers are numbers', async ({ world }) => {
    await world.create({ name: '123', data: { n: 1 } });
    expect(await world.get('123')).toMatchObject({ name: '123', jobID: 1, priority: 500, data: { n: 1 } });
  });

  test('pipelined requests are answered in order, at once', async ({ world }) => {
    world.client.send('CreateJob\nname: a\n\nGetJob\nname: a\n\nFinishJob\njobID: 1\n\nQueryJob\njobID: 1\n\n');
    expect((await world.client.answers(4)).map(({ status }) => status)).toEqual(
      ['200 OK', '200 OK', '200 OK', '404 No job with this jobID'],
    );
  });

  test('Query reads, and writes are unauthorized', async ({ world }) => {
    expect(await world.json('Query', { query: 'SELECT COUNT(*) FROM jobs;' })).toEqual([[0]]);
    expect(await world.status('Query', { query: 'DELETE FROM jobs WHERE jobID > 0;' })).toBe('401 Unauthorized');
  });

  test('commitCount is ignored and never sent, nor is processTime', async ({ world }) => {
    const { status, headers } = await world.ask('CreateJob', { name: 'x', commitCount: 999_999 });
    expect(status).toBe('200 OK');
    expect(Object.keys(headers)).toEqual(['Content-Length']);
  });

  test('a request that is too large is refused and the connection closed', async ({ world }) => {
    world.client.send(`${'x'.repeat(4097)}\n\n`);
    expect((await world.client.answer()).status).toBe('413 Request too large');
    expect(await world.client.answerOrEnd()).toBeNull();
  });

  test('the method line of the original\'s own tests works', async ({ world }) => {
    expect(await world.status('CreateJob / HTTP/1.1', { name: 'x' })).toBe('200 OK');
  });
});

for (const { name, test: testOn } of both) {
  testOn(`a job whose reply cannot be delivered is released without counting, on ${name}`, async ({ world }) => {
    const id = await world.create({ name: 'x', retryAfter: '+1 HOUR', data: { a: 1 } });
    for (let n = 0; n < 5; n++) {
      const worker = await world.connect();
      await worker.leaveAfter('GetJob\nname: x\n\n');
    }
    let answer = '';
    await world.until(async () => {
      await world.advance(100);
      answer = (await world.ask('GetJob', { name: 'x' })).body;
      return answer !== '';
    });
    expect(JSON.parse(answer)).toMatchObject({ jobID: id, data: { a: 1 } });
  });
}
