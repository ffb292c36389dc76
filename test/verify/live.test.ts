// What other processes do while `verify` reads is no violation, and `verify` does not read what they create meanwhile.
import { expect, test } from 'vitest';
import { jobDef, jobType } from '../../src/index.ts';
import type { FlowDraft } from '../../src/jobs/create-flow.ts';
import { declare } from '../../src/jobs/define.ts';
import { createLimit, overrideLimit } from '../../src/jobs/limits.ts';
import { endPause, pause } from '../../src/jobs/pauses.ts';
import { tickDue } from '../../src/jobs/tick.ts';
import type { Job } from '../../src/model/job.ts';
import type { StoredStep } from '../../src/model/step.ts';
import type { Store } from '../../src/store/store.ts';
import { every } from '../../src/time/schedule.ts';
import { verify, type Violation } from '../../src/verify.ts';
import { LimitStarts } from '../../src/verify/limit-starts.ts';
import { stepsOfJobs } from '../../src/verify/steps-of-jobs.ts';
import { FamilyTally } from '../../src/verify/family-tally.ts';
import { broken, minute, tester, World } from '../jobs/world.ts';
import { stores } from '../support/stores.ts';

const open = (): Promise<World> => World.open(stores[0]!);

/** As `stint verify` on a live database. */
const findings = (store: Store): Promise<Violation[]> =>
  Array.fromAsync(verify(store, { patienceMs: 10, clock: { sleep: async () => {} } }));

type Method = { [Name in keyof Store]-?: Store[Name] extends (...values: never[]) => Promise<unknown> ? Name : never }[keyof Store];
type Values = readonly unknown[];

/** The store, of which a method is executed by `call`. */
function replaced(store: Store, method: Method, call: (values: Values, execute: (values: Values) => Promise<unknown>) => Promise<unknown>): Store {
  const execute = (values: Values): Promise<unknown> => (store[method] as (...all: Values) => Promise<unknown>)(...values);
  return new Proxy(store, {
    get(target, name) {
      if (name === method) return (...values: Values) => call(values, execute);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member as (...all: Values) => unknown).bind(target) : member;
    },
  });
}

/** The store; something happens before the first call of a method for which `isIt`. */
function interrupted(store: Store, method: Method, work: () => Promise<unknown>, isIt: (...values: Values) => boolean = () => true): Store {
  let isDone = false;
  return replaced(store, method, async (values, execute) => {
    if (!isDone && isIt(...values)) {
      isDone = true;
      await work();
    }
    return execute(values);
  });
}

const uses = { limitUses: [{ name: 'api', key: null, cost: 1 }] };

/** A limit of one running job, and three jobs that wait for it. */
async function limited(world: World): Promise<Job[]> {
  await createLimit(world.store, { name: 'api', keyed: false, override: { concurrency: 1 } }, tester);
  const jobs = [await world.create(uses), await world.create(uses), await world.create(uses)];
  await world.clock.advance(minute);
  return jobs;
}

async function raise(world: World, jobs: readonly Job[]): Promise<void> {
  await overrideLimit(world.store, 'api', { concurrency: 3 }, tester);
  for (const job of jobs) await world.claimOne(job);
}

test('a limit that is raised after the jobs were read', async () => {
  const world = await open();
  const jobs = await limited(world);
  expect(await findings(interrupted(world.store, 'limitUse', () => raise(world, jobs)))).toEqual([]);
  await world.close();
});

test('a limit that is raised and lowered again after the jobs were read', async () => {
  const world = await open();
  const jobs = await limited(world);
  const work = async (): Promise<void> => {
    await raise(world, jobs);
    await world.clock.advance(2 * minute);
    await overrideLimit(world.store, 'api', { concurrency: 1 }, tester);
    await world.clock.advance(2 * minute);
  };
  expect(await findings(interrupted(world.store, 'limitUse', work))).toEqual([]);
  await world.close();
});

test('a pause that ends after it was read, and a claim after its end', async () => {
  const world = await open();
  const job = await world.create({ type: 'charge' });
  const target = { type: 'charge', key: null };
  await pause(world.store, target, null, tester);
  const work = async (): Promise<void> => {
    await world.clock.advance(minute);
    await endPause(world.store, target, tester);
    await world.claimOne(job);
    await world.clock.advance(minute);
  };
  const ofJobs = (ids: unknown): boolean => (ids as number[]).includes(job.id);
  expect(await findings(interrupted(world.store, 'histories', work, ofJobs))).toEqual([]);
  await world.close();
});

test('a run that a definition creates while its runs are read', async () => {
  const world = await open();
  const { name, spec } = jobDef('minutely', jobType('tick', { run: () => null }), { schedules: every('1m'), overlap: 'allow' });
  await declare(world.jobs, { name, spec, enabled: true, build: null }, 'code');
  const work = async (): Promise<void> => {
    await world.clock.advance(minute);
    await tickDue(world.jobs, tester);
  };
  await work();
  // Each reading of the runs meets a new one.
  let reads = 0;
  const store = replaced(world.store, 'find', async (values, execute) => {
    if ((values[0] as { def?: string }).def === name) {
      reads += 1;
      await work();
    }
    return execute(values);
  });
  expect(await findings(store)).toEqual([]);
  const { jobs } = await world.store.find({ def: name, kinds: ['run'] });
  expect([reads, jobs.length]).toEqual([2, 3]);
  await world.close();
});

