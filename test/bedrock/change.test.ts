// UpdateJob, CancelJob, DeleteJob and RequeueJobs.
import { describe, expect } from 'vitest';
import { apply } from '../../src/apply.ts';
import type { Fields } from './client.ts';
import { at, both, hour, minute, onSqlite as test, second } from './world.ts';

describe('UpdateJob', () => {
  test.for<[string, Fields, string]>([
    ['no data', {}, '402 Missing data'],
    ['empty data', { data: '' }, '402 Missing data'],
    ['data that is no JSON', { data: '{broken' }, '402 Malformed data'],
    ['a repeat that is none', { data: '{}', repeat: 'x' }, '402 Malformed repeat'],
    ['a priority that is none', { data: '{}', jobPriority: 7 }, '402 Invalid priority value'],
    ['a time that is none', { data: '{}', nextRun: 'x' }, '402 Malformed nextRun'],
    [
      'a repeat from a start that never was',
      { data: '{}', repeat: 'STARTED, +1 HOUR' },
      '400 Unique Constraints Violation',
    ],
  ])('refuses %s, and changes nothing', async ([, fields, status], { world }) => {
    const id = await world.create({ name: 'x', data: { a: 1 } });
    expect(await world.status('UpdateJob', { jobID: id, ...fields })).toBe(status);
    expect(await world.events(id)).toEqual(['created']);
  });

  test('reports errors in the same order as the original', async ({ world }) => {
    const all: Fields = { data: '', repeat: 'x', jobPriority: 7, nextRun: 'x' };
    const statuses: string[] = [];
    const data = '{}';
    const mended: Fields[] = [{}, { data }, { data, repeat: '' }, { data, repeat: '', jobPriority: 0 }];
    for (const fields of mended.map((part) => ({ ...all, ...part }))) {
      statuses.push(await world.status('UpdateJob', { jobID: 4711, ...fields }));
    }
    expect(statuses).toEqual(
      ['402 Missing data', '402 Malformed repeat', '402 Invalid priority value', '402 Malformed nextRun'],
    );
    expect(await world.status('UpdateJob', { jobID: 4711, data: '{}' })).toBe('404 No job with this jobID');
  });

  test('replaces data, also by a value that is not an object', async ({ world }) => {
    const id = await world.create({ name: 'x', data: { a: 1 } });
    for (const data of ['{"b":2}', '[1,2]', '"text"', '7', '{ "kept" : "as it is" }']) {
      await world.json('UpdateJob', { jobID: id, data });
      expect((await world.ask('QueryJob', { jobID: id })).body).toContain(`"data":${data},"jobID"`);
    }
    expect(await world.status('GetJob', { name: 'x' })).toBe('200 OK');
  });

  test('keeps the mark of mocks and does not add it to other jobs', async ({ world }) => {
    const mock = await world.create({ name: 'm', mockRequest: '1' });
    const real = await world.create({ name: 'r' });
    await world.json('UpdateJob', { jobID: mock, data: { a: 1 } });
    await world.json('UpdateJob', { jobID: real, data: { a: 1, mockRequest: true } });
    expect([(await world.query(mock)).data, (await world.query(real)).data]).toEqual(
      [{ a: 1, mockRequest: true }, { a: 1 }],
    );
  });

  test('sets the repeat, and the next run by it unless nextRun is given', async ({ world }) => {
    const id = await world.create({ name: 'x', firstRun: at(hour) });
    const update = async (fields: Fields) => {
      await world.json('UpdateJob', { jobID: id, data: {}, ...fields });
      const { repeat, nextRun } = await world.query(id);
      return [repeat, nextRun];
    };
    expect(await update({ repeat: 'scheduled, +1 hour' })).toEqual(['SCHEDULED, +1 HOUR', at(2 * hour)]);
    expect(await update({ repeat: 'FINISHED, +5 MINUTES' })).toEqual(['FINISHED, +5 MINUTES', at(5 * minute)]);
    expect(await update({ repeat: 'DAILY', nextRun: at(minute) })).toEqual(['DAILY', at(minute)]);
    expect(await update({})).toEqual(['DAILY', at(minute)]);
    expect(await update({ repeat: '', nextRun: at(second) })).toEqual(['DAILY', at(second)]);
    expect(await update({ shouldClearRepeat: 'true' })).toEqual(['DAILY', at(second)]);
    expect(await update({ repeat: 'FINISHED, +7 MINUTES', shouldClearRepeat: 1 })).toEqual(['', at(7 * minute)]);
  });

  test('sets the priority', async ({ world }) => {
    const [low, high] = [await world.create({ name: 'x' }), await world.create({ name: 'x' })];
    await world.json('UpdateJob', { jobID: high, data: {}, jobPriority: 1000 });
    expect([(await world.get('x')).jobID, (await world.get('x')).jobID]).toEqual([high, low]);
  });

  test('counts STARTED from the last start of a job that ran', async ({ world }) => {
    const id = await world.running({ name: 'x' });
    await world.advance(minute);
    await world.json('UpdateJob', { jobID: id, data: {}, repeat: 'STARTED, +1 HOUR' });
    expect(await world.query(id)).toMatchObject({ nextRun: at(hour), state: 'RUNNING' });
  });

  test('accepts a megabyte of data and no more', async ({ world }) => {
    const id = await world.create({ name: 'x' });
    const data = (size: number): string => `"${'d'.repeat(size - 2)}"`;
    await world.json('UpdateJob', { jobID: id, data: data(1_048_576) });
    expect((await world.query(id)).data).toHaveLength(1_048_574);
    expect(await world.status('UpdateJob', { jobID: id, data: data(1_048_577) })).toBe('402 Malformed data');
    world.client.send(`UpdateJob\njobID: ${id}\ndata: ${data(4_194_305)}\n\n`);
    expect((await world.client.answer()).status).toBe('413 Request too large');
  });
});

