// Middleware around the creation of runs and around attempts: its order, what it may change, and its mistakes.
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { every, jobDef, jobType, Refusal, type Middleware, type NewRun, type WorkAttempt } from '../../../src/index.ts';
import { refusal, refused, start, thrown, ticksOf, told } from './kit.ts';

const echo = jobType('echo', { retry: { attempts: 1 }, run: ({ input, run }) => ({ input, tags: run.tags }) });
const broken = jobType('broken', { retry: { attempts: 1 }, run: () => { throw new Error('it broke'); } });
const mail = jobType('mail', {
  input: z.object({ to: z.string(), locale: z.enum(['en', 'de']) }), retry: { attempts: 1 }, run: ({ input }) => input,
});
const parts = jobType('parts', {
  taskDetails: () => [1, 2],
  taskResults: ({ task }: { task: number }) => task * 2,
  jobResults: ({ counts }) => counts.succeeded,
});
const types = [echo, broken, mail, parts];

const creating = (create: NonNullable<Middleware['create']>): Middleware => ({ create });
const working = (work: NonNullable<Middleware['work']>): Middleware => ({ work });

test('the first middleware is the outermost, around creations and around attempts', async () => {
  const order: string[] = [];
  const noting = (name: string): Middleware => ({
    create: async (_, next) => {
      order.push(`create ${name}`);
      await next();
      order.push(`created ${name}`);
    },
    work: async (_, next) => {
      order.push(`work ${name}`);
      await next();
      order.push(`worked ${name}`);
    },
  });
  const t = await start({ types, middleware: [noting('a'), noting('b')] });
  const run = await t.createJobRun(echo, { input: 7 });
  await t.drain();
  expect(await run.result()).toEqual({ input: 7, tags: {} });
  expect(order).toEqual([
    'create a', 'create b', 'created b', 'created a', 'work a', 'work b', 'worked b', 'worked a',
  ]);
});

test('a creation can be changed: each middleware sees the changes of the ones outside it', async () => {
  const seen: NewRun[] = [];
  const t = await start({
    types,
    middleware: [
      creating((_, next) => next({ tags: { tenant: 'acme' }, priority: 4 })),
      creating((run, next) => {
        seen.push(run);
        return next({ tags: { region: 'eu' }, input: { ...(run.input as object), by: run.tags['tenant'] } });
      }),
    ],
  });
  const run = await t.createJobRun(echo, { input: { a: 1 }, tags: { own: 'x' } });
  await t.drain();
  expect(await run.result()).toEqual({ input: { a: 1, by: 'acme' }, tags: { own: 'x', tenant: 'acme', region: 'eu' } });
  expect((await run.get()).priority).toBe(4);
  expect(seen).toEqual([{
    kind: 'run', type: 'echo', def: null, tickTime: null, by: 'test-1', input: { a: 1 }, priority: 4,
    tags: { own: 'x', tenant: 'acme' },
  }]);
});

test('the input is validated after the middleware, which may complete it or spoil it', async () => {
  const t = await start({
    types,
    middleware: [creating(({ type, input, tags }, next) =>
      next(type === 'mail' ? { input: { locale: tags['locale'], ...(input as object) } } : {}))],
  });
  const run = await t.engine.createNamed({ type: 'mail' }, { input: { to: 'ann' }, tags: { locale: 'de' } });
  await t.drain();
  expect(await run.result()).toEqual({ to: 'ann', locale: 'de' });
  const spoiled = t.engine.createNamed({ type: 'mail' }, { input: { to: 'ann' }, tags: { locale: 'xx' } });
  expect(await refused(spoiled)).toBe('malformed.input');
});

