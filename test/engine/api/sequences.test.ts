// Definitions that follow definitions at the doors of the engine: code, documents, overrides, renames and backfills.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { cron, Engine, every, jobDef, jobSequence, jobType, limit, Refusal } from '../../../src/index.ts';
import { declare } from '../../../src/jobs/define.ts';
import { testEngine, type TestEngine } from '../../../src/testing/index.ts';
import { verify } from '../../../src/verify.ts';

const step = jobType('step', { run: ({ run }) => run.def });
const failing = jobType('failing', {
  retry: { attempts: 1 },
  run: () => {
    throw new Error('broken');
  },
});
const hourly = every('1h');
const chain = jobSequence([jobDef('one', step), jobDef('two', step), jobDef('three', step)], { schedules: hourly });

const codeOf = (refused: () => unknown): string => {
  try {
    refused();
  } catch (error) {
    return (error as Refusal).code;
  }
  return 'not refused';
};
const refusedCode = (refused: Promise<unknown>): Promise<string> =>
  refused.then(() => 'not refused', (error: unknown) => (error as Refusal).code);

/** The runs of each definition by how they have ended, in the order of their ids. */
const standings = async (t: TestEngine): Promise<string[]> =>
  (await t.runs()).toSorted((a, b) => a.id - b.id).map((job) => `${job.def} ${job.state === 'ended' ? job.fate : job.state}`);

async function isSound(t: TestEngine): Promise<void> {
  for await (const found of verify(t.engine.jobs.store)) expect(found).toBeNull();
}

test('a sequence runs one definition after the other, at each tick', async () => {
  await using t = await testEngine({ defs: chain });
  await t.advance('150m');
  expect(await standings(t)).toEqual(
    ['one', 'two', 'three', 'one', 'two', 'three'].map((name) => `${name} succeeded`));
  await isSound(t);
});

test('a failure stops the rest of a sequence, or the rest goes on', async () => {
  const defs = (afterFailure: 'cancel' | 'run') => jobSequence(
    [jobDef('one', failing), jobDef('two', step), jobDef('three', step)], { schedules: hourly, afterFailure });
  await using stopping = await testEngine({ defs: defs('cancel') });
  await stopping.advance('61m');
  expect(await standings(stopping)).toEqual(['one failed', 'two cancelled', 'three cancelled']);
  await using going = await testEngine({ defs: defs('run') });
  await going.advance('61m');
  expect(await standings(going)).toEqual(['one failed', 'two succeeded', 'three succeeded']);
});

test('a retry of a failed run reopens the rest of its sequence and creates no second one', async () => {
  let isBroken = true;
  const flaky = jobType('flaky', {
    retry: { attempts: 1 },
    run: () => {
      if (isBroken) throw new Error('broken');
    },
  });
  await using t = await testEngine({ defs: jobSequence([jobDef('one', flaky), jobDef('two', step)], { schedules: hourly }) });
  await t.advance('61m');
  isBroken = false;
  const [first] = (await t.runs()).toSorted((a, b) => a.id - b.id);
  await t.engine.retryFlow(first!.id);
  await t.drain();
  expect(await standings(t)).toEqual(['one succeeded', 'two succeeded']);
});

test('what contradicts itself is refused when it is declared', () => {
  const sequence = { schedules: hourly };
  const given = z.object({ name: z.string() });
  expect([
    () => jobDef('x', step, { after: 'y', schedules: hourly }),
    () => jobDef('x', step, { on: 'failed' }),
    () => jobDef('x', step, { after: 'y', on: 'failed', afterFailure: 'run' }),
    () => jobDef('x', step, { after: 'y', overlap: 'skip' }),
    () => jobDef('x', step, { after: [7 as never] }),
    () => jobSequence([jobDef('x', step)], sequence),
    () => jobSequence([jobDef('x', step), jobDef('x', step)], sequence),
    () => jobSequence([jobDef('x', step, { schedules: hourly }), jobDef('y', step)], sequence),
    () => jobSequence([jobDef('x', step), jobDef('y', jobType('typed', { input: given, run: () => {} }))], sequence),
  ].map(codeOf)).toEqual([
    'malformed.option', 'malformed.option', 'malformed.option', 'malformed.option', 'malformed.name', 'malformed.option',
    'malformed.option', 'malformed.option', 'malformed.input',
  ]);
});

