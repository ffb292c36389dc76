// Runs for jobs of another system: each is created once and answered by itself, by the checks of every creation.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { jobType } from '../../../src/index.ts';
import type { ImportRequest } from '../../../src/engine/run-import.ts';
import { Door, start, type TestEngine } from './kit.ts';

const mail = jobType('mail', { input: z.object({ n: z.number() }), retention: '1h', run: ({ input }) => input.n });

const request = (n: unknown, more: Partial<ImportRequest> = {}): ImportRequest =>
  ({ input: { n }, unique: { key: `old ${String(n)}`, for: '365d' }, ...more });

const outcomes = async (t: TestEngine, requests: readonly ImportRequest[], dryRun = false, type = 'mail') =>
  (await t.engine.importJobRuns(type, requests, { dryRun }, 'ops'))
    .map((answer) => (answer.outcome === 'refused' ? answer.refusal.code : answer.outcome));

test('a refused job does not prevent the others, and a dry run says the same but stores nothing', async () => {
  const t = await start({ types: [mail] });
  const requests = [request(1), request('two'), request(3, { priority: 0.5 }), request(4, { attempts: 0 }), request(5)];
  const expected = ['created', 'malformed.input', 'malformed.number', 'malformed.number', 'created'];
  expect(await outcomes(t, requests, true)).toEqual(expected);
  expect(await t.runs()).toEqual([]);
  expect(await outcomes(t, requests)).toEqual(expected);
  expect((await t.runs()).map(({ input }) => input).toSorted()).toEqual(['{"n":1}', '{"n":5}']);
});

test('a repeated import finds the runs of the first, also those that have ended and were deleted since', async () => {
  const t = await start({ types: [mail] });
  expect(await outcomes(t, [request(1), request(2)])).toEqual(['created', 'created']);
  await t.drain();
  expect(await outcomes(t, [request(2), request(3)])).toEqual(['existing', 'created']);
  await t.advance('2d');
  expect(await t.runs()).toEqual([]);
  expect(await outcomes(t, [request(1), request(2), request(3)], true)).toEqual(['existing', 'existing', 'existing']);
  expect(await outcomes(t, [request(1), request(2), request(3)])).toEqual(['existing', 'existing', 'existing']);
});

test('a run has the attempts that are left, and the rest of the policy of its type', async () => {
  const flaky = jobType('flaky', {
    retry: { attempts: 9, base: '1s', jitter: 0 }, timeout: '1m', run: () => Promise.reject(new Error('no')),
  });
  const t = await start({ types: [flaky] });
  expect(await outcomes(t, [request(1, { attempts: 2 })], false, 'flaky')).toEqual(['created']);
  await t.advance('1h');
  expect(await t.runs()).toMatchObject([{ state: 'ended', fate: 'failed', attempt: 2, policy: { attemptsMax: 2, baseMs: 1_000, timeoutMs: 60_000 } }]);
});

test('a type that nobody has declared accepts any input, and a name that no type can have is refused for each job', async () => {
  const t = await start();
  expect(await outcomes(t, [request('two')], false, 'later')).toEqual(['created']);
  expect(await outcomes(t, [request(1), request(2)], false, 'no type')).toEqual(['malformed.name', 'malformed.name']);
});

test('a job that is due is refused while the only run of its type is running, as by every other way', async () => {
  const door = new Door();
  const alone = jobType('alone', { onePerType: true, run: () => door.pass() });
  const t = await start({ types: [alone] });
  await t.createJobRun(alone);
  await t.drain();
  expect(await outcomes(t, [request(1), request(2, { delay: '1d' })], false, 'alone')).toEqual(['busy.type', 'created']);
  door.open();
});

test('an error that a schema throws refuses its job only', async () => {
  const input = z.any().transform((value: { n: number }) => {
    if (value.n === 2) throw new TypeError('a bug');
    return value;
  });
  const t = await start({ types: [jobType('mail', { input, run: () => null })] });
  expect(await outcomes(t, [request(1), request(2)])).toEqual(['created', 'malformed.input']);
});

test('a request without a unique key, and one that follows runs, is refused', async () => {
  const t = await start({ types: [mail] });
  const requests = [{ input: { n: 1 } }, { ...request(2), after: [1] }] as ImportRequest[];
  expect(await outcomes(t, requests)).toEqual(['malformed.option', 'malformed.option']);
});
