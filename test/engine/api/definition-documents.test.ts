// Definitions as data: what is exported can be applied, a plan says what changes, and all of it changes or nothing.
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  at, cron, Engine, every, jobDef, jobType, repeat, typed, type DefChanges, type DefDocument, type DefOptions, type Refusal, type Schedule,
} from '../../../src/index.ts';
import { specOf, type Definition } from '../../../src/model/definition.ts';
import { unknownType } from '../../../src/model/type-entry.ts';
import type { Store } from '../../../src/store/store.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { bySize } from '../../support/size.ts';
import { stores } from '../../support/stores.ts';
import { hour, newYear, start, ticksOf } from './kit.ts';

const refusalOf = async (refused: Promise<unknown>): Promise<Refusal> =>
  refused.then(() => expect.unreachable('it was not refused'), (error: unknown) => error as Refusal);

const durations = fc.integer({ min: 0, max: 3_155_760_000_000 });
const someMs = fc.integer({ min: 1, max: 10 * 365 * 86_400_000 });
const optional = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(values, { nil: undefined });
const known = <T extends object>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const schedule: fc.Arbitrary<Schedule> = fc.oneof(
  fc.record({
    zone: optional(fc.constantFrom('Europe/Berlin', 'UTC')), gap: optional(fc.constantFrom('next', 'shift', 'skip')),
    overlap: optional(fc.constantFrom('first', 'last', 'both')), spread: optional(fc.integer({ min: 0, max: 1e9 })),
  }).map((options) => cron('5 4 * * 1-5', known(options) as object)),
  fc.record({ from: optional(fc.constantFrom('scheduled', 'started', 'finished')), spread: optional(fc.nat(1e9)) })
    .chain((options) => someMs.map((ms) => every(ms, known(options) as object))),
  fc.constantFrom('FINISHED, +1 DAY, START OF DAY', 'HOURLY').map(repeat),
  fc.integer({ min: Date.parse('2027-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59Z') }).map((time) => at(time)),
);
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)
  .filter((value) => !/"(__proto__|constructor|prototype)"/.test(JSON.stringify(value)));
const settings = {
  params: optional(json),
  schedules: optional(fc.array(schedule, { maxLength: 3 })),
  overlap: optional(fc.constantFrom('allow', 'skip', 'queue', 'replace')),
  misfire: optional(fc.oneof(
    fc.constantFrom('skip', 'once', 'all'),
    fc.record({ policy: fc.constantFrom('skip', 'once', 'all'), window: optional(durations), cap: optional(fc.integer({ min: 1, max: 1000 })),
      grace: optional(durations) }),
  )),
  concurrency: optional(fc.integer({ min: 1, max: 1000 })),
  leaderOnly: optional(fc.boolean()),
  manualRuns: optional(fc.boolean()),
  tags: optional(fc.dictionary(fc.constantFrom('team', 'env', 'tier'), fc.constantFrom('a', 'b: c', '', 'yes', '1'))),
  timeout: optional(durations),
  prepareTimeout: optional(durations),
  retention: optional(durations),
  retry: optional(fc.record({
    attempts: optional(fc.integer({ min: 1, max: 100 })), backoff: optional(fc.constantFrom('fixed', 'linear', 'exponential')),
    base: optional(fc.nat(1e6)), jitter: optional(fc.constantFrom(0, 0.25, 1)), crashes: optional(fc.integer({ min: 1, max: 9 })),
  })),
  onTaskFailure: optional(fc.constantFrom('collect', 'failFast', { tolerate: 3 }, { toleratePercent: 12.5 })),
  priority: optional(fc.integer({ min: -1000, max: 1000 })),
};
const defOptions = fc.record({ ...settings, enabled: optional(fc.boolean()) }).map((options) => known(options) as object as DefOptions<unknown>);
const changes = fc.record({
  ...settings,
  limitKey: optional(fc.constantFrom('tenant 1')),
  gate: optional(fc.record({ typeMax: fc.integer({ min: 1, max: 9 }) })),
  policy: optional(fc.record({ timeoutMs: fc.integer({ min: 3_155_760_000_001, max: 9_155_760_000_000 }) })),
}).map((options) => known(options) as object as DefChanges);

