// Claim on create: a single job is claimed in the commit that creates it, if a slot is free and nothing else is due.
import { expect, test } from 'vitest';
import { Engine, jobType, openStore, typed, type EngineOptions } from '../../src/index.ts';
import { seededRandom } from '../../src/random.ts';
import type { Store, Writer } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/testing/index.ts';

const greet = jobType('greet', { run: () => 'hello' });

async function idleEngine(options: Partial<EngineOptions> = {}, wrap: (store: Store) => Store = (store) => store) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const store = wrap(openStore('memory:', { clock }));
  const engine = new Engine({ store, clock, types: [greet], random: seededRandom(1), instance: 'ann', ...options });
  await engine.resume();
  await clock.advance(1_000);
  return { clock, engine };
}

const kindsOf = async (engine: Engine, id: number): Promise<string[]> =>
  (await engine.history(id)).map(({ kind }) => kind);

test('claims the job in the creating commit, and starts its handler after the code that awaits the creation', async () => {
  const order: string[] = [];
  const recording = jobType('recording', { run: () => void order.push('worked on') });
  const { engine, clock } = await idleEngine({ types: [recording] });
  const run = await engine.createJobRun(recording);
  order.push('created');
  const [first, second] = await engine.history(run.id);
  await clock.advance(2_000);

  expect([first!.kind, second!.kind]).toEqual(['created', 'claimed']);
  expect(second!.at).toBe(first!.at);
  expect(order).toEqual(['created', 'worked on']);
  expect(await kindsOf(engine, run.id)).toEqual(['created', 'claimed', 'succeeded']);
});

/** Records type and state of each job in the commit that creates it. */
const watching = (born: string[]) => (store: Store): Store => new Proxy(store, {
  get: (target, name) => {
    if (typeof target[name as keyof Store] !== 'function') return undefined;
    const method = (target[name as keyof Store] as (...values: unknown[]) => Promise<unknown>).bind(target);
    if (name !== 'commit') return method;
    return (batch: Parameters<Store['commit']>[0]) => {
      const created = batch.changes.filter(({ before, after }) => before === null && after!.kind === 'run');
      born.push(...created.map(({ after }) => `${after!.type} ${after!.state}`));
      return method(batch);
    };
  },
});

test('claim on create does not apply to a job that is due later or limited', async () => {
  const limited = jobType('limited', { concurrency: 1, run: () => {} });
  const born: string[] = [];
  const { engine, clock } = await idleEngine({ types: [greet, limited] }, watching(born));
  const later = await engine.createJobRun(greet, { delay: '1m' });
  const gated = await engine.createJobRun(limited);
  await clock.advance(120_000);

  expect(born).toEqual(['greet pending', 'limited pending']);
  expect(await kindsOf(engine, later.id)).toEqual(['created', 'claimed', 'succeeded']);
  expect(await kindsOf(engine, gated.id)).toEqual(['created', 'claimed', 'succeeded']);
});

test('claims no more jobs than there are slots, even if many are created at once', async () => {
  const ends: (() => void)[] = [];
  const slow = jobType('slow', { run: () => new Promise<void>((resolve) => ends.push(resolve)) });
  const { engine, clock } = await idleEngine({ types: [slow], slots: 2 });
  const runs = await Promise.all([1, 2, 3, 4].map(() => engine.createJobRun(slow)));
  const states = await Promise.all(runs.map(async ({ id }) => (await engine.get(id)).state));
  await clock.advance(2_000);

  expect(states).toEqual(['running', 'running', 'pending', 'pending']);
  expect(ends).toHaveLength(2);
});

test('claims nothing while suspended, and releases a job that was claimed during the suspension', async () => {
  const under = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = (store: Store): Store => new Proxy(store, {
    get: (target, name) => {
      if (typeof target[name as keyof Store] !== 'function') return undefined;
      const method = (target[name as keyof Store] as (...values: unknown[]) => Promise<unknown>).bind(target);
      if (name !== 'commit') return method;
      return async (batch: Parameters<Store['commit']>[0]) => {
        const isCreating = batch.changes[0]?.after?.state === 'running' && batch.changes[0].before === null;
        if (isCreating) under.resolve();
        if (isCreating) await goOn.promise;
        return method(batch);
      };
    },
  });
  const { engine, clock } = await idleEngine({}, slow);
  const creating = engine.createJobRun(greet);
  await under.promise;
  await engine.suspend();
  goOn.resolve();
  const run = await creating;
  await clock.advance(2_000);
  const other = await engine.createJobRun(greet);
  await clock.advance(2_000);

  expect((await engine.get(run.id)).state).toBe('pending');
  expect(await kindsOf(engine, other.id)).toEqual(['created']);
});

