/**
 * The jobs of the measure `verify`. An engine makes a part of them: of a thousand, 400 are executed at once, 100 after a
 * failed attempt, 100 with three steps, 100 under a unique key, 50 under a named limit, and 50 in a flow; 25 runs have
 * three tasks each, and 100 are due later. The others are copies of a run that an engine has executed.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Engine, jobType, limit, typed } from '../../src/index.ts';
import type { NamedFlowRun } from '../../src/engine/declare/named-flow.ts';
import type { Fixture } from '../fixture.ts';
import { storeUrl } from '../workloads/scale-keys.ts';

const plain = jobType('plain', { run: () => null });
const retried = jobType('retried', {
  retry: { attempts: 2, base: '1ms' },
  run: ({ run: { attempt } }) => {
    if (attempt === 1) throw new Error('the first attempt fails');
  },
});
const stepped = jobType('stepped', {
  run: async ({ step }) => {
    for (const name of ['reserve', 'charge', 'send']) await step(name, () => ({ name, at: 1 }));
  },
});
const keyed = jobType('keyed', { input: typed<number>(), run: () => null });
const limited = jobType('limited', {
  limits: [limit('api', { rate: '1000000/1s', burst: 1_000_000, concurrency: 1_000 })],
  run: () => null,
});
const parts = jobType('parts', {
  taskDetails: () => [1, 2, 3],
  taskResults: ({ task }: { task: number }) => task * 2,
  jobResults: ({ counts }) => counts.succeeded,
});

const copied = jobType('copied', { run: () => null });

const slots = 100;
const portion = 1_000;
/** Of a portion. */
const delayed = 100;

/** Creates this many jobs, of which `made` are made by an engine; both are multiples of a thousand. */
export async function fill({ scratch, target }: Fixture, count: number, made: number): Promise<void> {
  const types = [plain, retried, stepped, keyed, limited, parts, copied];
  await using engine = new Engine({ store: storeUrl(scratch.address), types, slots });
  await engine.resume();
  for (let done = 0; done < made; done += portion) {
    await createPortion(engine, done);
    // A long queue would make the claims of the bench slow, not the check.
    await untilOpen(engine, ((done + portion) / portion) * delayed + 10 * portion);
  }
  const sample = await engine.createJobRun(copied);
  await sample.result({ timeout: '60s' });
  await untilOpen(engine, (made / portion) * delayed);
  const copies = count - made - 1;
  await scratch.copyRows({ table: 'ended', sample: copied.name, count: copies, first: await target.reserve(copies), types: [copied.name] });
}

async function createPortion(engine: Engine, first: number): Promise<void> {
  await engine.createJobRuns(plain, times(400, () => ({})));
  await engine.createJobRuns(plain, times(delayed, () => ({ delay: '30d' })));
  await engine.createJobRuns(retried, times(100, () => ({})));
  await engine.createJobRuns(stepped, times(100, () => ({})));
  await engine.createJobRuns(keyed, times(100, (index) =>
    ({ input: first + index, unique: { key: `order ${first + index}`, for: '30d' } })));
  await engine.createJobRuns(limited, times(50, () => ({})));
  await engine.createJobRuns(parts, times(25, () => ({})));
  await engine.createNamedFlow({ runs: times(50, flowRun) });
}

/** Layers of ten runs; each run follows one of the layer before. */
const flowRun = (index: number): NamedFlowRun =>
  ({ name: `run ${index}`, type: 'plain', ...(index < 10 ? {} : { after: [`run ${index - 10}`] }) });

const times = <Value>(count: number, of: (index: number) => Value): Value[] => Array.from({ length: count }, (_, index) => of(index));

/** Waits until at most so many jobs are open. */
async function untilOpen({ jobs: { store } }: Engine, most: number): Promise<void> {
  for (;;) {
    const tallies = await store.count({ kinds: ['run', 'task'], standings: ['pending', 'held', 'running'] });
    if (tallies.reduce((sum, { count }) => sum + count, 0) <= most) return;
    await wait(100);
  }
}
