// The claimer: a claim that found fewer jobs than it wanted is repeated only when there may be more.
import { expect, test } from 'vitest';
import { Engine, jobType, openStore } from '../../src/index.ts';
import { Jobs } from '../../src/jobs.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/testing/index.ts';

test('a run that is continued at the end of another one is claimed by one search', async () => {
  const clock = new VirtualClock(1_800_000_000_000);
  const store = openStore('memory:', { clock });
  let searches = 0;
  const claim = store.claim.bind(store);
  store.claim = (request, decide) => {
    if (request.kinds.includes('run')) searches += 1;
    return claim(request, decide);
  };
  const link = jobType('link', { run: () => {} });
  const engine = new Engine({ store, clock, types: [link] });
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  searches = 0;
  const { runs } = await engine.createFlow((f) => {
    let last = f.run(link, {});
    for (let more = 1; more < 10; more += 1) last = f.run(link, { after: last });
  });
  await clock.advance(10);
  await runs.at(-1)!.result();
  // The commit of the flow and its creator both wake the claimer.
  expect(searches).toBe(runs.length + 1);
  await engine.close();
});

test('a run whose handler returns at once is claimed by one search', async () => {
  const clock = new VirtualClock(1_800_000_000_000);
  const store = openStore('memory:', { clock });
  let [searches, handled] = [0, 0];
  const claim = store.claim.bind(store);
  store.claim = (request, decide) => {
    if (request.kinds.includes('run')) searches += 1;
    return claim(request, decide);
  };
  const engine = new Engine({ store, clock, types: [jobType('quick', { run: () => void (handled += 1) })] });
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  searches = 0;
  for (let made = 1; made <= 3; made += 1) {
    await new Jobs(store).createMany([{ type: 'quick' }], 'test');
    await clock.advance(1);
    expect({ handled, searches }).toEqual({ handled: made, searches: made });
  }
  await engine.close();
});

const createSingle = async (store: Store): Promise<void> =>
  void (await new Jobs(store).createMany([{ type: 'single' }], 'test'));

/**
 * Executes 200 jobs in batches of ten, one batch at a time, beside jobs of the type `single`; returns the types of the
 * calls of handlers. `onBatch` is called with the number of those calls.
 */
async function handledBesideBatches(
  store: Store,
  clock: VirtualClock,
  onBatch: (calls: number) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const handled: string[] = [];
  const batched = jobType('batched', {
    batch: { size: 10 },
    runBatch: ({ jobs }) => {
      void onBatch(handled.push('batched'));
      return jobs.map((job) => job.done());
    },
  });
  const single = jobType('single', { run: () => void handled.push('single') });
  const engine = new Engine({ store, clock, types: [batched, single], slots: 1 });
  await new Jobs(store).createMany(Array.from({ length: 200 }, () => ({ type: 'batched' })), 'test');
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  await engine.whenIdle();
  await engine.close();
  return handled;
}

test('types without jobs are searched beside the claims of full batches only if one of their jobs may be due', async () => {
  const clock = new VirtualClock(1_800_000_000_000);
  const store = openStore('memory:', { clock });
  const searches: string[] = [];
  const claim = store.claim.bind(store);
  store.claim = (request, decide) => {
    if (request.kinds.includes('run') && 'exact' in request.names) searches.push(request.names.exact[0]!);
    return claim(request, decide);
  };
  const handled = await handledBesideBatches(store, clock, async (calls) => {
    if (calls === 5) await createSingle(store);
  });
  expect(handled).toHaveLength(21);
  expect(handled.indexOf('single')).toBeLessThan(15);
  expect(searches.filter((type) => type === 'single').length).toBeLessThan(10);
});

test('batches that end make room for further ones at once, though no single jobs wait', async () => {
  const clock = new VirtualClock(1_800_000_000_000);
  const store = openStore('memory:', { clock });
  let handled = 0;
  const batched = jobType('batched', {
    batch: { size: 10 },
    runBatch: async ({ jobs }) => {
      await clock.sleep(1_000);
      handled += jobs.length;
      return jobs.map((job) => job.done());
    },
  });
  const single = jobType('single', { run: () => {} });
  const engine = new Engine({ store, clock, types: [batched, single], slots: 16 });
  await new Jobs(store).createMany(Array.from({ length: 800 }, () => ({ type: 'batched' })), 'test');
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  await clock.advance(5_500);
  expect(handled).toBe(800);
  await engine.close();
});

test('a job that is announced during a search that misses it is claimed beside full batches, too', async () => {
  const clock = new VirtualClock(1_800_000_000_000);
  const store = openStore('memory:', { clock });
  const claim = store.claim.bind(store);
  let isCreated = false;
  store.claim = async (request, decide) => {
    const claimed = await claim(request, decide);
    const isOfSingles = request.kinds.includes('run') && 'exact' in request.names && request.names.exact[0] === 'single';
    if (isOfSingles && !isCreated) {
      isCreated = true;
      await createSingle(store);
    }
    return claimed;
  };
  const handled = await handledBesideBatches(store, clock);
  expect(handled).toHaveLength(21);
  expect(handled.indexOf('single')).toBeLessThan(10);
});
