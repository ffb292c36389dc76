/** The contest: every measure of every entrant, all of them in turn, round by round. */
import { setTimeout as sleep } from 'node:timers/promises';
import { median, medianCpu } from '../median.ts';
import type { CpuPerJob } from '../stopwatch.ts';
import type { Entrant, GroundName } from './entrant.ts';
import type { Grounds } from './grounds.ts';
import type { Measure } from './measure.ts';
import { isOurs } from './ours.ts';
import type { FigureName, Reading, Unit } from './reading.ts';
import { withSite } from './site.ts';
import type { PeerSizes } from './sizes.ts';

/** What the rounds of one entrant came to. */
export interface Figure {
  readonly entrant: string;
  readonly ground: GroundName;
  readonly isOurs: boolean;
  readonly figure: FigureName;
  readonly unit: Unit;
  readonly median: number;
  readonly rounds: readonly number[];
  readonly cpu: CpuPerJob | null;
}

/** A measure that an entrant did not stand. */
export interface Failure {
  readonly entrant: string;
  readonly measure: string;
  readonly why: string;
}

const patienceMs = 300_000;

export async function* take(
  measure: Measure,
  entrants: readonly Entrant[],
  grounds: Grounds,
  sizes: PeerSizes,
): AsyncGenerator<Figure | Failure> {
  const readings = new Map<Entrant, Reading[]>(entrants.map((entrant) => [entrant, []]));
  for (let round = 0; round < sizes.rounds; round += 1) {
    for (const entrant of turned([...readings.keys()], round)) {
      try {
        readings.get(entrant)!.push(...(await measured(measure, entrant, grounds, sizes)));
      } catch (error) {
        if (isOurs(entrant)) throw error;
        readings.delete(entrant);
        yield { entrant: entrant.name, measure: measure.name, why: (error as Error).message };
      }
    }
  }
  for (const [entrant, all] of readings) yield* figuresOf(entrant, all);
}

async function measured(
  measure: Measure,
  entrant: Entrant,
  grounds: Grounds,
  sizes: PeerSizes,
): Promise<readonly Reading[]> {
  const ground = await grounds.fresh(entrant.ground);
  const patience = new AbortController();
  try {
    return await withSite(entrant, ground, (site) => Promise.race([measure.run(site, sizes), tooLate(patience.signal)]));
  } finally {
    patience.abort();
    await ground.remove();
  }
}

async function tooLate(signal: AbortSignal): Promise<never> {
  await sleep(patienceMs, undefined, { signal });
  throw new Error(`not done after ${patienceMs / 1_000} s`);
}

/** Who goes first changes, so that nobody always meets what the same other one left to the disk. */
const turned = <Thing>(all: readonly Thing[], by: number): Thing[] =>
  all.map((_, index) => all[(index + by) % all.length]!);

function figuresOf(entrant: Entrant, readings: readonly Reading[]): Figure[] {
  const names = [...new Set(readings.map(({ figure }) => figure))];
  return names.map((name) => {
    const own = readings.filter(({ figure }) => figure === name);
    const rounds = own.map(({ value }) => value);
    return {
      entrant: entrant.name,
      ground: entrant.ground,
      isOurs: isOurs(entrant),
      figure: name,
      unit: own[0]!.unit,
      median: median(rounds),
      rounds,
      cpu: medianCpu(own.map(({ cpu }) => cpu)),
    };
  });
}
