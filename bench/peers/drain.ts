/**
 * Drains a backlog by some processes. Workers start on a full queue; the clock starts once they have done a part
 * of it, so that neither their start nor the compiling of their code is timed, and stops when nothing is unfinished.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../child.ts';
import type { CpuPerJob } from '../stopwatch.ts';
import type { Order, Sight } from './hand.ts';
import { ServerClock } from './server-clock.ts';
import { sharedMs } from './shared-time.ts';
import type { Site } from './site.ts';

const lookMs = 10;

type Hand = Child<Order>;

export interface Drained {
  /** Jobs per second. */
  readonly rate: number;
  readonly cpu: CpuPerJob;
  /** Of the process that took most. */
  readonly peakRssMB: number;
}

export async function drain(site: Site, processes: number, jobs: number, warmUpShare: number): Promise<Drained> {
  const workers: Hand[] = [];
  while (workers.length < processes) workers.push(await site.hire());
  const producer = site.entrant.isEmbedded ? workers[0]! : await site.hire();
  await producer.ask({ do: 'fill', jobs });
  using server = new ServerClock(site.ground);
  await Promise.all(workers.map((worker) => worker.ask({ do: 'work' })));
  await whenHandled(workers, jobs);
  while ((await workers[0]!.ask<number>({ do: 'countUnfinished' })) > 0) await sleep(lookMs);
  const endMs = sharedMs();
  return drainedSince(jobs * warmUpShare, await lookAt(workers), endMs, server);
}

async function whenHandled(workers: readonly Hand[], jobs: number): Promise<void> {
  for (;;) {
    const handled = sum(await Promise.all(workers.map((worker) => worker.ask<number>({ do: 'count' }))), Number);
    if (handled > jobs) throw new Error(`${handled} jobs were handled where there were ${jobs}`);
    if (handled === jobs) return;
    await sleep(lookMs);
  }
}

const lookAt = (workers: readonly Hand[]): Promise<Sight[]> =>
  Promise.all(workers.map((worker) => worker.ask<Sight>({ do: 'look' })));

/** Milestones and not looks tell of the start: some never look up from their work until all of it is done. */
function drainedSince(warmUpJobs: number, sights: readonly Sight[], endMs: number, server: ServerClock): Drained {
  const startMs = warmMs(sights, warmUpJobs / sights.length);
  const before = sights.map(({ milestones }) => milestones.findLast(({ ms }) => ms <= startMs) ?? milestones[0]!);
  const jobs = sum(sights, ({ handled }) => handled) - sum(before, ({ handled }) => handled);
  const clientUs = (sum(sights, ({ cpuUs }) => cpuUs) - sum(before, ({ cpuUs }) => cpuUs)) / jobs;
  return {
    rate: (jobs / (endMs - startMs)) * 1_000,
    cpu: { clientUs, serverUs: server.usSince(startMs, jobs) },
    peakRssMB: Math.max(...sights.map(({ peakRssMB }) => peakRssMB)),
  };
}

/** When all were warm; one that got too few jobs for that does not keep the others waiting. */
function warmMs(sights: readonly Sight[], jobsEach: number): number {
  const warm = sights.flatMap(({ milestones }) => milestones.find(({ handled }) => handled >= jobsEach)?.ms ?? []);
  return warm.length === 0 ? Math.min(...sights.map(({ milestones }) => milestones[0]!.ms)) : Math.max(...warm);
}

const sum = <Thing>(things: readonly Thing[], of: (thing: Thing) => number): number =>
  things.reduce((total, thing) => total + of(thing), 0);
