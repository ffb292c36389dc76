// A run of very many tasks: planned, worked on and gathered by a process that never holds them all.
import { describe, expect, test } from 'vitest';
import { large } from './children/large.ts';
import { figure } from './figures.ts';
import type { Member } from './member.ts';
import { bySize } from '../../support/size.ts';
import { storeKindsOfSize, World } from './world.ts';

/** From source each thread also holds what strips types; the package is compiled and does without. */
const strippingMb = 40;
const peakMbMax = 250 + strippingMb;
/** On a large machine V8 gives a busy process 128 MB for young objects, whatever it needs: here, as on a small one. */
const flags = ['--max-semi-space-size=8'];
const sizes = bySize({ small: [5_000], ci: [20_000], long: [20_000, 100_000] });
const timeoutMs = 1_800_000;

describe.each(storeKindsOfSize)('on $name', (kind) => {
  test.each(sizes)('a run of %d tasks is gathered within a small memory, and can be watched', async (tasks) => {
    await using world = await World.create(kind);
    const ann = await world.start('large', 'ann', { slots: 32, lease: '15s', flags });
    const start = performance.now();
    const run = await world.engine.createJobRun(large, { input: { tasks } });
    await world.entry({ what: 'half planned' });
    expect(await kind.staged(world.url)).toBeGreaterThan(tasks / 2 - 2_000);
    expect((await world.engine.snapshot(run.id)).tasks.total).toBe(0);
    world.open('go');

    const done: number[] = [];
    for await (const { tasks: counts } of run.watch()) {
      done.push(counts.succeeded);
      if (counts.succeeded > 0) world.open('watched');
    }
    expect(await run.result()).toEqual({
      seen: tasks,
      sum: (tasks * (tasks - 1)) / 2,
      counts: { total: tasks, succeeded: tasks, failed: 0, cancelled: 0 },
    });
    expect(done.some((succeeded) => succeeded > 0 && succeeded < tasks)).toBe(true);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    figure(`seconds for ${tasks} tasks on ${kind.name}`, (performance.now() - start) / 1000, 's');
    expect(await peakMbOf(world, ann)).toBeLessThan(peakMbMax);
  }, timeoutMs);

  test.runIf(bySize({ small: false, long: true }))('a run of 1000000 tasks is planned within a small memory', async () => {
    await using world = await World.create(kind);
    const ann = await world.start('large', 'ann', { slots: 1, lease: '1m', flags });
    world.open('go');
    world.open('watched');
    const run = await world.engine.createJobRun(large, { input: { tasks: 1_000_000 } });
    await world.until('the plan to be stored', async () => (await run.get()).state === 'held');
    expect(await peakMbOf(world, ann)).toBeLessThan(peakMbMax);
    expect((await world.engine.snapshot(run.id)).tasks.total).toBe(1_000_000);
  }, timeoutMs);
});

/** Of its whole life, as it tells at its end. */
async function peakMbOf(world: World, member: Member): Promise<number> {
  await member.end('SIGTERM');
  const peakMb = Number((await world.entry({ what: 'closed', instance: member.instance }))['peakMb']);
  figure(`peak RSS of ${member.instance}`, peakMb, 'MB');
  return peakMb;
}
