/**
 * Drains a backlog by one process and by two. Workers start on a full queue; the clock starts once they have done a part
 * of it, so that neither their start nor the compiling of their code is timed, and stops when nothing is unfinished.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../child.ts';
import type { Milestone, Order, Sight } from '../hand.ts';
import type { Measure } from '../measure.ts';
import type { FigureName, Reading } from '../reading.ts';
import { ServerClock } from '../server-clock.ts';
import { sharedMs } from '../shared-time.ts';

const lookMs = 5;

type Hand = Child<Order>;

export const drainBy = (processes: 1 | 2): Measure => ({
  name: `drain ${processes}`,
  suits: ({ isEmbedded = false }) => processes === 1 || !isEmbedded,
  run: async (site, { drain, warmUpShare }) => {
    const jobs = drain[site.entrant.pace];
    const workers: Hand[] = [];
    while (workers.length < processes) workers.push(await site.hire());
    const producer = site.entrant.isEmbedded ? workers[0]! : await site.hire();
    await producer.ask({ do: 'fill', jobs });
    using server = new ServerClock(site.ground);
    await Promise.all(workers.map((worker) => worker.ask({ do: 'work' })));
    await whenHandled(workers, jobs);
    while ((await workers[0]!.ask<number>({ do: 'countUnfinished' })) > 0) await sleep(lookMs);
    const endMs = sharedMs();
    return readingsOf(`drain ${processes}`, await lookAt(workers), jobs * warmUpShare, endMs, server);
  },
});

async function whenHandled(workers: readonly Hand[], jobs: number): Promise<void> {
  for (;;) {
    const handled = sum(await lookAt(workers), (sight) => sight.handled);
    if (handled > jobs) throw new Error(`${handled} jobs were handled where there were ${jobs}`);
    if (handled === jobs) return;
    await sleep(lookMs);
  }
}

const lookAt = (workers: readonly Hand[]): Promise<Sight[]> =>
  Promise.all(workers.map((worker) => worker.ask<Sight>({ do: 'look' })));

/** Milestones and not looks tell of the start: some never look up from their work until all of it is done. */
function readingsOf(
  figure: FigureName,
  sights: readonly Sight[],
  warmUpJobs: number,
  endMs: number,
  server: ServerClock,
): Reading[] {
  const startMs = Math.max(...sights.map(({ milestones }) => warmMs(milestones, warmUpJobs / sights.length)));
  const before = sights.map(({ milestones }) => milestones.findLast(({ ms }) => ms <= startMs)!);
  const jobs = sum(sights, ({ handled }) => handled) - sum(before, ({ handled }) => handled);
  const clientUs = (sum(sights, ({ cpuUs }) => cpuUs) - sum(before, ({ cpuUs }) => cpuUs)) / jobs;
  const serverUs = server.usSince(startMs, jobs);
  const value = (jobs / (endMs - startMs)) * 1_000;
  const rate: Reading = { figure, unit: 'jobs/s', value, cpu: { clientUs, serverUs } };
  if (figure !== 'drain 1') return [rate];
  return [
    rate,
    { figure: 'drain CPU', unit: 'µs', value: clientUs + (serverUs ?? 0) },
    { figure: 'drain memory', unit: 'MB', value: Math.max(...sights.map(({ peakRssMB }) => peakRssMB)) },
  ];
}

/** One that got too little to be warm is so with its last milestone, or its first. */
function warmMs(milestones: readonly Milestone[], jobs: number): number {
  const milestone = milestones.find(({ handled }) => handled >= jobs) ?? milestones.at(-1);
  if (!milestone) throw new Error('a process got hardly a job: give them more');
  return milestone.ms;
}

const sum = <Thing>(things: readonly Thing[], of: (thing: Thing) => number): number =>
  things.reduce((total, thing) => total + of(thing), 0);
