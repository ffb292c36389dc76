// A worker that is late: the lease of its job has lapsed, and no other worker has the job yet.
import { describe, expect } from 'vitest';
import type { Fields } from './client.ts';
import { at, both, hour, minute, second, type BedrockWorld } from './world.ts';

/** A job that its worker has held for too long, after the server has noticed it. */
async function late(world: BedrockWorld, fields: Fields = {}): Promise<number> {
  const id = await world.running({ name: 'late', retryAfter: '+1 MINUTE', data: { a: 1 }, ...fields });
  await lapse(world);
  return id;
}

async function lapse(world: BedrockWorld): Promise<void> {
  await world.advance(minute + second);
  expect(await world.status('GetJob', { name: 'nothing' })).toBe('404 No job found');
}

async function handOutAgain(world: BedrockWorld, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await world.get('late');
    await lapse(world);
  }
}

for (const { name, test } of both) {
  describe(`a job whose worker is late, on ${name}`, () => {
    test('stays RUNQUEUED, and its nextRun is the end of its lease', async ({ world }) => {
      const id = await late(world);
      expect(await world.events(id)).toEqual(['created', 'claimed', 'lapsed']);
      expect(await world.query(id)).toMatchObject({
        state: 'RUNQUEUED', lastRun: at(0), nextRun: at(minute), data: { a: 1, retryAfterCount: 1 },
      });
      const again = { nextRun: at(minute), lastRun: at(0), data: { retryAfterCount: 1 } };
      expect(await world.get('late')).toMatchObject(again);
    });

    test('gets children, which wait until it is finished', async ({ world }) => {
      const id = await late(world);
      const child = await world.create({ name: 'child', parentJobID: id });
      expect(await world.state(child)).toBe('PAUSED');
      await world.json('FinishJob', { jobID: id });
      expect([await world.state(id), await world.state(child)]).toEqual(['PAUSED', 'QUEUED']);
      await world.get('child');
      await world.json('FinishJob', { jobID: child });
      expect(await world.get('late')).toMatchObject({ jobID: id, finishedChildJobs: [{ jobID: child }] });
    });

    test('gets children, which wait for the worker that has it next', async ({ world }) => {
      const id = await late(world);
      const child = await world.create({ name: 'child', parentJobID: id });
      expect((await world.get('late')).jobID).toBe(id);
      expect(await world.state(child)).toBe('PAUSED');
      await world.json('FinishJob', { jobID: id });
      expect(await world.state(child)).toBe('QUEUED');
    });

    test('is finished, retried or failed by its worker, also after the tenth hand-out', async ({ world }) => {
      const finished = await late(world);
      await world.json('FinishJob', { jobID: finished });
      expect(await world.state(finished)).toBe('gone');
      const failed = await late(world);
      await world.json('FailJob', { jobID: failed });
      expect(await world.query(failed)).toMatchObject({ state: 'FAILED', data: { a: 1, retryAfterCount: 1 } });
      const retried = await late(world);
      await handOutAgain(world, 9);
      expect((await world.query(retried)).data).toEqual({ a: 1, retryAfterCount: 10 });
      await world.json('RetryJob', { jobID: retried, delay: 5 });
      expect(await world.query(retried)).toMatchObject({ state: 'QUEUED', data: { a: 1 } });
      expect((await world.query(retried)).data).toEqual({ a: 1 });
    });

    test('repeats from the start of its run, and a schedule keeps its phase', async ({ world }) => {
      const started = await late(world, { name: 'late', repeat: 'STARTED, +1 HOUR' });
      await world.json('FinishJob', { jobID: started });
      expect(await world.query(started)).toMatchObject({ state: 'QUEUED', nextRun: at(hour) });
      const scheduled = await world.create(
        { name: 'slow', firstRun: at(30 * second), repeat: 'SCHEDULED, +1 HOUR', retryAfter: '+1 MINUTE' },
      );
      await world.get('slow');
      await lapse(world);
      await world.get('slow');
      await lapse(world);
      await world.json('FinishJob', { jobID: scheduled });
      expect(await world.query(scheduled)).toMatchObject({ nextRun: at(hour + 30 * second) });
    });

    test('keeps its count when it is requeued, and decrementFailures takes one off', async ({ world }) => {
      const id = await late(world);
      await handOutAgain(world, 1);
      await world.json('RequeueJobs', { jobIDs: String(id) });
      expect(await world.query(id)).toMatchObject({ state: 'QUEUED', nextRun: at(0), data: { retryAfterCount: 2 } });
      await world.json('RequeueJobs', { jobIDs: String(id), decrementFailures: 'true' });
      expect(await world.query(id)).toMatchObject({ state: 'QUEUED', data: { retryAfterCount: 1 } });
      const unheld = '405 Can only retry/finish RUNNING and RUNQUEUED jobs';
      expect(await world.status('FinishJob', { jobID: id })).toBe(unheld);
      await world.get('late');
      expect((await world.query(id)).data).toEqual({ a: 1, retryAfterCount: 2 });
      await world.json('RequeueJobs', { jobIDs: String(id), decrementFailures: 1 });
      expect((await world.query(id)).data).toEqual({ a: 1, retryAfterCount: 1 });
    });

    test('is due at the nextRun that UpdateJob sets, and its worker can still finish it', async ({ world }) => {
      const id = await late(world);
      await world.json('UpdateJob', { jobID: id, data: { b: 2 }, nextRun: at(hour) });
      expect(await world.query(id)).toMatchObject({ state: 'RUNQUEUED', nextRun: at(hour), data: { b: 2 } });
      expect(await world.status('GetJob', { name: 'late' })).toBe('404 No job found');
      await world.json('FinishJob', { jobID: id });
      expect(await world.state(id)).toBe('gone');
    });
  });

  describe(`the data of a hand-out, on ${name}`, () => {
    test('has originalNextRun if the job repeats by its schedule', async ({ world }) => {
      const id = await late(world, { repeat: 'scheduled, +1 day', firstRun: at(-5 * second) });
      const data = { a: 1, retryAfterCount: 1, originalNextRun: at(-5 * second) };
      expect((await world.query(id)).data).toEqual(data);
      expect((await world.get('late')).data).toEqual(data);
      expect((await world.query(id)).data).toEqual({ ...data, retryAfterCount: 2 });
      await world.json('FinishJob', { jobID: id });
      expect((await world.query(id)).data).toEqual({ a: 1 });
    });

    test('stays with a job that fails or is cancelled', async ({ world }) => {
      const failed = await late(world, { repeat: 'SCHEDULED, +1 DAY' });
      await world.get('late');
      await world.json('FailJob', { jobID: failed });
      expect((await world.query(failed)).data).toEqual({ a: 1, retryAfterCount: 2, originalNextRun: at(0) });

      const verbatim = await late(world);
      await world.json('FailJob', { jobID: verbatim, data: { b: 2 } });
      expect((await world.query(verbatim)).data).toEqual({ b: 2 });

      const parent = await world.running({ name: 'parent' });
      const child = await world.create({ name: 'late', parentJobID: parent, retryAfter: '+1 MINUTE', data: { c: 3 } });
      await world.create({ name: 'sibling', parentJobID: parent });
      await world.json('FinishJob', { jobID: parent });
      await world.get('late');
      await world.json('CancelJob', { jobID: child });
      expect(await world.query(child)).toMatchObject({ state: 'CANCELLED', data: { c: 3, retryAfterCount: 1 } });
    });

    test('stays with a job that was handed out too often, until it is requeued', async ({ world }) => {
      const id = await late(world);
      await handOutAgain(world, 9);
      expect(await world.json('GetJob', { name: 'late' })).toEqual({});
      expect(await world.query(id)).toMatchObject({ state: 'FAILED', data: { a: 1, retryAfterCount: 10 } });
      await world.json('RequeueJobs', { jobIDs: String(id) });
      expect((await world.query(id)).data).toEqual({ a: 1 });
      expect((await world.get('late')).jobID).toBe(id);
    });
  });

  describe(`a parent that waits for its children, on ${name}`, () => {
    test('has its lastRun as nextRun, also when they have ended', async ({ world }) => {
      await world.create({ name: 'parent' });
      await world.advance(90 * second);
      const parent = (await world.get('parent')).jobID;
      const child = await world.create({ name: 'child', parentJobID: parent });
      await world.advance(minute);
      await world.json('FinishJob', { jobID: parent });
      const lastRun = at(90 * second);
      expect(await world.query(parent)).toMatchObject({ state: 'PAUSED', lastRun, nextRun: lastRun });
      await world.get('child');
      await world.advance(minute);
      await world.json('FinishJob', { jobID: child });
      expect(await world.query(parent)).toMatchObject({ state: 'QUEUED', lastRun, nextRun: lastRun });
      expect(await world.get('parent')).toMatchObject({ jobID: parent, nextRun: lastRun });
    });

    test('is due at the nextRun that UpdateJob sets meanwhile', async ({ world }) => {
      const parent = await world.running({ name: 'parent' });
      const child = await world.create({ name: 'child', parentJobID: parent });
      await world.json('FinishJob', { jobID: parent });
      await world.json('UpdateJob', { jobID: parent, data: {}, nextRun: at(hour) });
      await world.get('child');
      await world.json('FinishJob', { jobID: child });
      expect(await world.query(parent)).toMatchObject({ state: 'QUEUED', nextRun: at(hour) });
      expect(await world.status('GetJob', { name: 'parent' })).toBe('404 No job found');
      await world.advance(hour);
      expect((await world.get('parent')).jobID).toBe(parent);
    });

    test('repeats by its schedule, whenever it was started', async ({ world }) => {
      await world.create({ name: 'parent', repeat: 'SCHEDULED, +1 HOUR' });
      await world.advance(minute);
      const parent = (await world.get('parent')).jobID;
      const child = await world.create({ name: 'child', parentJobID: parent });
      await world.json('FinishJob', { jobID: parent });
      await world.get('child');
      await world.json('FinishJob', { jobID: child });
      await world.get('parent');
      await world.json('FinishJob', { jobID: parent });
      expect(await world.query(parent)).toMatchObject({ state: 'QUEUED', nextRun: at(hour) });
    });
  });
}
