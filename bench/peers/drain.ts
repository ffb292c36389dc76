/**
 * Drains a backlog with one or more processes. Workers start on a full queue. Timing starts after a warm-up share of the
 * jobs, to exclude process start and JIT compilation, and ends when the queue has no unfinished job.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../child.ts';
import type { CpuPerJob } from '../stopwatch.ts';
import type { PeerRequest, ProcessStats } from './peer-process.ts';
import { ServerCpuSampler } from './server-cpu-sampler.ts';
import { sharedMs } from './shared-time.ts';
import type { PeerFixture } from './peer-fixture.ts';

const pollMs = 10;

type PeerProcess = Child<PeerRequest>;

export interface Drained {
  /** Jobs per second. */
  readonly rate: number;
  readonly cpu: CpuPerJob;
  /** The maximum over the processes. */
  readonly peakRssMB: number;
}

export async function drain(
  fixture: PeerFixture,
  processes: number,
  jobs: number,
  warmUpShare: number,
): Promise<Drained> {
  const workers: PeerProcess[] = [];
  while (workers.length < processes) workers.push(await fixture.startProcess());
  const producer = fixture.peer.isEmbedded ? workers[0]! : await fixture.startProcess();
  await producer.request({ do: 'createBacklog', jobs });
  using server = new ServerCpuSampler(fixture.scratch);
  await Promise.all(workers.map((worker) => worker.request({ do: 'work' })));
  await untilHandled(workers, jobs);
  while ((await workers[0]!.request<number>({ do: 'countUnfinished' })) > 0) await sleep(pollMs);
  const endMs = sharedMs();
  return drainedSince(jobs * warmUpShare, await statsOf(workers), endMs, server);
}

async function untilHandled(workers: readonly PeerProcess[], jobs: number): Promise<void> {
  for (;;) {
    const counts = await Promise.all(workers.map((worker) => worker.request<number>({ do: 'countHandled' })));
    const handled = sum(counts, Number);
    if (handled > jobs) throw new Error(`${handled} jobs were handled instead of ${jobs}`);
    if (handled === jobs) return;
    await sleep(pollMs);
  }
}

const statsOf = (workers: readonly PeerProcess[]): Promise<ProcessStats[]> =>
  Promise.all(workers.map((worker) => worker.request<ProcessStats>({ do: 'stats' })));

/** Uses the milestones to find the start: some peers block the event loop until all jobs are done. */
function drainedSince(
  warmUpJobs: number,
  stats: readonly ProcessStats[],
  endMs: number,
  server: ServerCpuSampler,
): Drained {
  const startMs = warmMs(stats, warmUpJobs / stats.length);
  const before = stats.map(({ milestones }) => milestones.findLast(({ ms }) => ms <= startMs) ?? milestones[0]!);
  const jobs = sum(stats, ({ handled }) => handled) - sum(before, ({ handled }) => handled);
  const clientUs = (sum(stats, ({ cpuUs }) => cpuUs) - sum(before, ({ cpuUs }) => cpuUs)) / jobs;
  return {
    rate: (jobs / (endMs - startMs)) * 1_000,
    cpu: { clientUs, serverUs: server.usSince(startMs, jobs) },
    peakRssMB: Math.max(...stats.map(({ peakRssMB }) => peakRssMB)),
  };
}

/** When the last process finished its warm-up. Ignores processes that got too few jobs for it. */
function warmMs(stats: readonly ProcessStats[], jobsPerProcess: number): number {
  const warm = stats.flatMap(({ milestones }) => milestones.find(({ handled }) => handled >= jobsPerProcess)?.ms ?? []);
  return warm.length === 0 ? Math.min(...stats.map(({ milestones }) => milestones[0]!.ms)) : Math.max(...warm);
}

const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((total, item) => total + of(item), 0);
