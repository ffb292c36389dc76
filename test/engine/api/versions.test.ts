// Versions of types: each instance claims only inputs that its code knows, and upgrades old ones before it runs them.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { every, jobDef, jobType, type DefEntry, type Engine, type EngineOptions } from '../../../src/index.ts';
import { runDoctor } from '../../../src/engine/inspect/doctor.ts';
import type { Job } from '../../../src/model/job.ts';
import { verify } from '../../../src/verify.ts';
import { Fleet as Instances } from './fleet.ts';

/** Instances that are named as their builds. */
class Fleet extends Instances {
  readonly ran: string[] = [];

  startBuild(build: string, options: EngineOptions): Promise<Engine> {
    return this.start({ instance: build, build, ...options });
  }

  async stop(...engines: Engine[]): Promise<void> {
    for (const engine of engines) await this.passing(engine.close());
    expect(await Array.fromAsync(verify(this.store, { patienceMs: 0 }))).toEqual([]);
  }

  mail = {
    1: jobType('mail', {
      input: z.strictObject({ to: z.string() }), run: ({ input }) => void this.ran.push(`1 ${JSON.stringify(input)}`),
    }),
    2: jobType('mail', {
      version: 2, upgrade: { 1: ({ to }: { to: string }) => ({ to: [to] }) },
      input: z.strictObject({ to: z.array(z.string()) }),
      run: ({ input }) => void this.ran.push(`2 ${JSON.stringify(input)}`),
    }),
    3: jobType('mail', {
      version: 3,
      upgrade: {
        1: ({ to }: { to: string }) => ({ to: [to] }), 2: ({ to }: { to: string[] }) => ({ recipients: to }),
      },
      input: z.strictObject({ recipients: z.array(z.string()) }),
      run: ({ input }) => void this.ran.push(`3 ${JSON.stringify(input)}`),
    }),
  };
}

const versions = (jobs: readonly Job[]): number[] => jobs.map(({ typeVersion }) => typeVersion);

test('an input is upgraded step by step before the handler gets it', async () => {
  const fleet = new Fleet();
  const old = await fleet.startBuild('old', { types: [fleet.mail[1]] });
  const run = await old.createJobRun(fleet.mail[1], { input: { to: 'ada' }, delay: '1h' });
  await fleet.passing(old.close());
  const current = await fleet.startBuild('new', { types: [fleet.mail[3]] });
  await fleet.advance(3_700_000);
  expect(fleet.ran).toEqual(['3 {"recipients":["ada"]}']);
  expect(await run.get()).toMatchObject({ fate: 'succeeded', typeVersion: 1 });
  await fleet.stop(current);
});

test('an instance leaves runs of versions that it does not know, and one that knows them takes them', async () => {
  const fleet = new Fleet();
  const old = await fleet.startBuild('old', { types: [fleet.mail[1]] });
  const newer = await fleet.startBuild('new', { types: [fleet.mail[2]] });
  await newer.suspend();
  const run = await newer.createJobRun(fleet.mail[2], { input: { to: ['ada'] } });
  await fleet.advance(60_000);
  expect((await run.events()).map(({ kind }) => kind)).toEqual(['created']);
  await fleet.passing(newer.close());
  expect(await old.explain(run.id)).toMatchObject([{
    code: 'version.unknown', detail: { version: 2, instances: [{ id: 'old', from: 1, to: 1 }] },
  }]);
  const again = await fleet.startBuild('new', { types: [fleet.mail[2]] });
  await fleet.advance(60_000);
  expect(fleet.ran).toEqual(['2 {"to":["ada"]}']);
  await fleet.stop(old, again);
});

