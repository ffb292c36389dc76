// The campaign: which seeds are simulated with which options. Most are busy with many faults; some are long and quiet.
import { simulateEach } from './simulate-all.ts';
import { regressions } from './regressions.ts';
import type { SimOptions, SimReport } from './simulation.ts';

export interface Campaign {
  /** The first of the fresh seeds. */
  readonly first: number;
  readonly fresh: number;
  /** How many of the fresh seeds are quiet. */
  readonly quiet: number;
  /** How many seeds are simulated twice, to check that a seed gives the same history. */
  readonly twice: number;
  /** For how long faults are injected. */
  readonly chaos: Chaos;
  readonly processes?: number;
  readonly isLowPriority?: boolean;
  /** Returns false to start no further seed. */
  readonly onReport?: (report: SimReport) => boolean | void;
}

/** The options of `simulate` for busy seeds and for quiet seeds. */
export interface Chaos {
  readonly busy: SimOptions;
  readonly quiet: SimOptions;
}

export interface CampaignReports {
  readonly reports: readonly SimReport[];
  readonly again: readonly SimReport[];
}

const minute = 60_000;

const chaosOf = (share: number): Chaos =>
  ({ busy: { chaosMs: share * 62 * minute }, quiet: { chaosMs: share * 380 * minute, isQuiet: true } });

export const wholeChaos = chaosOf(1);
/** The same histories, up to their middle: half of the CPU. */
export const halfChaos = chaosOf(0.5);

/** All seeds wait in one queue, the long quiet ones first, so that no process is idle before the last seed. */
export async function campaign(options: Campaign): Promise<CampaignReports> {
  const { first, fresh, quiet: quietCount, twice, chaos: { busy, quiet }, ...processes } = options;
  const numbers = Array.from({ length: fresh }, (_, index) => first + index);
  const busySeeds = [...regressions.map(({ seed }) => seed), ...numbers.slice(quietCount)];
  const requests = [
    ...numbers.slice(0, quietCount).map((seed) => ({ seed, options: quiet })),
    ...[...busySeeds, ...busySeeds.slice(0, twice)].map((seed) => ({ seed, options: busy })),
  ];
  const reports = await simulateEach(requests, processes);
  const started = (from: number, to?: number): SimReport[] =>
    reports.slice(from, to).filter((report) => report !== undefined);
  const again = quietCount + busySeeds.length;
  return { reports: [...started(quietCount, again), ...started(0, quietCount)], again: started(again) };
}
