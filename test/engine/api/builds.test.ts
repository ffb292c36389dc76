// What several builds of a program declare: the newest that lives counts, and old code leaves new payloads to new code.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { cron, Engine, every, jobDef, jobType, limit } from '../../../src/index.ts';
import { typeDetail } from '../../../src/http/type-views.ts';
import { allTypes } from '../../../src/jobs/catalogue.ts';
import { Fleet as Instances } from './fleet.ts';
import { refused } from './kit.ts';

const plain = jobType('plain', { run: () => null });
const daily = (hour: number) => jobDef('daily', plain, { schedules: cron(`0 ${hour} * * *`) });

class Fleet extends Instances {
  hourOf = async (engine: Engine): Promise<string> => {
    const [schedule] = (await engine.definition('daily')).spec.schedules;
    return schedule!.kind === 'cron' ? schedule!.text.split(' ')[1]! : '';
  };
}

test('an old instance that restarts changes nothing while a newer build lives', async () => {
  const fleet = new Fleet();
  const old = await fleet.start({ build: 'old', defs: [daily(1)] });
  const newer = await fleet.start({ build: 'new', defs: [daily(2)] });
  expect(await fleet.hourOf(newer)).toBe('2');
  await fleet.passing(old.close());
  const again = await fleet.start({ build: 'old', defs: [daily(1)] });
  await fleet.advance(60_000);
  expect(await fleet.hourOf(newer)).toBe('2');
  await fleet.passing(newer.close());
  await fleet.advance(60_000);
  // Its last instance is gone: the next newest build counts again.
  expect(await fleet.hourOf(again)).toBe('1');
  await fleet.passing(again.close());
});

test('settings of the type come from its newest living build, and are resolved when a run is made', async () => {
  const fleet = new Fleet();
  const typed = (timeout: '1m' | '2m') => jobType('typed', { timeout, run: () => null });
  const old = await fleet.start({ build: 'old', types: [typed('1m')] });
  const server = await fleet.start({ build: 'server' });
  await server.define('made', 'typed', { schedules: every('10m') });
  expect((await server.definition('made')).spec.policy).toEqual({ timeoutMs: 60_000 });
  const newer = await fleet.start({ build: 'new', types: [typed('2m')] });
  await fleet.advance(2_000);
  const run = await server.createNamed({ def: 'made' }, {});
  expect((await run.get()).policy).toEqual({ timeoutMs: 120_000 });
  await fleet.advance(700_000);
  const { jobs } = await server.find({ def: 'made', kinds: ['run'] });
  expect(jobs.map(({ policy }) => policy)).toEqual([{ timeoutMs: 120_000 }, { timeoutMs: 120_000 }]);
  for (const engine of [old, server, newer]) await fleet.passing(engine.close());
});

test('another type under the name of a definition is refused while a living build declares it', async () => {
  const fleet = new Fleet();
  const first = await fleet.start({ build: 'a', defs: [jobDef('shared', plain)] });
  const other = jobDef('shared', jobType('other', { run: () => null }));
  expect(await refused(fleet.start({ build: 'b', defs: [other] }))).toBe('taken.key');
  await fleet.passing(first.close());
  const second = await fleet.start({ build: 'b', defs: [other] });
  expect((await second.definition('shared')).spec.type).toBe('other');
  await fleet.passing(second.close());
});

test('two definitions of one name in one engine are refused', () => {
  expect(() => new Engine({ store: 'memory:', defs: [daily(1), daily(2)] })).toThrow(/two definitions are named daily/);
});

test('a definition that no living build declares is marked, and stops if the engine is told so', async () => {
  const fleet = new Fleet();
  const ticking = jobDef('ticking', plain, { schedules: every('10m') });
  const first = await fleet.start({ build: 'a', defs: [ticking] });
  const other = await fleet.start({ build: 'b', types: [plain], undeclaredDefs: 'stop' });
  await other.define('made by hand', 'plain', { schedules: every('10m') });
  expect((await other.definition('ticking')).isUndeclared).toBe(false);
  await fleet.passing(first.close());
  await fleet.advance(30_000);
  expect((await other.definitions()).map(({ name, isUndeclared }) => [name, isUndeclared])).toEqual([
    ['ticking', true], ['made by hand', false],
  ]);
  await fleet.advance(1_300_000);
  expect((await other.definitions()).map(({ isEnabled }) => isEnabled)).toEqual([false, true]);
  expect((await other.find({ def: 'ticking', kinds: ['run'] })).jobs).toEqual([]);
  const again = await fleet.start({ build: 'a', defs: [ticking] });
  expect(await again.definition('ticking')).toMatchObject({ isEnabled: true, isUndeclared: false });
  for (const engine of [other, again]) await fleet.passing(engine.close());
});