test('a definition that follows others needs parameters that its type accepts', () => {
  const needing = jobType('needing', { input: z.object({ n: z.number() }), run: () => {} });
  // @ts-expect-error -- params are missing
  expect(codeOf(() => jobDef('x', needing, { after: 'y' }))).toBe('malformed.input');
});

test('an engine refuses to declare a definition that follows an unknown one', async () => {
  await using engine = new Engine({ store: 'memory:', defs: [jobDef('x', step, { after: 'nobody' })] });
  expect(await refusedCode(engine.resume())).toBe('unknown.definition');
});

test('operators define, change and delete followers', async () => {
  await using t = await testEngine({ types: [step], defs: [jobDef('one', step, { schedules: hourly })] });
  await t.engine.define('two', 'step', { after: ['one'] });
  expect(await refusedCode(t.engine.define('three', 'step', { after: ['nobody'] }))).toBe('unknown.definition');
  expect(await refusedCode(t.engine.override('one', { after: ['two'] }))).toBe('malformed.flow');
  expect(await refusedCode(t.engine.undefine('one'))).toBe('followed.definition');
  await t.engine.override('two', { afterFailure: 'run' });
  expect(await t.engine.definition('two')).toMatchObject({ spec: { after: ['one'], afterFailure: 'run' } });
  await t.engine.undefine('two');
  expect((await t.engine.definition('one')).followers).toBeUndefined();
  await isSound(t);
});

test('a document carries what definitions follow, and creates them together in any order', async () => {
  const definitions = [
    { name: 'three', type: 'step', after: ['two'], on: 'ended' as const },
    { name: 'two', type: 'step', after: ['one'] },
    { name: 'one', type: 'step', schedules: [{ cron: '0 * * * *' }] },
  ];
  await using t = await testEngine({ types: [step] });
  await t.engine.applyDefinitions({ definitions });
  const { definitions: exported = [] } = await t.engine.exportDefinitions();
  expect(exported.map(({ name, after, on }) => ({ name, after, on }))).toEqual([
    { name: 'three', after: ['two'], on: 'ended' }, { name: 'two', after: ['one'], on: undefined },
    { name: 'one', after: undefined, on: undefined },
  ]);
  const plan = await t.engine.planDefinitions({ definitions: exported });
  expect(plan.definitions.map(({ action }) => action)).toEqual(['unchanged', 'unchanged', 'unchanged']);
  const withoutFirst = { definitions: exported.filter(({ name }) => name !== 'one') };
  expect(await refusedCode(t.engine.applyDefinitions(withoutFirst, { prune: true }))).toBe('followed.definition');
  await t.advance('61m');
  expect(await standings(t)).toEqual(['one succeeded', 'two succeeded', 'three succeeded']);
  await isSound(t);
});

test('a renamed definition keeps its followers', async () => {
  await using t = await testEngine({ types: [step] });
  await t.engine.define('one', 'step', { schedules: hourly });
  await t.engine.define('two', 'step', { after: ['one'] });
  await t.engine.renameDefinition('one', 'first');
  expect((await t.engine.definition('two')).spec.after).toEqual(['first']);
  expect((await t.engine.definition('first')).followers).toEqual(['two']);
  await isSound(t);
});

test('a deploy can turn a sequence around and end it', async () => {
  await using t = await testEngine({ defs: chain });
  await t.advance('1m');
  await t.restart({ defs: jobSequence([jobDef('three', step), jobDef('two', step), jobDef('one', step)], { schedules: hourly }) });
  expect((await t.engine.definition('one')).spec.after).toEqual(['two']);
  await t.advance('1m');
  await t.restart({ defs: [jobDef('three', step, { schedules: hourly }), jobDef('two', step), jobDef('one', step)] });
  expect((await t.engine.definition('three')).followers).toBeUndefined();
  await isSound(t);
});

test('a backfill creates the runs of the followers, too', async () => {
  await using t = await testEngine({ now: '2026-01-02T00:30:00Z', defs: jobSequence(
    [jobDef('one', step), jobDef('two', step)], { schedules: cron('0 0 * * *') }) });
  await t.engine.backfill('one', { from: new Date('2025-12-30T12:00:00Z'), to: new Date('2026-01-01T12:00:00Z') });
  await t.advance('5m');
  const runs = (await t.runs()).filter(({ def }) => def === 'two');
  expect(runs.map(({ tick, state }) => `${new Date(tick!.nominal).toISOString()} ${state}`).sort()).toEqual([
    '2025-12-31T00:00:00.000Z ended', '2026-01-01T00:00:00.000Z ended',
  ]);
});