describe('CancelJob', () => {
  test('ignores text after the verb', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent });
    expect(await world.status('CancelJob / HTTP/1.1', { jobID: child })).toBe('200 OK');
    expect([await world.state(child), await world.state(parent)]).toEqual(['CANCELLED', 'QUEUED']);
  });

  test('of the last open child resumes the parent; of another child it does not', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const [one, two] = [
      await world.create({ name: 'c', parentJobID: parent }), await world.create({ name: 'c', parentJobID: parent }),
    ];
    await world.json('FinishJob', { jobID: parent });
    await world.json('CancelJob', { jobID: one });
    expect(await world.state(parent)).toBe('PAUSED');
    await world.json('CancelJob', { jobID: two });
    expect(await world.state(parent)).toBe('QUEUED');
  });

  test('of a failed child shows the child to its parent as cancelled', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent });
    await world.get('c');
    await world.json('FailJob', { jobID: child });
    await world.json('CancelJob', { jobID: child });
    expect(await world.get('p')).toMatchObject({ cancelledChildJobs: [{ jobID: child }], finishedChildJobs: [] });
  });
});

describe('DeleteJob', () => {
  test('removes the job and its history', async ({ world }) => {
    const id = await world.create({ name: 'x', unique: 'true' });
    await world.json('DeleteJob', { jobID: id });
    expect([await world.state(id), await world.events(id)]).toEqual(['gone', []]);
    expect(await world.create({ name: 'x', unique: 'true' })).not.toBe(id);
  });

  test('of the last open child resumes the parent', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent });
    await world.json('DeleteJob', { jobID: child });
    expect(await world.state(parent)).toBe('QUEUED');
  });

  test('of a parent is refused while it has open children, which could never be released', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('RetryJob', { jobID: parent });
    expect(await world.status('DeleteJob', { jobID: parent })).toBe(
      `405 Can't delete a parent jobs with children running`,
    );
    await world.json('RequeueJobs', { jobIDs: child });
    await world.json('DeleteJob', { jobID: child });
    await world.json('DeleteJob', { jobID: parent });
  });
});