test('old code leaves an input that it does not know to a newer build, and fails it only without one', async () => {
  const fleet = new Fleet();
  const version = (schema: z.ZodType) =>
    jobType('versioned', { input: schema as z.ZodType<object>, run: () => 'done' });
  const old = await fleet.start({ build: 'old', types: [version(z.strictObject({ a: z.number() }))] });
  const newer = await fleet.start({ build: 'new', slots: 1, types: [version(z.strictObject({ b: z.number() }))] });
  await newer.suspend();
  const run = await newer.createNamed({ type: 'versioned' }, { input: { b: 1 } });
  await fleet.advance(20_000);
  const kinds = (await run.events()).map(({ kind }) => kind);
  expect(kinds.slice(0, 3)).toEqual(['created', 'claimed', 'released']);
  await fleet.passing(newer.resume());
  await fleet.advance(120_000);
  expect(await run.get()).toMatchObject({ fate: 'succeeded' });
  const stale = await newer.createNamed({ type: 'versioned' }, { input: { b: 2 }, delay: '1h' });
  await fleet.passing(newer.close());
  await fleet.advance(3_700_000);
  expect(await stale.get()).toMatchObject({ fate: 'failed', error: { code: 'could not start' } });
  await fleet.passing(old.close());
});

test('a limit can be deleted when no living instance declares it any more', async () => {
  const fleet = new Fleet();
  const paced = jobType('paced', { limits: [limit('api', { rate: '5/1s' })], run: () => null });
  const old = await fleet.start({ build: 'old', types: [paced] });
  const server = await fleet.start({ build: 'server' });
  expect(await refused(server.deleteLimit('api', { by: 'ada' }))).toBe('declared.limit');
  await fleet.passing(old.close());
  await server.deleteLimit('api', { by: 'ada' });
  expect(await server.limits()).toEqual([]);
  const again = await fleet.start({ build: 'old', types: [paced] });
  expect(await server.limits()).toMatchObject([{ name: 'api', values: { rate: '5/1s' } }]);
  for (const engine of [server, again]) await fleet.passing(engine.close());
});

test('a limit that an older living build declares cannot be deleted', async () => {
  const fleet = new Fleet();
  const old = await fleet.start({ build: 'old', types: [jobType('paced', { limits: [limit('api', { rate: '5/1s' })], run: () => null })] });
  const newer = await fleet.start({ build: 'new', types: [jobType('paced', { run: () => null })] });
  expect(await refused(newer.deleteLimit('api', { by: 'ada' }))).toBe('declared.limit');
  expect(await newer.limits()).toMatchObject([{ name: 'api', values: { rate: '5/1s' } }]);
  await fleet.passing(old.close());
  await newer.deleteLimit('api', { by: 'ada' });
  expect(await newer.limits()).toEqual([]);
  await fleet.passing(newer.close());
});

test('ten thousand types are registered in bulk, and a second start writes nothing', async () => {
  const fleet = new Fleet();
  const types = Array.from(
    { length: 10_000 }, (_, index) => jobType(`type ${index}`.replace(' ', '-'), { run: () => null }),
  );
  const engine = await fleet.start({ types });
  expect(await allTypes(fleet.store)).toHaveLength(10_000);
  await fleet.passing(engine.close());
  const end = await fleet.store.feedEnd();
  const again = await fleet.start({ types });
  expect(await fleet.store.feedEnd()).toBe(end);
  expect((await again.find({}, { limit: 10 })).jobs).toEqual([]);
  await fleet.passing(again.close());
});

test('a named limit has the values of the newest living build, and those of the next one when it is gone', async () => {
  const fleet = new Fleet();
  const code = (concurrency: number) =>
    [jobType('mail', { limits: [limit('smtp', { concurrency })], run: () => null })];
  const old = await fleet.start({ build: 'old', types: code(1) });
  const current = await fleet.start({ build: 'new', types: code(2) });
  const again = await fleet.start({ build: 'old', types: code(1) });
  const concurrency = async (): Promise<number | null> => (await old.limit('smtp')).values.concurrency;
  expect(await concurrency()).toBe(2);
  await fleet.passing(current.close());
  await fleet.advance(120_000);
  expect(await concurrency()).toBe(1);
  for (const engine of [old, again]) await fleet.passing(engine.close());
});

test('the failed attempts of a type are counted per build, also those that are retried', async () => {
  const fleet = new Fleet();
  const call = (isBroken: boolean) => jobType('call', {
    retry: { attempts: 2, base: '1s' },
    run: () => {
      if (isBroken) throw new Error('no answer');
    },
  });
  const old = await fleet.start({ build: 'old', types: [call(false)], defs: [] });
  for (const _ of [1, 2]) await old.createNamed({ type: 'call' }, {});
  await fleet.advance(2_000);
  await old.suspend();
  const newer = await fleet.start({ build: 'new', types: [call(true)], defs: [] });
  await newer.createNamed({ type: 'call' }, {});
  await fleet.advance(30_000);
  expect((await typeDetail(newer, 'call')).builds).toMatchObject([
    { id: 'new', succeeded: 0, failed: 2 },
    { id: 'old', succeeded: 2, failed: 0 },
  ]);
  for (const engine of [newer, old]) await fleet.passing(engine.close());
});