test('a middleware can change the run of a follower, or refuse it', async () => {
  await using t = await testEngine({
    defs: chain,
    middleware: [{
      create: (run, next) => {
        if (run.def === 'three') throw new Refusal('refused.creation', 'not today');
        return next({ tags: { seen: run.tickTime!.toISOString() } });
      },
    }],
  });
  await t.advance('61m');
  expect(await standings(t)).toEqual(['one succeeded', 'two succeeded']);
  expect((await t.runs()).map(({ tags }) => tags)).toEqual(Array(2).fill({ seen: '2026-01-01T01:00:00.000Z' }));
});

const extract = jobType('extract', { run: () => ({ rows: [3, 4], by: { name: 'x' } }) });
const load = jobType('load', {
  input: z.object({ rows: z.array(z.number()), name: z.string().nullable() }), run: ({ input }) => input,
});
const extracting = jobDef('extract', extract, { schedules: hourly });
const loading = jobDef('load', load, { params: { rows: extracting.result.rows, name: extracting.result.by.name } });
const reference = (name: string, ...path: string[]) => ({ $result: name, ...(path.length === 0 ? {} : { path }) });

const resultsOf = async (t: TestEngine, def: string): Promise<unknown[]> =>
  (await t.runs()).filter((job) => job.def === def).map(({ result }) => JSON.parse(result ?? 'null') as unknown);

test('a definition gets the results of the definitions that it follows, and follows them without saying so', async () => {
  await using t = await testEngine({ defs: [extracting, loading] });
  expect((await t.engine.definition('load')).spec.after).toEqual(['extract']);
  await t.advance('61m');
  expect(await resultsOf(t, 'load')).toEqual([{ rows: [3, 4], name: 'x' }]);
  await isSound(t);
});

test('a result that does not fit fails the run, and a missing part is null', async () => {
  const odd = jobType('odd', { retry: { attempts: 1 }, run: (): { rows: number[]; by: { name: string } } => ({}) as never });
  const first = jobDef('extract', odd, { schedules: hourly });
  await using t = await testEngine({
    defs: [first, jobDef('load', load, { params: { rows: first.result.rows, name: first.result.by.name } })],
  });
  await t.advance('61m');
  expect(await standings(t)).toEqual(['extract succeeded', 'load failed']);
});

test('a run that starts after a failure gets null for the result that is missing', async () => {
  const noting = jobType('note', { input: z.object({ of: z.unknown() }), run: ({ input }) => input });
  const first = jobDef('one', failing, { schedules: hourly });
  const second = jobDef('two', noting, { on: 'ended', params: { of: first.resultOrNull } });
  await using t = await testEngine({ defs: [first, second] });
  await t.advance('61m');
  expect(await resultsOf(t, 'two')).toEqual([{ of: null }]);
  expect(codeOf(() => jobDef('two', noting, { on: 'ended', params: { of: first.result } as object as { of: unknown } })))
    .toBe('malformed.flow');
});

test('definitions of a sequence can have results of each one before them', async () => {
  const counting = jobType('count', { input: z.number(), run: ({ input }) => input });
  const middle = jobDef('middle', step);
  await using t = await testEngine({ defs: jobSequence(
    [jobDef('extract', extract), middle, jobDef('count', counting, { params: extracting.result.rows[1]! })], { schedules: hourly },
  ) });
  expect((await t.engine.definition('count')).spec.after).toEqual(['middle', 'extract']);
  await t.advance('61m');
  expect(await resultsOf(t, 'count')).toEqual([4]);
  const late = jobDef('late', counting, { params: extracting.result.rows[1]! });
  expect([
    () => jobSequence([late, jobDef('extract', extract)], { schedules: hourly }),
    () => jobSequence([jobDef('extract', extract), late], { schedules: hourly, afterFailure: 'run' }),
  ].map(codeOf)).toEqual(['malformed.option', 'malformed.flow']);
});