test('a job that is claimed again, and stores a step, whenever its steps are read', async () => {
  const world = await open();
  let job = await world.running({ policy: { attemptsMax: 99, baseMs: 0 } });
  const store = replaced(world.store, 'steps', async (values, execute) => {
    await world.jobs.fail(job, job.fence, broken, tester);
    job = await world.claimOne(job);
    const { id, fence } = job;
    const name = `step ${fence}`;
    await world.store.writeSteps([{ job: id, fence, name, n: fence, kind: 'step', startedAt: 1, endedAt: 2, result: '1', question: null }]);
    return execute(values);
  });
  expect(await findings(store)).toEqual([]);
  expect(job.fence).toBeGreaterThan(2);
  await world.close();
});

test('entries of the feed that are purged while it is read', async () => {
  const world = await open();
  const job = await world.create();
  for (let edits = 0; edits < 9; edits++) {
    await world.clock.advance(1000);
    await world.jobs.edit(job.id, { tags: { edit: String(edits) } }, tester);
  }
  let pages = 0;
  const store = replaced(world.store, 'eventsAfter', async ([cursor], execute) => {
    pages += 1;
    if (pages === 2) await world.store.purge({ limit: 10, feedKeptMs: 3500, retentionMs: null });
    return execute([cursor, 2]);
  });
  expect(await findings(store)).toEqual([]);
  await world.close();
});

test('jobs that are created faster than they are read are left out', async () => {
  const world = await open();
  const many = Array.from({ length: 600 }, () => ({ type: 'plain' }));
  await world.jobs.createMany(many, 'producer');
  let reads = 0;
  const store = replaced(world.store, 'histories', async (values, execute) => {
    reads += 1;
    if (reads < 10) await world.jobs.createMany(many, 'producer');
    return execute(values);
  });
  const verifying = verify(store, { patienceMs: 10, clock: { sleep: async () => {} } });
  const { done, value } = await verifying.next();
  expect(done).toBe(true);
  expect((value as { jobs: number }).jobs).toBeLessThanOrEqual(1000);
  await world.close();
});

test('events that are written faster than they are read are left out', async () => {
  const world = await open();
  await world.create();
  let reads = 0;
  const store = replaced(world.store, 'eventsAfter', async (values, execute) => {
    reads += 1;
    await world.clock.advance(1000);
    if (reads < 10) await world.create();
    return execute(values);
  });
  expect(await findings(store)).toEqual([]);
  expect(reads).toBeLessThan(5);
  await world.close();
});

test('the number of reads does not grow with the number of jobs of a page', async () => {
  const world = await open();
  const step = (after: FlowDraft['after']): FlowDraft => ({ draft: { type: 'flow' }, after, follows: { on: 'succeeded', otherwise: 'cancel' } });
  const readsOf = async (): Promise<number> => {
    let reads = 0;
    const counting = new Proxy(world.store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        reads += name === 'now' ? 0 : 1;
        return (member as (...all: Values) => unknown).bind(target);
      },
    });
    expect(await findings(counting)).toEqual([]);
    return reads;
  };
  const add = async (type: string): Promise<void> => {
    const { tasks } = await world.family(3, { type });
    for (const task of tasks) await world.jobs.succeed(await world.claimOne(task), 1, tester);
    await world.jobs.createFlow([step([]), step([{ run: { index: 0 }, links: [] }])], 'producer');
  };
  await add('first');
  const few = await readsOf();
  for (let more = 0; more < 10; more++) await add(`family ${more}`);
  expect(await readsOf()).toBe(few);
  await world.close();
});

test('of a job with many steps, all are read', async () => {
  const steps = Array.from({ length: 1500 }, (_, index) => ({ job: 1, n: index + 1 }) as StoredStep);
  const reader: Pick<Store, 'steps'> = {
    steps: async (jobs, after = -1, limit = 1000) =>
      jobs.flatMap((id) => steps.filter(({ job, n }) => job === id && n > after).slice(0, limit)),
  };
  const job = (id: number, version = 2) => ({ id, kind: 'run', version }) as Job;
  const read = await stepsOfJobs(reader, [job(1), job(2)]);
  expect(read.get(1)).toEqual(steps);
  expect((await stepsOfJobs(reader, [job(1, 1)])).size).toBe(0);
});

const task = (parent: number, key: string | null): Job => ({ kind: 'task', parent, key }) as Job;

test('the tasks of a run are searched only if they are not as planned', () => {
  const counts = new FamilyTally();
  expect([1, 2, 3, 4].flatMap((run) => counts.expect(run, 2))).toEqual([]);
  expect(counts.add([task(1, 'a'), task(1, 'b'), task(2, 'a'), task(3, null), task(3, null)])).toEqual([]);
  expect(counts.unfinished()).toEqual([2, 4]);
  expect(counts.add([task(1, 'c'), task(2, 'a'), task(5, 'a')])).toEqual([1, 2, 5]);
  expect(counts.add([task(1, 'd')])).toEqual([]);
  expect(counts.expect(6, 1_000_000)).toEqual([6]);
  expect(counts.add([task(6, 'a')])).toEqual([]);
  expect(counts.unfinished()).toEqual([4]);
});

test('the starts of a limit are in the order of time', () => {
  const starts = new LimitStarts();
  const all = Array.from({ length: 100 }, (_, index) => ({ job: index, cost: 1.5, at: (index * 37) % 100 }));
  for (const start of all) starts.add(start);
  expect([...starts.inOrder()]).toEqual(all.toSorted((a, b) => a.at - b.at));
});
