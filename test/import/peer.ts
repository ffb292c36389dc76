// The other system of an import proof: filled by its own package, and asked by it for the order of its jobs.
import { install, folderOf } from '../../bench/peers/install.ts';
import type { PackageName } from '../../bench/peers/packages.ts';

/** A job as the peer was given it. */
export interface SentJob {
  readonly n: number;
  readonly queue: string;
  readonly payload: { readonly n: number; readonly text: string };
  /** Milliseconds; undefined: at once. */
  readonly due?: number;
  /** As in Stint: the highest first. */
  readonly priority: number;
  readonly attempts: number;
}

export interface SentSchedule {
  readonly name: string;
  readonly cron: string;
  readonly zone: string;
}

/** An open peer. */
export interface OpenPeer {
  /** Sends the jobs in the order of the list, and creates the schedules. */
  fill(jobs: readonly SentJob[], schedules: readonly SentSchedule[]): Promise<void>;
  /** A text that differs if anything in the peer's database has changed. */
  digest(): Promise<string>;
  /** Takes the next jobs of a queue as a worker does; returns their numbers. */
  next(queue: string, count: number): Promise<readonly number[]>;
  /** The words after `stint import`. */
  readonly words: readonly string[];
  /** The folder with the packages of the user's project, if the import needs one. */
  readonly modules?: string;
  /** The name of the definition that the import makes of a schedule. */
  definitionName(name: string): string;
  close(): Promise<void>;
}

export const queues = ['mail', 'thumbs', 'ready'] as const;
/** All jobs of this queue are due, so that their order can be compared. */
export const readyQueue = 'ready';

export const jobCount = 10_000;
export const scheduleCount = 50;

export const sentJobs = (now: number, { hasZones }: { readonly hasZones: boolean }) => ({
  jobs: Array.from({ length: jobCount }, (_, n): SentJob => {
    const queue = queues[n % queues.length]!;
    const isLater = queue !== readyQueue && n % 4 === 0;
    return {
      n,
      queue,
      payload: { n, text: `job ${n} – ünïcode "quoted" \\ ${'x'.repeat(n % 50)}` },
      ...(isLater ? { due: now + 3_600_000 + n * 1_000 } : {}),
      priority: 0 - (n % 5),
      attempts: 1 + (n % 7),
    };
  }),
  schedules: Array.from({ length: scheduleCount }, (_, n): SentSchedule => ({
    name: `schedule_${n}`,
    cron: `${n} ${n % 24} ${n % 3 === 0 ? '*/2' : '*'} * ${n % 2 === 0 ? '1-5' : '*'}`,
    zone: hasZones && n % 2 === 0 ? 'Europe/Berlin' : 'UTC',
  })),
});

/** Installs the package of a peer, and returns its folder. */
export function installed(name: PackageName): string {
  const error = install(name);
  if (error !== null) throw new Error(`cannot install ${name}: ${error}`);
  return folderOf(name);
}