test('results in parameters are data in documents and overrides, and come back as they were', async () => {
  await using t = await testEngine({ types: [extract, load] });
  const definitions = [
    { name: 'extract', type: 'extract', schedules: [{ cron: '0 * * * *' }] },
    { name: 'load', type: 'load', after: ['extract'], params: { rows: reference('extract', 'rows'), name: 'y' } },
  ];
  await t.engine.applyDefinitions({ definitions });
  const { definitions: exported = [] } = await t.engine.exportDefinitions();
  expect(exported.find(({ name }) => name === 'load')).toMatchObject(definitions[1]!);
  expect((await t.engine.planDefinitions({ definitions: exported })).definitions.map(({ action }) => action))
    .toEqual(['unchanged', 'unchanged']);
  await t.advance('61m');
  expect(await resultsOf(t, 'load')).toEqual([{ rows: [3, 4], name: 'y' }]);
  await t.engine.override('load', { params: { rows: [], name: reference('extract', 'by', 'name') } });
  await t.advance('1h');
  expect(await resultsOf(t, 'load')).toContainEqual({ rows: [], name: 'x' });
  await t.engine.override('load', { params: { rows: [7], name: null } });
  await t.advance('1h');
  expect(await resultsOf(t, 'load')).toContainEqual({ rows: [7], name: null });
  await isSound(t);
});

test('results of definitions that are not followed, or not certain, are refused at every door', async () => {
  const doc = (load: object) => ({ definitions: [{ name: 'load', type: 'load', ...load }] });
  await using t = await testEngine({ types: [load], defs: [extracting, loading, jobDef('other', step)] });
  const params = { rows: reference('other'), name: null };
  const partly = { rows: reference('extract', 'rows'), name: null };
  const message = async (refused: Promise<unknown>): Promise<string> => refused.then(() => 'none', (error: Error) => error.message);
  expect(await refusedCode(t.engine.define('x', 'load', { after: ['extract'], params }))).toBe('malformed.flow');
  expect(await refusedCode(t.engine.define('x', 'load', { after: ['extract'], on: 'ended', params: partly }))).toBe('malformed.flow');
  expect(await message(t.engine.planDefinitions(doc({ name: 'x', after: ['extract'], params }))))
    .toBe('definitions[0].params: the parameters have the result of "other", which is not followed: ' +
      'add it to after, or change the parameters');
  for (const change of [{ params }, { after: ['other'] }, { after: [] }, { on: 'ended' as const }]) {
    expect(await refusedCode(t.engine.override('load', change)), JSON.stringify(change)).toBe('malformed.flow');
  }
  const keyed = jobType('keyed', { input: z.object({ n: z.number() }), limit: { key: 'n', concurrency: 1 }, run: () => {} });
  expect(codeOf(() => jobDef('x', keyed, { params: { n: extracting.result.rows[0]! } }))).toBe('malformed.flow');
});

test('a result cannot be the key of a named limit, which would not limit the run', async () => {
  const sized = (name: string) => jobType(name, {
    input: z.object({ n: z.number(), of: z.number() }), limits: [limit('sized', { key: 'n', rate: '1/1m' })], run: () => {},
  });
  const known = jobDef('x', sized('known'), { params: { n: 1, of: extracting.result.rows[0]! } });
  await using t = await testEngine({ types: [sized('data')], defs: [extracting, known] });
  expect(codeOf(() => jobDef('x', sized('code'), { params: { n: extracting.result.rows[0]!, of: 1 } }))).toBe('malformed.flow');
  const params = { n: reference('extract', 'rows'), of: 1 };
  expect(await refusedCode(t.engine.define('y', 'data', { after: 'extract', params }))).toBe('malformed.flow');
  expect(await refusedCode(t.engine.createFlow((flow) => {
    const first = flow.run(extract);
    flow.run(sized('data'), { input: { n: first.result.rows[0]!, of: 1 } });
  }))).toBe('malformed.flow');
});

test('a run by hand of a definition with results of others needs an input', async () => {
  await using t = await testEngine({ defs: [extracting, loading] });
  expect(await refusedCode(t.engine.createJobRun(loading))).toBe('malformed.input');
  expect(await refusedCode(t.engine.createNamed({ def: 'load' }, {}))).toBe('malformed.input');
  const run = await t.engine.createJobRun(loading, { input: { rows: [9], name: null } });
  await t.drain();
  expect(await run.result()).toEqual({ rows: [9], name: null });
});

test('a middleware does not make an input of the parameters of a definition with results of others', async () => {
  const noting = jobType('note', { run: ({ input }) => input });
  const notes = jobDef('notes', noting, { params: { of: extracting.result.rows } });
  await using t = await testEngine({
    defs: [extracting, notes],
    middleware: [{ create: (run, next) => next({ input: { ...(run.input as object), name: 'm' } }) }],
  });
  expect(await refusedCode(t.engine.createJobRun(notes))).toBe('malformed.input');
  expect(await refusedCode(t.engine.createFlow((flow) => void flow.run(notes)))).toBe('malformed.input');
  const run = await t.engine.createJobRun(notes, { input: { of: [] } });
  await t.drain();
  expect(await run.result()).toEqual({ of: [], name: 'm' });
});

