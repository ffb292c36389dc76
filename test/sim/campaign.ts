// The campaign: which seeds are simulated how. Most are busy and full of trouble; some are long and quiet.
import { simulateAll } from './fleet.ts';
import { regressions } from './regressions.ts';
import type { SimOptions, SimReport } from './world.ts';

export interface Campaign {
  /** Fresh seeds, from the first on. */
  readonly first: number;
  readonly fresh: number;
  /** As many of the fresh ones are long and quiet. */
  readonly quiet: number;
  /** So many are simulated a second time. */
  readonly twice: number;
  readonly hands?: number;
  /** Answered with false, no further seed is begun. */
  readonly onReport?: (report: SimReport) => boolean | void;
}

export interface CampaignReports {
  readonly reports: readonly SimReport[];
  readonly again: readonly SimReport[];
}

const minute = 60_000;

/** What is passed to `simulate` for busy seeds, and for quiet ones. */
export const busy: SimOptions = { chaosMs: 62 * minute };
export const quiet: SimOptions = { chaosMs: 380 * minute, isQuiet: true };

export async function campaign({ first, fresh, quiet: quietCount, twice, ...ask }: Campaign): Promise<CampaignReports> {
  const numbers = Array.from({ length: fresh }, (_, index) => first + index);
  const busySeeds = [...regressions.map(({ seed }) => seed), ...numbers.slice(quietCount)];
  const quietReports = await simulateAll({ ...ask, ...quiet, seeds: numbers.slice(0, quietCount) });
  const busyReports = await simulateAll({ ...ask, ...busy, seeds: busySeeds });
  const again = await simulateAll({ ...ask, ...busy, seeds: busySeeds.slice(0, twice) });
  return { reports: [...busyReports, ...quietReports], again };
}