test('L3: a job whose creating commit was written and not answered is released, and the attempt does not count', async () => {
  let isLost = false;
  const losing = (store: Store): Store => new Proxy(store, {
    get: (target, name) => {
      if (typeof target[name as keyof Store] !== 'function') return undefined;
      const method = (target[name as keyof Store] as (...values: unknown[]) => Promise<unknown>).bind(target);
      if (name !== 'commit') return method;
      return async (...values: unknown[]) => {
        const written = await method(...values);
        const [{ changes }] = values as [{ changes: readonly { before: unknown; after: { type: string } | null }[] }];
        if (isLost || changes[0]?.before !== null || changes[0].after?.type !== 'greet') return written;
        isLost = true;
        throw new Error('no answer came');
      };
    },
  });
  const { engine, clock } = await idleEngine({}, losing);
  await expect(engine.createJobRun(greet)).rejects.toThrow('no answer came');
  await clock.advance(60_000);
  const [job] = (await engine.find({ types: ['greet'] })).jobs;

  expect(job).toMatchObject({ state: 'ended', fate: 'succeeded', attempt: 1, crashes: 0 });
  expect(await kindsOf(engine, job!.id)).toEqual(['created', 'claimed', 'released', 'claimed', 'succeeded']);
});

test('a refusal frees the reserved slot', async () => {
  const picky = jobType('picky', { input: typed<string>(), run: () => 'done' });
  const { engine, clock } = await idleEngine({ types: [picky], slots: 1 });
  for (let tries = 0; tries < 3; tries += 1) {
    await expect(engine.createJobRun(picky, { input: 'x', tags: { '': 'y' } })).rejects.toThrow();
  }
  const run = await engine.createJobRun(picky, { input: 'x' });
  await clock.advance(2_000);

  expect(await kindsOf(engine, run.id)).toEqual(['created', 'claimed', 'succeeded']);
  expect((await engine.history(run.id))[1]!.at).toBe((await engine.history(run.id))[0]!.at);
});

test("a failure in the caller's transaction does not prevent the next claim on create", async () => {
  const born: string[] = [];
  const broken = (store: Store): Store => new Proxy(store, {
    get: (target, name) => {
      if (name === 'within') {
        return () => ({ ...writerOf(target), commit: () => Promise.reject(new Error('rolled back')) });
      }
      if (typeof target[name as keyof Store] !== 'function') return undefined;
      return (target[name as keyof Store] as (...values: unknown[]) => Promise<unknown>).bind(target);
    },
  });
  const { engine } = await idleEngine({}, (store) => broken(watching(born)(store)));
  await expect(engine.in({}).createJobRun(greet)).rejects.toThrow('rolled back');
  await engine.createJobRun(greet);

  expect(born).toEqual(['greet running']);
});

const writerOf = (store: Store): Writer => ({
  now: () => store.now(),
  reserveIds: (amount) => store.reserveIds(amount),
  commit: (batch) => store.commit(batch),
  load: (ids) => store.load(ids),
  find: (query, page) => store.find(query, page),
  count: (query, dueBy) => store.count(query, dueBy),
  jobsByKey: (keys) => store.jobsByKey(keys),
  settleable: (limit, parents) => store.settleable(limit, parents),
  closeEdges: (followed) => store.closeEdges(followed),
  proceedable: (followers) => store.proceedable(followers),
  tallyEdges: (followers) => store.tallyEdges(followers),
  edges: (query) => store.edges(query),
  edgesOfMany: (query) => store.edgesOfMany(query),
  steps: (jobs, after, limit) => store.steps(jobs, after, limit),
});