test('an error refuses the creation with a code, and nothing of its batch is created', async () => {
  const t = await start({
    types,
    middleware: [creating((run, next) => {
      if (run.input === 'taken') throw new Refusal('taken.key', 'take another', {});
      if (run.input === 'over quota') throw new Error('acme has used its quota');
      return next();
    })],
  });
  expect(await refusal(t.createJobRun(echo, { input: 'over quota' }))).toMatchObject({
    code: 'refused.creation', message: 'a middleware refused the run: acme has used its quota', detail: { type: 'echo' },
  });
  expect(await refused(t.createJobRun(echo, { input: 'taken' }))).toBe('taken.key');
  expect(await refused(t.engine.createJobRuns(echo, [{ input: 1 }, { input: 'over quota' }]))).toBe('refused.creation');
  expect(await t.runs()).toEqual([]);
});

test.each<[string, NonNullable<Middleware['create']>]>([
  ['did not call', () => {}],
  ['called twice', async (_, next) => { await next(); await next().catch(() => {}); }],
])('a creation whose next was %s is refused as a mistake of the middleware', async (_, create) => {
  const t = await start({ types, middleware: [creating(create)] });
  expect(await refused(t.createJobRun(echo))).toBe('wrong.middleware');
  expect(await t.runs()).toEqual([]);
});

test('an attempt fails if its middleware throws, or does not call next', async () => {
  const t = await start({
    types,
    middleware: [working(async ({ input }, next) => {
      if (input === 'before') throw new Error('no tenant');
      if (input !== 'forgets') await next();
      if (input === 'after') throw new Error('cannot report');
    })],
  });
  const runs = await t.engine.createJobRuns(echo, ['before', 'after', 'forgets'].map((input) => ({ input })));
  await t.drain();
  const errors = await Promise.all(runs.map(async (run) => (await run.get()).error));
  expect(errors.map((error) => error?.message)).toEqual([
    'no tenant', 'cannot report',
    'a middleware returned without calling next: call it, or throw an error to refuse',
  ]);
  expect(errors[2]).toMatchObject({ id: 'wrong.middleware' });
});

test('middleware sees the error of a handler, can replace it, and cannot hide it', async () => {
  const seen: string[] = [];
  const t = await start({
    types,
    middleware: [working(async ({ run }, next) => {
      await next().catch((error: Error) => {
        seen.push(error.message);
        if (run.tags['mode'] === 'replace') throw new Error('replaced');
      });
    })],
  });
  const hidden = await t.createJobRun(broken);
  const replaced = await t.createJobRun(broken, { tags: { mode: 'replace' } });
  await t.drain();
  expect((await hidden.get()).error?.message).toBe('it broke');
  expect((await replaced.get()).error?.message).toBe('replaced');
  expect(seen).toEqual(['it broke', 'it broke']);
});

test('an attempt ends with its handler, and has its result, even if the middleware does not await next', async () => {
  const slow = jobType('slow', { run: async () => { await Promise.resolve(); return 'result'; } });
  const t = await start({ types: [slow], middleware: [working((_, next) => { void next(); return 'ignored'; })] });
  const run = await t.createJobRun(slow);
  await t.drain();
  expect(await run.result()).toBe('result');
});

test('a context of AsyncLocalStorage reaches every phase of a run with tasks', async () => {
  const tenant = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  const note = (what: string): number => seen.push(`${what} ${tenant.getStore()}`);
  const planned = jobType('planned', {
    jobDetails: () => note('details'),
    taskDetails: async function* () {
      note('plan');
      yield 1;
    },
    taskResults: () => note('task'),
    jobResults: () => note('results'),
  });
  const about: Pick<WorkAttempt, 'kind' | 'phase' | 'task'>[] = [];
  const t = await start({
    types: [planned],
    middleware: [working((attempt, next) => {
      about.push({ kind: attempt.kind, phase: attempt.phase, task: attempt.task });
      return tenant.run(attempt.run.tags['tenant'] ?? 'nobody', next);
    })],
  });
  await t.createJobRun(planned, { tags: { tenant: 'acme' } });
  await t.drain();
  expect(seen).toEqual(['details acme', 'plan acme', 'task acme', 'results acme']);
  expect(about).toEqual([
    { kind: 'run', phase: 'prepare', task: undefined },
    { kind: 'task', phase: 'run', task: 1 },
    { kind: 'run', phase: 'gather', task: undefined },
  ]);
});

