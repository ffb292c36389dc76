// Backfills of the same minutes by two requests, beside ticks on time, while the process that works on them is killed again
// and again: every minute has exactly one run.
import { describe, expect, test } from 'vitest';
import type { Job } from '../../../src/index.ts';
import { pagesOf } from '../../../src/store/paging.ts';
import { verify } from '../../../src/verify.ts';
import { bySize } from '../../support/size.ts';
import { figure } from './figures.ts';
import type { Member } from './member.ts';
import { storeKindsOfSize, World } from './world.ts';

const minuteMs = 60_000;
const count = bySize({ small: 200, ci: 4_000, long: 43_200 });
const kills = bySize({ small: 2, ci: 4, long: 12 });

describe.each(storeKindsOfSize)('on $name', (kind) => {
  test(`${count} minutes backfilled twice, beside ticks on time and ${kills} kills, have one run each`, async () => {
    await using world = await World.create(kind);
    const { engine } = world;
    const members = new Map<string, Member>();
    const start = async (instance: string): Promise<void> => {
      members.set(instance, await world.start('minutely', instance, { slots: 64 }));
    };
    for (const instance of ['0', '1']) await start(instance);
    const to = Math.floor(engine.now() / minuteMs) * minuteMs - 5 * minuteMs;
    const from = to - count * minuteMs;
    const begun = performance.now();
    const runs = [
      await engine.backfill('minutely', { from, to, concurrency: 400 }),
      await engine.backfill('minutely', { from: from + (count / 2) * minuteMs, to, concurrency: 50 }),
    ];
    for (let kill = 1; kill <= kills; kill++) {
      await world.until(`${kill} parts of ${kills + 1} to be created`, async () =>
        await existing(world, from, to) >= (count / (kills + 1)) * kill);
      const holder = await world.until('an instance to work on a backfill', async () =>
        holderOf(await engine.get(runs[kill % 2]!.id)) ?? holderOf(await engine.get(runs[0]!.id)) ?? isOver(world, runs));
      if (holder === true) break;
      await members.get(holder)?.end('SIGKILL');
      await start(String(kill + 1));
    }
    for (const { id } of runs) await ended(world, id);
    figure(`backfill of ${count} minutes with ${kills} kills on ${kind.name}`, performance.now() - begun, 'ms');

    const all = (await Array.fromAsync(pagesOf(engine.jobs, { kinds: ['run'], def: 'minutely' }))).flat();
    const ofMinutes = all.filter(({ tick }) => tick!.schedule === 0 && tick!.nominal < to).map(({ tick }) => tick!.nominal);
    expect(ofMinutes.sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => from + index * minuteMs));
    const onTime = all.filter(({ tick }) => tick!.schedule === 1).map(({ tick }) => tick!.nominal);
    expect([onTime.length > 0, new Set(onTime).size]).toEqual([true, onTime.length]);
    for (const member of members.values()) await member.end('SIGTERM');
    for await (const found of verify(engine.jobs.store)) expect(found).toBeNull();
  });
});

const holderOf = (job: Job): string | null => (job.state === 'running' ? job.lease.holder : null);

const isOver = async ({ engine }: World, runs: readonly { readonly id: number }[]): Promise<true | null> =>
  ((await Promise.all(runs.map(({ id }) => engine.get(id)))).every(({ state }) => state === 'ended') ? true : null);

async function existing({ engine }: World, from: number, to: number): Promise<number> {
  return (await engine.planBackfill('minutely', { from, to })).existing;
}

/** Waits for the end of a run, as long as it makes progress. */
async function ended(world: World, id: number): Promise<void> {
  for (let version = -1; ; ) {
    const job = await world.until(`a change of run ${id}`, async () => {
      const read = await world.engine.get(id);
      return read.state === 'ended' || read.version !== version ? read : null;
    });
    if (job.state === 'ended') return expect(job).toMatchObject({ fate: 'succeeded' });
    version = job.version;
  }
}
