/** Measures a workload: both sides alternate in each round; the rows are medians over the rounds. */
import { sides, type DatabaseName, type Side } from './target.ts';
import type { Database } from './database.ts';
import { median, medianCpu } from './median.ts';
import type { Sizes } from './sizes.ts';
import { Fixture } from './fixture.ts';
import type { CpuPerJob, Reading, Sample } from './stopwatch.ts';
import type { Case, Workload } from './workload.ts';

/** One row of the report. */
export interface Row {
  readonly database: DatabaseName;
  readonly workload: string;
  readonly title: string;
  readonly params: Case['params'];
  readonly unit: Reading['unit'];
  readonly ours: Figure;
  /** Null if there is no hand-written equivalent. */
  readonly limit: Figure | null;
  /** Median over the rounds of ours / limit, inverted for times: 1 is the limit, higher is better. */
  readonly ratio: number | null;
  /** Ours / ours in the base case of the workload; null if the workload has no base case. */
  readonly versusBase: number | null;
}

export interface Figure {
  readonly median: number;
  readonly rounds: readonly number[];
  readonly cpu: CpuPerJob | null;
}

type Fixtures = ReadonlyMap<Side, Fixture>;
type Samples = ReadonlyMap<Side, Sample[]>;

/** Yields each row as soon as it is measured. */
export async function* measure(database: Database, workload: Workload, sizes: Sizes): AsyncGenerator<Row> {
  const fixtures = await openFixtures(database, workload, sizes);
  let bases: readonly Row[] = [];
  try {
    for (const each of workload.cases(sizes)) {
      const samples = await takeSamples(each, fixtures, sizes.rounds);
      const rows = rowsOf(database.name, workload, each, samples);
      if (each.isBase) bases = rows;
      for (const [index, row] of rows.entries()) yield { ...row, versusBase: versus(bases[index], row) };
    }
  } finally {
    await Promise.all([...fixtures.values()].map((fixture) => fixture.close()));
  }
}

async function openFixtures(database: Database, workload: Workload, { warmUpJobs }: Sizes): Promise<Fixtures> {
  const fixtures = new Map<Side, Fixture>();
  for (const side of sides.filter((each) => each === 'ours' || !workload.isOursOnly)) {
    const scratch = await database.createScratch(side, workload.wakesOtherProcesses ?? false);
    fixtures.set(side, await Fixture.open(scratch, warmUpJobs));
  }
  return fixtures;
}

async function takeSamples(each: Case, fixtures: Fixtures, rounds: number): Promise<Samples> {
  const samples = new Map([...fixtures.keys()].map((side): [Side, Sample[]] => [side, []]));
  for (const fixture of fixtures.values()) {
    await each.prepare?.(fixture);
    if (!each.skipsCleanUp) await fixture.scratch.cleanUp();
  }
  for (let round = 0; round < rounds; round += 1) {
    // The first side alternates: the second one competes with disk writes that the first has caused.
    const order = round % 2 === 0 ? [...fixtures] : [...fixtures].toReversed();
    for (const [side, fixture] of order) samples.get(side)!.push(await each.measure(fixture));
  }
  return samples;
}

function rowsOf(database: DatabaseName, workload: Workload, { title, params }: Case, samples: Samples): Row[] {
  const [ours, limits] = [samples.get('ours')!, samples.get('limit')];
  return ours[0]!.readings.map(({ what, unit }, index): Row => {
    const own = figureOf(ours, index);
    const limit = limits ? figureOf(limits, index) : null;
    return {
      database,
      workload: workload.name,
      title: what === undefined ? title : `${title}, ${what}`,
      params,
      unit,
      ours: own,
      limit,
      ratio: limit === null ? null : ratioOf(own, limit, unit),
      versusBase: null,
    };
  });
}

const versus = (base: Row | undefined, { ours }: Row): number | null => (base ? ours.median / base.ours.median : null);

function ratioOf(own: Figure, limit: Figure, unit: Reading['unit']): number {
  const ratio = median(own.rounds.map((value, round) => value / limit.rounds[round]!));
  return unit === 'ms' ? 1 / ratio : ratio;
}

function figureOf(samples: readonly Sample[], index: number): Figure {
  const rounds = samples.map(({ readings }) => readings[index]!.value);
  return { median: median(rounds), rounds, cpu: medianCpu(samples.map(({ cpu }) => cpu)) };
}
