// Very many definitions that are due at the same moment: every tick has its run, soon and once.
import { describe, expect, test } from 'vitest';
import type { Job } from '../../../src/index.ts';
import { figure } from './figures.ts';
import { slowness } from '../../support/patience.ts';
import { bySize } from '../../support/size.ts';
import { storeKindsOfSize, World } from './world.ts';

const count = bySize({ small: 200, ci: 1_000, long: 10_000 });
const periodMs = 15_000;

describe.concurrent.each(storeKindsOfSize)('on $name', (kind) => {
  test(`the ticks of ${count} definitions at one moment have their runs, each once`, async () => {
    await using world = await World.create(kind);
    process.env['STINT_DEFINITIONS'] = String(count);
    const start = performance.now();
    await world.start('scheduled', 'ann', { slots: 32, lease: `${15 * slowness}s` });
    figure(`start with ${count} definitions on ${kind.name}`, performance.now() - start, 'ms');
    const tick = Math.ceil(world.engine.now() / periodMs) * periodMs;
    await world.until('all runs of the tick to end', async () => {
      if (world.engine.now() < tick) return false;
      return (await runsOf(world, tick)).filter(({ state }) => state === 'ended').length === count;
    });

    const runs = await runsOf(world, tick);
    expect(new Set(runs.map(({ def }) => def)).size).toBe(count);
    expect(runs).toHaveLength(count);
    const created = Math.max(...runs.map((job) => job.created - tick));
    const started = Math.max(...runs.map(({ startedAt }) => startedAt! - tick));
    figure(`last of ${count} ticks on ${kind.name}: created`, created, 'ms');
    figure(`last of ${count} ticks on ${kind.name}: started`, started, 'ms');
    expect(runs.every((job) => job.created >= tick)).toBe(true);
  });
});

/** The runs that answer this moment. */
async function runsOf({ engine }: World, nominal: number): Promise<Job[]> {
  const runs: Job[] = [];
  for (let after: number | undefined; ; ) {
    const ask = { order: 'oldest', limit: 1000, ...(after === undefined ? {} : { after }) } as const;
    const page = await engine.find({ kinds: ['run'] }, ask);
    runs.push(...page.jobs.filter(({ tick }) => tick?.nominal === nominal));
    if (page.next === null) return runs;
    after = page.next;
  }
}