test('the runs of ticks pass through it; a refused tick is skipped with its reason, and the schedule goes on', async () => {
  const seen: (string | undefined)[] = [];
  const hourly = jobDef('hourly', echo, { params: { n: 1 }, schedules: every('1h'), tags: { own: 'x' } });
  const t = await start({
    types,
    defs: [hourly],
    middleware: [creating((run, next) => {
      seen.push(run.tickTime?.toISOString().slice(11, 16));
      if (seen.length === 2) throw new Error('closed at two');
      return next({ tags: { tenant: 'acme' }, priority: 9 });
    })],
  });
  await t.advance('3h');
  expect(seen).toEqual(['01:00', '02:00', '03:00']);
  expect((await ticksOf(t.engine, 'hourly')).map(told).map((tick) => tick.slice(11))).toEqual([
    '01:00 run', '02:00 refused', '03:00 run',
  ]);
  const runs = await t.runs(hourly);
  expect(runs.map(({ tags, priority, input }) => ({ tags, priority, input }))).toEqual(
    Array(2).fill({ tags: { own: 'x', tenant: 'acme' }, priority: 9, input: '{"n":1}' }),
  );
  const { job } = await t.engine.definition('hourly');
  const skipped = (await t.engine.history(job.id)).find(({ why }) => why !== undefined);
  expect(skipped?.why).toBe('refused.creation: a middleware refused the run: closed at two');
});

test('a run that it makes invalid is skipped, and other definitions of the batch tick', async () => {
  const [odd, sound] = ['odd', 'sound'].map((name) => jobDef(name, echo, { params: { n: 1 }, schedules: every('1h') }));
  const t = await start({
    types,
    defs: [odd!, sound!],
    middleware: [creating((run, next) => next(run.def === 'odd' ? { tags: { tenant: 'x'.repeat(10_000) } } : {}))],
  });
  await t.advance('1h');
  const ticks = async (name: string) => (await ticksOf(t.engine, name)).map((tick) => ('run' in tick ? 'run' : tick.skipped));
  expect([await ticks('odd'), await ticks('sound')]).toEqual([['refused'], ['run']]);
});

test('the changed input of a tick is validated by its type', async () => {
  const daily = jobDef('daily', mail, { params: { to: 'ann', locale: 'en' }, schedules: every('1d') });
  const locales = ['de', 'xx'];
  const t = await start({
    types, defs: [daily],
    middleware: [creating((run, next) => next({ input: { ...(run.input as object), locale: locales.shift() } }))],
  });
  await t.advance('2d');
  expect((await ticksOf(t.engine, 'daily')).map((tick) => ('run' in tick ? 'run' : tick.skipped))).toEqual([
    'run', 'refused',
  ]);
  expect((await t.runs(daily)).map(({ input }) => input)).toEqual(['{"to":"ann","locale":"de"}']);
});

test('runs in memory pass through it', async () => {
  const light = jobDef('light', echo, { inMemory: true });
  const t = await start({ types, defs: [light], middleware: [creating((_, next) => next({ tags: { tenant: 'acme' } }))] });
  const run = await t.createJobRun(light);
  await t.drain();
  expect(await run.result()).toEqual({ input: null, tags: { tenant: 'acme' } });
});

test.each([
  ['a function', (() => {}) as never],
  ['an object with an unknown part', [{ creat: () => {} }] as never],
  ['an object whose part is no function', [{ work: 'x' }] as never],
])('%s is no middleware', async (_, middleware) => {
  expect(await thrown(start({ types, middleware }))).toMatchObject({ code: 'malformed.option' });
});