test('programs without the code create runs of the version of the newest living build, also after a roll-back', async () => {
  const fleet = new Fleet();
  const server = await fleet.startBuild('server', {});
  const old = await fleet.startBuild('old', { types: [fleet.mail[1]] });
  const newer = await fleet.startBuild('new', { types: [fleet.mail[2]] });
  await fleet.advance(2_000);
  await server.createNamed({ type: 'mail' }, { input: { to: ['ada'] }, delay: '1h' });
  await fleet.passing(newer.close());
  await fleet.advance(120_000);
  await server.createNamed({ type: 'mail' }, { input: { to: 'bob' }, delay: '1h' });
  expect(versions((await server.find({}, { order: 'oldest' })).jobs)).toEqual([2, 1]);
  await fleet.advance(3_700_000);
  expect(fleet.ran).toEqual(['1 {"to":"bob"}']);
  await fleet.stop(server, old);
});

test('an upgrade that fails leaves the run to a living instance of its version, and fails it without one', async () => {
  const fleet = new Fleet();
  const broken = jobType('mail', { version: 2, upgrade: { 1: () => { throw new Error('no such field'); } }, run: () => null });
  const newer = await fleet.startBuild('new', { types: [broken] });
  const old = await fleet.startBuild('old', { types: [fleet.mail[1]], slots: 1 });
  await old.suspend();
  const run = await old.createJobRun(fleet.mail[1], { input: { to: 'ada' } });
  await fleet.advance(10_000);
  expect((await run.events()).map(({ kind }) => kind).slice(0, 3)).toEqual(['created', 'claimed', 'released']);
  await fleet.passing(old.resume());
  await fleet.advance(700_000);
  expect(await run.get()).toMatchObject({ fate: 'succeeded' });
  const late = await old.createJobRun(fleet.mail[1], { input: { to: 'bob' }, delay: '10m' });
  await fleet.passing(old.close());
  await fleet.advance(1_000_000);
  expect(await late.get()).toMatchObject({ fate: 'failed', error: { message: expect.stringMatching(/from version 1 of mail: no such field/) } });
  await fleet.stop(newer);
});

test('tasks have the version of the code that planned them, and so has their run from then on', async () => {
  const fleet = new Fleet();
  const counted = (version: number, upgrade = {}) => jobType('counted', {
    version, upgrade, taskDetails: ({ input }) => [input], taskResults: ({ task, input }) => [task, input],
    jobResults: ({ input }) => input,
  });
  const old = await fleet.startBuild('old', { types: [counted(1)] });
  const run = await old.createJobRun(counted(1), { input: 'one', delay: '10m' });
  await fleet.passing(old.close());
  const current = await fleet.startBuild('new', { types: [counted(2, { 1: (text: string) => [text] })] });
  await fleet.advance(700_000);
  expect(await run.get()).toMatchObject({ fate: 'succeeded', typeVersion: 2, result: '["one"]' });
  expect((await current.find({ parent: run.id })).jobs).toMatchObject([{ typeVersion: 2, result: '[["one"],["one"]]' }]);
  await fleet.stop(current);
});

test('ticks have the version of the parameters, which an old instance leaves to the new one', async () => {
  const fleet = new Fleet();
  const def = <V extends 1 | 2>(version: V, to: V extends 1 ? string : string[]) =>
    jobDef('hourly', fleet.mail[version] as never, { params: { to }, schedules: every('1h') });
  const old = await fleet.startBuild('old', { defs: [def(1, 'ada')] });
  const newer = await fleet.startBuild('new', { defs: [def(2, ['ada'])] });
  await old.override('hourly', { params: { to: 'bob' } });
  await fleet.advance(3_700_000);
  expect(versions((await old.find({ def: 'hourly' })).jobs)).toEqual([1]);
  await newer.override('hourly', null);
  await fleet.advance(3_700_000);
  expect(versions((await old.find({ def: 'hourly' }, { order: 'oldest' })).jobs)).toEqual([1, 2]);
  expect(fleet.ran.at(-1)).toBe('2 {"to":["ada"]}');
  await fleet.stop(old, newer);
});

/** An instance with `mail` of version 2, and a definition `old` that an operator created under version 1. */
async function withOldDefinition(): Promise<{ fleet: Fleet; engine: Engine }> {
  const fleet = new Fleet();
  const before = await fleet.startBuild('old', { types: [fleet.mail[1]] });
  await before.define('old', 'mail', { params: { to: 'ada' }, schedules: every('1h') });
  await fleet.passing(before.close());
  return { fleet, engine: await fleet.startBuild('new', { types: [fleet.mail[2]] }) };
}

