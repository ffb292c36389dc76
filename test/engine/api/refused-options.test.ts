// What a user misspells, forgets or promises in vain is refused with a sentence that says what to do.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cron, Engine, every, jobDef, jobType } from '../../../src/index.ts';
import { refused } from './kit.ts';

const run = () => null;
const plain = jobType('plain', { run });
const typed = jobType('typed', { input: z.object({ year: z.number() }), run });

describe('an unknown option is refused with the nearest known name', () => {
  const misspelt: readonly [string, () => unknown, RegExp][] = [
    ['of a type', () => jobType('x', { run, onePertype: true } as never), /did you mean onePerType\?/],
    ['of retry', () => jobType('x', { run, retry: { maxAttempts: 9 } as never }), /did you mean attempts\?/],
    ['of a limit', () => jobType('x', { run, limit: { keys: 'a', concurrency: 1 } as never }), /did you mean key\?/],
    ['of a definition', () => jobDef('x', plain, { schedule: every('1h') } as never), /did you mean schedules\?/],
    ['of misfire', () => jobDef('x', plain, { misfire: { polcy: 'all' } as never }), /did you mean policy\?/],
    ['of a schedule', () => cron('0 0 * * *', { zoen: 'UTC' } as never), /did you mean zone\?/],
    ['of an engine', () => new Engine({ store: 'memory:', typs: [] } as never), /did you mean types\?/],
  ];
  test.each(misspelt)('%s', (_, act, message) => expect(act).toThrow(message));
});

test('a limit of a type without a key is refused with the option that limits all runs', () => {
  expect(() => jobType('x', { run, limit: { concurrency: 1 } as never })).toThrow(/needs a key.*use concurrency of the type/);
});

test('of a run and its unique key', async () => {
  await using engine = new Engine({ store: 'memory:' });
  await expect(engine.createJobRun(plain, { prioritty: 1 } as never)).rejects.toThrow(/did you mean priority\?/);
  await expect(engine.createJobRun(plain, { unique: { ky: 'a' } as never })).rejects.toThrow(/did you mean key\?/);
  expect((await engine.find()).jobs).toEqual([]);
});

describe('a setting out of bounds is refused by the name that its caller wrote', () => {
  const wrong: readonly [object, RegExp][] = [
    [{ retry: { attempts: 0 } }, /^cannot take attempts in .* from 1 to 1000000$/],
    [{ retry: { crashes: -1 } }, /^cannot take crashes in/],
    [{ retry: { base: '366d' } }, /^cannot take base in/],
    [{ retry: { max: '366d' } }, /^cannot take max in/],
    [{ retry: { base: '3s', max: '2s' } }, /^cannot take max in .*: 2000 ms is below base, which is 3000 ms$/],
    [{ concurrency: 0 }, /^(the )?concurrency .*must be a whole number/],
  ];

  test.each(wrong)('%j', async (settings, sentence) => {
    expect(() => jobType('x', { run, ...settings })).toThrow(sentence);
    expect(() => jobDef('x', plain, settings)).toThrow(sentence);
    await using engine = new Engine({ store: 'memory:', defs: [jobDef('nightly', plain)] });
    await engine.resume();
    await expect(engine.define('x', 'plain', settings)).rejects.toThrow(sentence);
    await expect(engine.override('nightly', settings)).rejects.toThrow(sentence);
  });
});

test('a run of nothing is refused', async () => {
  await using engine = new Engine({ store: 'memory:' });
  expect(await refused(engine.createJobRun(undefined as unknown as typeof plain))).toBe('malformed.option');
  expect(await refused(engine.createJobRuns(null as unknown as typeof plain, [{}]))).toBe('malformed.option');
});

describe('an input that JSON cannot hold is refused when the type is declared', () => {
  const kinds: readonly [string, z.ZodType, RegExp][] = [
    ['a date', z.object({ at: z.date() }), /at in the input of job type x is a date.*z\.iso\.datetime\(\)/],
    ['a bigint in a list', z.object({ list: z.array(z.object({ n: z.bigint() })) }), /is a bigint/],
    ['a map', z.object({ m: z.map(z.string(), z.string()) }), /is a map.*z\.record\(\)/],
    ['nothing', z.void(), /leave input out/],
  ];
  test.each(kinds)('%s', (_, input, message) => {
    expect(() => jobType('x', { input, run })).toThrow(message);
  });

  test('what is made of JSON is not', () => {
    const input = z.object({
      coerced: z.coerce.date(), made: z.preprocess((value) => new Date(String(value)), z.date()),
      either: z.union([z.string(), z.date()]), custom: z.custom<string>(),
    });
    expect(jobType('x', { input, run }).name).toBe('x');
  });
});

test('an engine that is closed refuses reads and writes', async () => {
  const engine = new Engine({ store: 'sqlite::memory:', types: [plain] });
  await engine.resume();
  await engine.close();
  const asks = [() => engine.createJobRun(plain), () => engine.find(), () => engine.get(1), () => engine.definitions()];
  for (const ask of asks) expect(await refused(ask() as Promise<unknown>)).toBe('unavailable.store');
});

test('parameters of a definition must fit its type, in code too', () => {
  expect(() => jobDef('x', typed, { params: { year: 'soon' as never } })).toThrow(/year/);
  // @ts-expect-error -- a definition with schedules needs parameters
  expect(() => jobDef('x', typed, { schedules: every('1h') })).toThrow(/the input of typed is invalid/);
  expect(jobDef('x', typed).spec.params).toBeNull();
});

test('definitions of a type that runs one at a time cannot be in memory', () => {
  const alone = jobType('alone', { onePerType: true, run });
  expect(() => jobDef('x', alone, { inMemory: true })).toThrow(/leave out inMemory/);
  const defs = [jobDef('locks', plain, { onePerType: true }), jobDef('in memory', plain, { inMemory: true })];
  expect(() => new Engine({ store: 'memory:', defs })).toThrow(/leave out inMemory/);
});

test('one definition with onePerType locks its type for all runs of it', async () => {
  const waiting = jobType('waiting', { run: ({ signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  }) });
  const [locks, other] = [jobDef('locks', waiting, { onePerType: true }), jobDef('other', waiting)];
  await using engine = new Engine({ store: 'memory:', defs: [locks, other] });
  await engine.resume();
  const first = await engine.createJobRun(other);
  for (const what of [locks, other, waiting]) expect(await refused(engine.createJobRun(what))).toBe('busy.type');
  await first.stop();
});

test('a definition is not taken for a run', async () => {
  await using engine = new Engine({ store: 'memory:', defs: [jobDef('nightly', plain, { schedules: every('1h') })] });
  await engine.resume();
  const { job: { id } } = await engine.definition('nightly');
  expect((await engine.find({ standings: ['pending'] })).jobs).toEqual([]);
  const acts = [
    () => engine.get(id), () => engine.cancelJobRun(id), () => engine.stopJobRun(id), () => engine.deleteJobRun(id),
    () => engine.retryJobRun(id), () => engine.pauseJobRun(id), () => engine.resumeJobRun(id),
    () => engine.editJobRun(id, { priority: 1 }),
  ];
  for (const act of acts) expect(await refused(act() as Promise<unknown>)).toBe('unknown.job');
  expect((await engine.definition('nightly')).isEnabled).toBe(true);
});