async function idle(store: Store | string = 'memory:'): Promise<Engine> {
  const engine = new Engine({ store });
  onTestFinished(() => engine.close());
  await engine.ready();
  return engine;
}

const withoutFalse = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, each: unknown) => (key === 'leaderOnly' && each === false ? undefined : each));

test('a definition that is exported and applied to an empty store is the same definition', async () => {
  const example = fc.record({ options: defOptions, override: fc.option(changes) });
  await fc.assert(
    fc.asyncProperty(example, async ({ options, override }) => {
      const [from, to] = [await idle(), await idle()];
      await from.define('def', 'type', options);
      if (override !== null) await from.override('def', override);
      const document = known(await from.exportDefinitions());
      expect((await from.planDefinitions(document, { prune: true })).definitions).toMatchObject([{ action: 'unchanged' }]);
      await to.applyDefinitions(document);
      const [was, is] = [await from.definition('def'), await to.definition('def')];
      expect(is.isEnabled).toBe(was.isEnabled);
      if (override === null) expect([is.code, is.override]).toEqual([was.code, null]);
      const inEffect = (def: Definition): unknown => withoutFalse({ ...specOf(def, unknownType('type')), own: null });
      expect(inEffect(is)).toEqual(inEffect(was));
      expect(await to.exportDefinitions()).toEqual(document);
    }),
    { numRuns: bySize({ small: 60, ci: 1000 }) },
  );
});

const mail = jobType('mail', { input: typed<{ to: string }>(), run: () => {} });
const nightly = jobDef('nightly', mail, { params: { to: 'all' }, schedules: cron('0 3 * * *'), timeout: '5m' });