test('a clone keeps the version of the parameters that it copies', async () => {
  const { fleet, engine } = await withOldDefinition();
  await engine.cloneDefinition('old', 'clone');
  await engine.disable('old');
  await fleet.advance(3_700_000);
  expect(fleet.ran).toEqual(['2 {"to":["ada"]}']);
  await engine.override('clone', { params: { to: ['bob'] } });
  await engine.cloneDefinition('clone', 'second', { enabled: false });
  expect(await engine.definition('second')).toMatchObject({ spec: { typeVersion: 2, params: { to: ['bob'] } } });
  await fleet.stop(engine);
});

test('the schedules of a definition with old parameters can be changed, which the new schema would refuse', async () => {
  const { fleet, engine } = await withOldDefinition();
  await engine.override('old', { schedules: every('10m') });
  await fleet.advance(700_000);
  expect(fleet.ran).toEqual(['2 {"to":["ada"]}']);
  await expect(engine.override('old', { params: { to: 'ada' } })).rejects.toMatchObject({ code: 'malformed.input' });
  const { definitions: [old] } = await engine.exportDefinitions() as { definitions: [DefEntry] };
  const { typeVersion: _version, ...unversioned } = old;
  await engine.applyDefinitions({ definitions: [{ ...unversioned, schedules: [{ every: '20m' }] }] });
  await fleet.advance(1_300_000);
  expect(fleet.ran.slice(1)).toEqual(['2 {"to":["ada"]}']);
  await fleet.stop(engine);
});

test('a definition document states the version of the parameters, and applying it keeps that version', async () => {
  const { fleet, engine } = await withOldDefinition();
  await fleet.passing(engine.close());
  const params = (version: 1 | 2): object => ({ params: { to: version === 1 ? 'ada' : ['ada'] }, schedules: every('1h') });
  const declared = (version: 1 | 2) => jobDef('declared', fleet.mail[version] as never, params(version) as never);
  const before = await fleet.startBuild('old', { defs: [declared(1)] });
  await before.override('declared', { params: { to: 'bob' } });
  await fleet.passing(before.close());
  const current = await fleet.startBuild('new', { defs: [declared(2)] });
  const document = await current.exportDefinitions();
  expect(document).toMatchObject({ definitions: [{ typeVersion: 1 }], overrides: [{ typeVersion: 1, params: { to: 'bob' } }] });
  expect((await current.planDefinitions(document)).definitions.map(({ action }) => action)).toEqual(['unchanged', 'unchanged']);
  await current.override('declared', { params: { to: ['bob'] } });
  await current.undefine('old');
  const { definitions } = await current.applyDefinitions(document);
  expect(definitions[1]!.fields).toContainEqual({ field: 'typeVersion', before: 2, after: 1 });
  await fleet.advance(3_700_000);
  expect(fleet.ran.toSorted()).toEqual(['2 {"to":["ada"]}', '2 {"to":["bob"]}']);
  await fleet.stop(current);
});

test('a document states no version for types that have one only, and a version needs its parameters', async () => {
  const fleet = new Fleet();
  const engine = await fleet.startBuild('one', { types: [fleet.mail[1]] });
  await engine.define('plain', 'mail', { params: { to: 'ada' } });
  expect((await engine.exportDefinitions()).definitions).toEqual([
    { name: 'plain', type: 'mail', enabled: true, params: { to: 'ada' } },
  ]);
  const alone = { overrides: [{ name: 'plain', typeVersion: 2 }] };
  await expect(engine.planDefinitions(alone)).rejects.toMatchObject({
    code: 'malformed.document', detail: { documentPath: ['overrides', 0, 'typeVersion'] },
  });
  await fleet.stop(engine);
});

