// Bad input: whatever is malformed is refused with a code and a sentence, and nothing of it is stored.
import { afterEach, describe, expect } from 'vitest';
import type { Draft } from '../../src/jobs/draft.ts';
import type { JobError } from '../../src/model/job.ts';
import { refusalCodes } from '../../src/refusal.ts';
import { stores } from '../support/stores.ts';
import { badInput, mebibyte, nested, timeMax, type Row, type Scene } from './bad-input.ts';
import { refusalOf, startOfTime, tester, testOn, type World } from './world.ts';

const prototypeNames = Object.getOwnPropertyNames(Object.prototype);

/** Nobody has written to what every object inherits. */
afterEach(() => {
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(prototypeNames);
});

async function sceneIn(world: World): Promise<Scene> {
  const waiting = await world.create({ type: 'waiting', unique: { key: 'taken' } });
  return { world, waiting, running: await world.running() };
}

/** All that is stored, as far as it can be seen. */
async function everything({ world, waiting, running }: Scene): Promise<object> {
  return {
    jobs: await world.everyJob(),
    histories: [await world.jobs.history(waiting.id), await world.jobs.history(running.id)],
    feed: (await world.jobs.events(null)).events,
    count: await world.count(),
    keys: await world.store.jobsByKey(['taken', 'k']),
  };
}

async function checkRefused(row: Row, scene: Scene): Promise<void> {
  const refusal = await refusalOf(row.ask(scene)).catch((error: unknown) => {
    throw new Error(`${row.title}: ${String(error)}`, { cause: error });
  });
  expect(refusalCodes, row.title).toHaveProperty([refusal.code]);
  expect(refusal.code, `${row.title}: ${refusal.message}`).toBe(row.code);
  expect(refusal.message, row.title).toMatch(/^[A-Za-z0-9].{14,500}$/su);
  expect(refusal.message, row.title).not.toMatch(/undefined|\[object|SQL|at src\//);
  expect(JSON.stringify(refusal.detail).length, `${row.title}: little of it is said again`).toBeLessThan(1000);
}

describe('bad input is refused with a code and a sentence', () => {
  const test = testOn(stores[0]!);

  describe.each(Object.entries(badInput))('%s', (_, rows) => {
    test.for(rows)('$title', async (row, { world }) => {
      const scene = await sceneIn(world);
      const before = await everything(scene);
      await checkRefused(row, scene);
      expect(await everything(scene), 'nothing is stored').toEqual(before);
    });
  });
});

describe.each(stores.slice(1))('bad input on $name', (kind) => {
  const test = testOn(kind);

  test.for(Object.entries(badInput))('nothing of it is stored: %s', async ([, rows], { world }) => {
    const scene = await sceneIn(world);
    const before = await everything(scene);
    for (const row of rows) await checkRefused(row, scene);
    expect(await everything(scene)).toEqual(before);
  });
});

describe.each(stores)('what is just within the limits on $name', (kind) => {
  const test = testOn(kind);

  const within: Partial<Draft>[] = [
    { type: 'x'.repeat(255) },
    { type: '😀'.repeat(63) },
    { type: '__proto__' },
    { type: 'constructor' },
    { def: 'ü'.repeat(127), key: 'x'.repeat(512), limitKey: 'é'.repeat(256) },
    { key: 'with\nlines\tand "quotes" \\ \u0001' },
    { priority: 1_000_000 },
    { priority: -1_000_000 },
    { due: 0 },
    { due: timeMax },
    { input: nested(64) },
    { input: 'a'.repeat(mebibyte - 2) },
    { inputText: `"${'ü'.repeat(mebibyte / 2 - 1)}"` },
    { input: { proto: 1, Constructor: 2, '': 3, toString: 4 } },
    { unique: { key: 'y'.repeat(512), forMs: timeMax } },
    { tags: Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`tag ${n}`, 'v'.repeat(255)])) },
    { tags: { toString: 'x', hasOwnProperty: '', "'; drop table job; --": '%_\\' } },
    { policy: { attemptsMax: 1_000_000, crashesMax: 0, baseMs: 0, jitter: 1, timeoutMs: 0, retentionMs: timeMax } },
    { policy: { onTaskFailure: { toleratePercent: 99.5 }, repeat: 'daily', retryAfter: '' } },
  ];

  test('is accepted, stored and found', async ({ world }) => {
    for (const part of within) {
      const job = await world.create(part);
      expect(await world.get(job)).toEqual(job);
    }
    expect(await world.count()).toBe(within.length);
    const { jobs } = world;
    expect((await jobs.find({ tags: { "'; drop table job; --": '%_\\' } })).jobs).toHaveLength(1);
    expect((await jobs.find({ types: ['__proto__', 'constructor'] })).jobs).toHaveLength(2);
    expect((await jobs.find({ input: { path: ['toString'], equals: 4 } })).jobs).toHaveLength(1);
    expect((await jobs.find({ glob: '?'.repeat(256) })).jobs).toHaveLength(0);
    expect((await jobs.find({ glob: '?'.repeat(255) })).jobs).toHaveLength(1);
  });

  test('a lease, a grace and a result at their limits are taken', async ({ world }) => {
    const job = await world.running({}, { leaseMs: timeMax - startOfTime });
    await world.jobs.cancel(job.id, { by: 'x'.repeat(255), why: 'y'.repeat(4096), code: 'server' }, timeMax);
    expect((await world.get(job)).cancel).toMatchObject({ stopAt: startOfTime + timeMax });
    const other = await world.running({ type: 'other' }, { leaseMs: 1 });
    const result = `"${'r'.repeat(mebibyte - 2)}"`;
    expect((await world.jobs.succeed(other, other.fence, tester, result)).result).toBe(result);
    expect((await world.get(other)).result).toBe(result);
  });

  test('the message of an error may contain any text, and is stored unchanged', async ({ world }) => {
    const error: JobError = {
      code: 'timed out',
      message: 'NUL \0, half \ud800, lines\n',
      data: { list: [1, null], when: 'now' },
      stack: 'at x\n'.repeat(100),
    };
    const job = await world.running();
    const failed = await world.jobs.fail(job, job.fence, error, tester, false);
    expect(failed.error).toEqual(error);
    expect(await world.get(job)).toEqual(failed);
  });
});
