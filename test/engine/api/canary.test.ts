// An instance with `canary` starts at most a share of the jobs that others execute, and all that nobody else can start.
import { expect, test } from 'vitest';
import { Engine, jobDef, jobType } from '../../../src/index.ts';
import { Fleet } from './fleet.ts';

/** Counts which instance has started how many jobs. Each takes 200 ms. */
class Counted {
  readonly starts = new Map<string, number>();
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  type(name: string, by: string, options: object = {}) {
    const run = (): Promise<void> => {
      this.starts.set(by, this.of(by) + 1);
      return this.#fleet.clock.sleep(200);
    };
    return jobType(name, { ...options, run });
  }

  of(by: string): number {
    return this.starts.get(by) ?? 0;
  }
}

const create = async (fleet: Fleet, engine: Engine, type: ReturnType<Counted['type']>, count: number): Promise<void> => {
  await fleet.passing(engine.createJobRuns(type, Array.from({ length: count }, () => ({}))));
};

test('an instance with a canary share starts at most that share at every moment, and more than none', async () => {
  const fleet = new Fleet();
  const counted = new Counted(fleet);
  const old = await fleet.start({ types: [counted.type('mail', 'old')], slots: 2 });
  const type = counted.type('mail', 'new');
  await create(fleet, old, type, 10);
  await fleet.advance(5_000);
  const before = counted.of('old');
  const canary = await fleet.start({ types: [type], slots: 50, canary: 0.2 });
  await create(fleet, old, type, 300);
  for (let part = 0; part < 60; part += 1) {
    await fleet.advance(500);
    expect(counted.of('new')).toBeLessThanOrEqual(0.25 * (counted.of('old') - before));
  }
  await fleet.advance(10_000);
  expect(counted.of('new') + counted.of('old')).toBe(310);
  expect(counted.of('new')).toBeGreaterThan(30);
  for (const engine of [old, canary]) await fleet.passing(engine.close());
});

test('it starts all jobs of types and versions that nobody else knows, and all jobs when the others are gone', async () => {
  const fleet = new Fleet();
  const counted = new Counted(fleet);
  const old = await fleet.start({ types: [counted.type('mail', 'old')] });
  const second = counted.type('mail', 'new', { version: 2, upgrade: { 1: (input: unknown) => input } });
  const other = counted.type('other', 'new');
  const canary = await fleet.start({ types: [second, other], canary: 0.01 });
  await create(fleet, canary, second, 30);
  await create(fleet, canary, other, 30);
  await fleet.advance(5_000);
  expect(Object.fromEntries(counted.starts)).toEqual({ new: 60 });
  await create(fleet, old, counted.type('mail', 'old'), 30);
  await fleet.advance(5_000);
  expect(Object.fromEntries(counted.starts)).toEqual({ new: 60, old: 30 });
  await fleet.passing(old.close());
  await fleet.advance(1_000);
  await create(fleet, canary, second, 30);
  await fleet.advance(5_000);
  expect(counted.of('new')).toBe(90);
  await fleet.passing(canary.close());
});

test('it does not lead while others can, so that runs for the leader start', async () => {
  const fleet = new Fleet();
  const counted = new Counted(fleet);
  const nightly = (by: string) => jobDef('nightly', counted.type('mail', by), { leaderOnly: true });
  const canary = await fleet.start({ defs: [nightly('new')], canary: 0.05 });
  const old = await fleet.start({ defs: [nightly('old')] });
  await fleet.advance(60_000);
  await fleet.passing(old.createJobRun(nightly('old')));
  await fleet.advance(5_000);
  expect(Object.fromEntries(counted.starts)).toEqual({ old: 1 });
  for (const engine of [old, canary]) await fleet.passing(engine.close());
});

test('a share that is not above 0 and below 1 is refused', () => {
  for (const canary of [0, 1, -0.1, Number.NaN, '0.5']) {
    expect(() => new Engine({ store: 'memory:', canary: canary as number })).toThrow('canary must be a share');
  }
});