test('an edited input has the version of the type, and an edit that states another version keeps it', async () => {
  const fleet = new Fleet();
  const newer = await fleet.startBuild('new', { types: [fleet.mail[2]] });
  const run = await newer.createJobRun(fleet.mail[1], { input: { to: 'ada' }, delay: '1h' });
  await newer.editJobRun(run.id, { priority: 1 });
  expect(await run.get()).toMatchObject({ typeVersion: 1 });
  await newer.editJobRun(run.id, { input: '{"to":["bob"]}' });
  expect(await run.get()).toMatchObject({ typeVersion: 2 });
  await newer.editJobRun(run.id, { input: '{"to":"eve"}', typeVersion: 1 });
  await fleet.advance(3_700_000);
  expect(fleet.ran).toEqual(['2 {"to":["eve"]}']);
  await fleet.stop(newer);
});

test('after a roll-back, parameters of the new version make runs that wait, and the doctor and explain say so', async () => {
  const fleet = new Fleet();
  const def = <V extends 1 | 2>(version: V, to: V extends 1 ? string : string[]) =>
    jobDef('hourly', fleet.mail[version] as never, { params: { to }, schedules: every('1h') });
  const newer = await fleet.startBuild('new', { defs: [def(2, ['ada'])] });
  await newer.override('hourly', { params: { to: ['bob'] } });
  await fleet.passing(newer.close());
  await fleet.advance(120_000);
  const old = await fleet.startBuild('old', { defs: [def(1, 'ada')] });
  await fleet.advance(3_700_000);
  const [run] = (await old.find({ def: 'hourly' })).jobs;
  expect(await old.explain(run!.id)).toMatchObject([
    { code: 'version.unknown', says: expect.stringContaining('parameters of definition hourly') as string },
  ]);
  expect(await runDoctor(old.jobs, fleet.clock)).toContainEqual(expect.objectContaining({
    level: 'problem', says: '1 job of version 2 of type mail waiting, but no live instance knows it',
  }));
  await old.override('hourly', { params: { to: 'bob' } });
  await old.cancelJobRun(run!.id);
  await fleet.advance(3_700_000);
  expect(fleet.ran).toEqual(['1 {"to":"bob"}']);
  expect((await runDoctor(old.jobs, fleet.clock)).filter(({ about }) => about === 'types')).toEqual([]);
  await fleet.stop(old);
});

test('an update of a waiting run under its unique key has the version of the new input', async () => {
  const fleet = new Fleet();
  const newer = await fleet.startBuild('new', { types: [fleet.mail[2]] });
  const unique = { key: 'ada', onTaken: 'update' as const };
  const first = await newer.createJobRun(fleet.mail[1], { input: { to: 'ada' }, unique, delay: '1h' });
  await newer.createJobRun(fleet.mail[2], { input: { to: ['ada'] }, unique, delay: '1h' });
  expect(await first.get()).toMatchObject({ typeVersion: 2, input: '{"to":["ada"]}' });
  await newer.createJobRun(fleet.mail[1], { input: { to: 'bob' }, unique, delay: '1h' });
  expect(await first.get()).toMatchObject({ typeVersion: 1, input: '{"to":"bob"}' });
  await fleet.stop(newer);
});

const noUpgrade = (): null => null;

test.each([
  [{ version: 0 }, /^version must be/],
  [{ version: 1.5 }, /^version must be/],
  [{ version: 1_000_001 }, /^version must be/],
  [{ version: 3, upgrade: { 1: noUpgrade } }, /add upgrade\[2\]/],
  [{ version: 2, upgrade: { 2: noUpgrade } }, /from 1 to 1/],
  [{ version: 2, upgrade: { x: noUpgrade } }, /from 1 to 1/],
  [{ version: 2, upgrade: { 1: noUpgrade, 5: noUpgrade } }, /from 1 to 1, not 5/],
  [{ upgrade: { 1: noUpgrade } }, /add version: 2/],
  [{ version: 2, upgrade: { 1: 7 } }, /upgrade\[1\] must be a function/],
  [{ version: 2, upgrade: 7 }, /functions by version/],
  [{ version: 2, upgrade: [] }, /functions by version/],
])('%j is refused', (options, message) => {
  expect(() => jobType('mail', { ...(options as object), run: () => null })).toThrow(message);
});