describe('RequeueJobs', () => {
  test('of an ended child does not let it outlive its parent, which fails later', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const child = await world.create({ name: 'c', parentJobID: parent });
    await world.json('FinishJob', { jobID: parent });
    await world.json('FinishJob', { jobID: (await world.get('c')).jobID });
    await world.get('p');
    await world.json('RequeueJobs', { jobIDs: child });
    expect(await world.state(child)).toBe('QUEUED');
    await world.json('FailJob', { jobID: parent });
    expect(await world.state(child)).toBe('CANCELLED');
  });

  test('of a child reopens its failed parent, and frees the children that waited for it', async ({ world }) => {
    const parent = await world.running({ name: 'p' });
    const requeued = await world.create({ name: 'c', parentJobID: parent });
    const other = await world.create({ name: 'c', parentJobID: parent });
    const { fence } = await world.job(parent);
    // As if the server had crashed between the end of the parent and the end of its children.
    const error = { code: 'unknown', message: 'broken' } as const;
    await apply(world.store, parent, { do: 'fail', fence, error, retryable: false }, { by: 'test' });
    await world.json('RequeueJobs', { jobIDs: requeued });
    expect(await world.job(parent)).toMatchObject({ state: 'held', hold: 'children' });
    const handedOut = [await world.get('c'), await world.get('c')].map(({ jobID }) => jobID);
    expect(new Set(handedOut)).toEqual(new Set([requeued, other]));
    for (const jobID of handedOut) await world.json('FinishJob', { jobID });
    expect(await world.state(parent)).toBe('QUEUED');
  });

  test('accepts any list and skips jobs that do not exist', async ({ world }) => {
    const [one, two] = [await world.running({ name: 'x' }), await world.create({ name: 'y', firstRun: at(hour) })];
    for (const jobIDs of ['', 'abc', '99', `${one}, 77,${two},-3,9223372036854775807`]) {
      expect(await world.ask('RequeueJobs', { jobIDs })).toMatchObject({ status: '200 OK', body: '' });
    }
    expect(await world.query(one)).toMatchObject({ state: 'QUEUED', nextRun: at(0) });
    expect(await world.query(two)).toMatchObject({ state: 'QUEUED', nextRun: at(0) });
    expect(await world.status('RequeueJobs')).toBe('200 OK');
  });

  test('renames all listed jobs', async ({ world }) => {
    const ids = [await world.running({ name: 'x' }), await world.create({ name: 'y' })];
    await world.json('RequeueJobs', { jobIDs: ids.join(), name: 'z' });
    expect((await world.json<{ jobs: object[] }>('GetJobs', { name: 'z', numResults: 5 })).jobs).toHaveLength(2);
    expect(await world.status('RequeueJobs', { jobIDs: ids.join(), name: 'n'.repeat(256) })).toBe('402 Malformed name');
  });

  test('does not count the hand-out that it releases', async ({ world }) => {
    const id = await world.running({ name: 'r', retryAfter: '+1 HOUR' });
    expect((await world.query(id)).data).toEqual({ retryAfterCount: 1 });
    await world.json('RequeueJobs', { jobIDs: id, decrementFailures: 'true' });
    expect((await world.query(id)).data).toEqual({});
  });

  for (const { name, test: testOn } of both) {
    testOn(`requeues a failed job, on ${name}`, async ({ world }) => {
      const id = await world.running({ name: 'x', unique: 'true' });
      await world.json('FailJob', { jobID: id });
      await world.json('RequeueJobs', { jobIDs: id });
      expect((await world.get('x')).jobID).toBe(id);
      await world.json('FinishJob', { jobID: id });
    });
  }
});