describe.each(stores)('on $name', (kind) => {
  async function engine(): Promise<Engine> {
    const opened = await kind.open(systemClock);
    onTestFinished(() => opened.close());
    return new Engine({ store: opened.store });
  }

  test('a document creates, changes and prunes definitions in one commit, with who and why', async () => {
    const one = await engine();
    const first: DefDocument = { definitions: [
      { name: 'a', type: 'mail', params: { to: 'a' }, schedules: [{ cron: '0 4 * * *' }], timeout: '10m' },
      { name: 'b', type: 'mail', enabled: false, tags: { team: 'web' } },
      { name: 'c', type: 'mail', priority: 3 },
    ] };
    const act = { by: 'ada', why: 'rollout 7' };
    expect((await one.applyDefinitions(first, {}, act)).definitions.map(({ action }) => action)).toEqual(['create', 'create', 'create']);
    const second: DefDocument = { definitions: [
      { name: 'a', type: 'mail', params: { to: 'a' }, schedules: [{ cron: '0 5 * * *' }] },
      { name: 'b', type: 'mail', enabled: true, tags: { team: 'web' } },
    ] };
    const plan = await one.planDefinitions(second, { prune: true });
    expect(plan.definitions).toEqual([
      { name: 'a', list: 'definitions', action: 'change', fields: [
        { field: 'schedules', before: [{ cron: '0 4 * * *' }], after: [{ cron: '0 5 * * *' }] },
        { field: 'timeout', before: '10m' },
      ] },
      { name: 'b', list: 'definitions', action: 'change', fields: [{ field: 'enabled', before: false, after: true }] },
      { name: 'c', list: 'definitions', action: 'delete', fields: [] },
    ]);
    await one.applyDefinitions(second, { prune: true, digest: plan.digest }, { by: 'ada', why: 'rollout 8' });
    expect((await one.definitions()).map(({ name, isEnabled }) => [name, isEnabled])).toEqual([['a', true], ['b', true]]);
    expect((await one.planDefinitions(second, { prune: true })).definitions.every(({ action }) => action === 'unchanged')).toBe(true);
    const { job } = await one.definition('a');
    expect((await one.history(job.id)).map(({ kind, by, why }) => [kind, by, why])).toEqual([
      ['created', 'ada', 'rollout 7'], ['edited', 'ada', 'rollout 8'],
    ]);
    const { records } = await one.jobs.audited({ by: 'ada' });
    expect(records.map(({ action, def, why }) => [action, def, why]).reverse()).toEqual([
      ['define', 'a', 'rollout 7'], ['define', 'b', 'rollout 7'], ['define', 'c', 'rollout 7'],
      ['redefine', 'a', 'rollout 8'], ['enable', 'b', 'rollout 8'], ['undefine', 'c', 'rollout 8'],
    ]);
    expect(await one.count({ kinds: ['audit'], standings: ['pending', 'running'] })).toEqual([]);
  });

  test('of two documents that are applied at once, one wins and the other is refused', async () => {
    const opened = await kind.open(systemClock);
    onTestFinished(() => opened.close());
    const { store } = opened;
    const engines = [new Engine({ store }), new Engine({ store: await opened.again() })];
    const document = (to: string): DefDocument =>
      ({ definitions: Array.from({ length: 20 }, (_, n) => ({ name: `def ${n}`, type: 'mail', params: { to } })) });
    const { digest } = await engines[0]!.planDefinitions(document('x'));
    expect((await engines[1]!.planDefinitions(document('x'))).digest).toBe(digest);
    const applied = await Promise.allSettled(engines.map((each) => each.applyDefinitions(document('x'), { digest })));
    expect(applied.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(applied.find((each) => each.status === 'rejected')!.reason).toMatchObject({ code: 'stale.plan' });
    expect(await store.find({ kinds: ['def'] }, { limit: 100 })).toMatchObject({ jobs: { length: 20 } });
  });

  test('a clone has the settings, and a new name keeps the plan of the schedules', async () => {
    const one = await engine();
    await one.define('old', 'mail', { params: { to: 'x' }, schedules: every('1d'), priority: 4 });
    await one.override('old', { timeout: '9m' });
    await one.cloneDefinition('old', 'copy', { enabled: false }, { by: 'ada' });
    expect(await one.definition('copy')).toMatchObject({ isEnabled: false, spec: { params: { to: 'x' }, priority: 4, policy: { timeoutMs: 540_000 } } });
    expect(await refusalOf(one.cloneDefinition('old', 'copy'))).toMatchObject({ code: 'taken.key' });
    const before = await one.definition('old');
    await one.renameDefinition('old', 'new', { by: 'ada', why: 'clearer' });
    const after = await one.definition('new');
    expect([after.job.plan, after.code, after.override]).toEqual([before.job.plan, before.code, before.override]);
    expect(await refusalOf(one.definition('old'))).toMatchObject({ code: 'unknown.definition' });
    expect((await one.history(before.job.id)).at(-1)).toMatchObject({ by: 'ada', why: 'clearer' });
  });

  test('matching definitions are disabled and enabled in one commit', async () => {
    const one = await engine();
    await one.applyDefinitions({ definitions: [
      { name: 'mail a', type: 'mail', tags: { team: 'web' } }, { name: 'mail b', type: 'mail' }, { name: 'other', type: 'mail' },
    ] });
    expect(await one.switchDefinitions({ match: 'mail *' }, false, { dryRun: true })).toEqual(['mail a', 'mail b']);
    expect(await one.definitions({ status: 'disabled' })).toEqual([]);
    expect(await one.switchDefinitions({ match: 'mail *' }, false, {}, { by: 'ada', why: 'holidays' })).toEqual(['mail a', 'mail b']);
    expect((await one.definitions({ status: 'disabled' })).map(({ name }) => name)).toEqual(['mail a', 'mail b']);
    expect(await one.switchDefinitions({ tags: { team: 'web' } }, true)).toEqual(['mail a']);
    expect((await one.jobs.audited({ action: 'disable' })).records).toHaveLength(2);
    expect((await one.definitions({ lastOutcome: 'NOT_STARTED', type: 'mail' })).map(({ name }) => name)).toEqual(['mail a', 'mail b', 'other']);
    expect(await one.definitions({ lastOutcome: 'FAILED' })).toEqual([]);
    expect((await one.definitions({ q: 'MAIL' })).map(({ name }) => name)).toEqual(['mail a', 'mail b']);
    expect(await one.switchDefinitions({ q: 'L B' }, true)).toEqual(['mail b']);
    expect(await one.switchDefinitions({ names: ['other', 'mail a', 'none'] }, false)).toEqual(['mail a', 'other']);
  });
});

test('a definition is late if its tick has waited for more than a minute', async () => {
  const t = await start({ types: [mail] });
  for (const [name, period] of [['hourly', '1h'], ['daily', '1d']] as const) await t.engine.define(name, 'mail', { params: { to: 'x' }, schedules: every(period) });
  await t.engine.define('manual', 'mail', { params: { to: 'x' } });
  const late = async (): Promise<string[]> => (await t.engine.definitions({ status: 'late' })).map(({ name }) => name);
  await t.engine.suspend();
  await t.advance('61m');
  expect(await late()).toEqual([]);
  await t.advance('1s');
  expect(await late()).toEqual(['hourly']);
  await t.engine.disable('hourly');
  expect(await late()).toEqual([]);
});

test('a change by somebody else between plan and apply refuses the whole document; ticks do not', async () => {
  const t = await start({ types: [mail] });
  await t.engine.define('hourly', 'mail', { params: { to: 'x' }, schedules: every('1h') });
  const document: DefDocument = { definitions: [
    { name: 'hourly', type: 'mail', params: { to: 'y' }, schedules: [{ every: '1h' }] }, { name: 'second', type: 'mail' },
  ] };
  const { digest } = await t.engine.planDefinitions(document);
  await t.advance('3h');
  await t.engine.override('hourly', { priority: 2 });
  expect(await refusalOf(t.engine.applyDefinitions(document, { digest }))).toMatchObject({ code: 'stale.plan' });
  expect((await t.engine.definitions()).map(({ name }) => name)).toEqual(['hourly']);
  const again = await t.engine.planDefinitions(document);
  await t.advance('3h');
  await t.engine.applyDefinitions(document, { digest: again.digest });
  expect(await t.engine.definition('hourly')).toMatchObject({ override: null, spec: { params: { to: 'y' }, priority: 0 } });
  expect(await ticksOf(t.engine, 'hourly')).toHaveLength(6);
});

test('ticks that are due when a document is applied follow the old settings, and none is lost', async () => {
  const t = await start({ types: [mail] });
  await t.engine.define('soon', 'mail', { params: 'old', schedules: at(newYear + hour), misfire: 'all' });
  await t.engine.suspend();
  await t.advance('2h');
  await t.engine.applyDefinitions({ definitions: [{ name: 'soon', type: 'mail', params: 'new' }] });
  const { jobs } = await t.engine.find({ def: 'soon' });
  expect(jobs.map(({ input }) => input)).toEqual(['"old"']);
});

test('of a definition that code declares, a document has and changes only the override', async () => {
  const t = await start({ defs: [nightly] });
  const { engine } = t;
  expect(await engine.exportDefinitions()).toEqual({ definitions: [], overrides: [{ name: 'nightly', enabled: true }] });
  const document: DefDocument = { overrides: [{ name: 'nightly', timeout: '7m', schedules: [{ every: '2h' }], enabled: false }] };
  await engine.applyDefinitions(document, {}, { by: 'ada' });
  expect(await engine.definition('nightly')).toMatchObject({
    isEnabled: false, code: { policy: { timeoutMs: 300_000 } }, spec: { policy: { timeoutMs: 420_000 }, schedules: [{ kind: 'every', everyMs: 2 * hour }] },
  });
  expect(await engine.exportDefinitions()).toEqual({ definitions: [], overrides: document.overrides });
  expect((await engine.exportDefinitions({ whole: true })).definitions).toEqual([
    { name: 'nightly', type: 'mail', enabled: false, params: { to: 'all' }, schedules: [{ every: '2h' }], timeout: '7m' },
  ]);
  const plan = await engine.applyDefinitions({ definitions: [] }, { prune: true });
  expect(plan.definitions).toMatchObject([{ name: 'nightly', action: 'change', list: 'overrides' }]);
  expect(await engine.definition('nightly')).toMatchObject({ override: null, isEnabled: false });
  for (const [code, wrong] of [
    ['declared.definition', { definitions: [{ name: 'nightly', type: 'mail' }] }],
    ['unknown.definition', { overrides: [{ name: 'daily', timeout: '1m' }] }],
  ] as const) expect(await refusalOf(engine.applyDefinitions(wrong))).toMatchObject({ code });
  expect(await refusalOf(engine.renameDefinition('nightly', 'daily'))).toMatchObject({ code: 'declared.definition' });
});

test('a refusal names the place in the document, and changes nothing', async () => {
  const t = await start({ types: [jobType('strict', {
    input: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) =>
      (typeof value === 'number' ? { value } : { issues: [{ message: 'no number' }] }) } },
    run: () => {},
  })], now: newYear });
  const good = { name: 'good', type: 'strict', params: 1, schedules: [{ every: '1h' }] } as const;
  const document = (wrong: object): DefDocument => ({ definitions: [good, wrong as typeof good] });
  await t.engine.define('mine', 'mail', {});
  for (const [code, message, wrong] of [
    ['malformed.option', /^definitions\[1\]\.timeuot: a definition has no "timeuot".*did you mean timeout/, { name: 'x', type: 'strict', timeuot: '1m' }],
    ['malformed.duration', /^definitions\[1\]\.timeout: /, { name: 'x', type: 'strict', timeout: '5 minutes' }],
    ['malformed.cron', /^definitions\[1\]\.schedules\[1\]: /, { name: 'x', type: 'strict', schedules: [{ every: '1h' }, { cron: '61 * * * *' }] }],
    ['malformed.schedule', /^definitions\[1\]\.schedules\[0\]: /, { name: 'x', type: 'strict', schedules: [{ every: '1h', cron: '* * * * *' }] }],
    ['malformed.name', /^definitions\[1\]\.name: /, { name: '', type: 'strict' }],
    ['malformed.name', /^definitions\[1\]\.type: /, { name: 'x' }],
    ['malformed.option', /^definitions\[1\]\.enabled: /, { name: 'x', type: 'strict', enabled: 'yes' }],
    ['malformed.document', /^definitions\[1\]\.name: the name good is used twice: definitions\[0\]/, { ...good }],
    ['malformed.input', /^definitions\[1\]: .*no number/, { name: 'x', type: 'strict', params: 'one', schedules: [{ every: '1h' }] }],
    ['taken.key', /^definitions\[1\]\.type: /, { name: 'mine', type: 'strict' }],
    ['malformed.option', /^definitions\[1\]: /, 7],
  ] as const) {
    const refusal = await refusalOf(t.engine.applyDefinitions(document(wrong as object)));
    expect([refusal.code, refusal.message]).toEqual([code, expect.stringMatching(message)]);
  }
  for (const wrong of [null, [], {}, { definitions: 7 }, { definitions: [], more: [] }]) {
    expect((await refusalOf(t.engine.applyDefinitions(wrong as DefDocument))).code).toMatch(/^malformed\./);
  }
  expect((await t.engine.definitions()).map(({ name }) => name)).toEqual(['mine']);
});