test('results follow a definition to its new name', async () => {
  await using t = await testEngine({ types: [extract, load] });
  await t.engine.define('one', 'extract', { schedules: hourly });
  await t.engine.define('two', 'load', { after: ['one'], params: { rows: reference('one', 'rows'), name: null } });
  await t.engine.renameDefinition('one', 'first');
  await t.advance('61m');
  expect(await resultsOf(t, 'two')).toEqual([{ rows: [3, 4], name: null }]);
});

test('a definition gets no run if an override lets it follow others than its new code has results of', async () => {
  const noting = jobType('note', { input: z.object({ of: z.array(z.number()) }), run: ({ input }) => input });
  const before = jobDef('notes', noting, { after: 'extract', params: { of: [] } });
  await using t = await testEngine({ defs: [extracting, jobDef('other', step, { schedules: hourly }), before] });
  await t.engine.override('notes', { after: ['other'] });
  const { spec } = jobDef('notes', noting, { params: { of: extracting.result.rows } });
  await declare(t.engine.jobs, { name: 'notes', spec, enabled: true, build: null }, 'deploy');
  await t.advance('61m');
  expect(await standings(t)).toEqual(['extract succeeded', 'other succeeded']);
});

test('a middleware may change the input of a run that gets results', async () => {
  await using t = await testEngine({
    defs: [extracting, loading],
    middleware: [{ create: (run, next) => next(run.def === 'load' ? { input: { ...(run.input as object), name: 'm' } } : {}) }],
  });
  await t.advance('61m');
  expect(await resultsOf(t, 'load')).toEqual([{ rows: [3, 4], name: 'x' }]);
});

test('a run by hand starts the rest of its sequence, or runs alone', async () => {
  await using t = await testEngine({ defs: chain });
  await t.engine.createJobRun(chain[0], { followers: false });
  await t.drain();
  expect(await standings(t)).toEqual(['one succeeded']);
  const [, run] = await t.engine.createJobRuns(chain[1], [{ followers: false }, { delay: '1m' }]);
  await t.drain();
  expect(await standings(t)).toEqual(['one succeeded', 'two succeeded', 'two pending', 'three held']);
  await t.advance('2m');
  expect((await t.engine.flow(run!.id)).runs.map(({ job }) => job.def)).toEqual(['two', 'three']);
  expect(await standings(t)).toEqual(['one succeeded', 'two succeeded', 'two succeeded', 'three succeeded']);
  expect(await refusedCode(t.engine.createJobRun(chain[0], { followers: 'no' as never }))).toBe('malformed.option');
  await isSound(t);
});

test('a run by hand passes its results on, also if it follows a run itself', async () => {
  await using t = await testEngine({ types: [step], defs: [extracting, loading] });
  const before = await t.engine.createJobRun(step);
  const run = await t.engine.createJobRun(extracting, { after: before });
  await t.drain();
  expect(await run.result()).toMatchObject({ rows: [3, 4] });
  expect(await resultsOf(t, 'load')).toEqual([{ rows: [3, 4], name: 'x' }]);
});

test('disabled followers get no run by hand, and a middleware sees those of the others', async () => {
  const seen: (string | null)[] = [];
  await using t = await testEngine({
    defs: chain,
    middleware: [{
      create: (run, next) => {
        seen.push(`${run.def} ${run.tickTime === null}`);
        return next();
      },
    }],
  });
  await t.engine.disable('three');
  await t.engine.createJobRun(chain[0]);
  await t.drain();
  expect(await standings(t)).toEqual(['one succeeded', 'two succeeded']);
  expect(seen).toEqual(['one true', 'two true']);
});

test('a backfill can leave out the followers', async () => {
  await using t = await testEngine({ now: '2026-01-02T00:30:00Z', defs: jobSequence(
    [jobDef('one', step), jobDef('two', step)], { schedules: cron('0 0 * * *') }) });
  await t.engine.backfill('one', { from: '2025-12-31T12:00:00Z', to: '2026-01-01T12:00:00Z', followers: false });
  await t.advance('5m');
  expect((await standings(t)).filter((text) => !text.startsWith('null'))).toEqual(['one succeeded']);
});
