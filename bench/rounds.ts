/** Measures a workload: both sides in turn, round by round, and sums up what the rounds gave. */
import { sides, type EngineName, type Side } from './contender.ts';
import type { Engine } from './engine.ts';
import { median, medianCpu } from './median.ts';
import type { Sizes } from './sizes.ts';
import { Stand } from './stand.ts';
import type { CpuPerJob, Reading, Sample } from './stopwatch.ts';
import type { Case, Workload } from './workload.ts';

/** One line of the report. */
export interface Row {
  readonly engine: EngineName;
  readonly workload: string;
  readonly title: string;
  readonly params: Case['params'];
  readonly unit: Reading['unit'];
  readonly ours: Figure;
  /** Null: nothing by hand does the same. */
  readonly limit: Figure | null;
  /** How near ours comes to the limit: 1 is at it, whatever the unit. The median over the rounds. */
  readonly ratio: number | null;
  /** How ours compares with itself in the workload's first case; null: nothing to compare with. */
  readonly versusBase: number | null;
}

export interface Figure {
  readonly median: number;
  readonly rounds: readonly number[];
  readonly cpu: CpuPerJob | null;
}

type Stands = ReadonlyMap<Side, Stand>;
type Samples = ReadonlyMap<Side, Sample[]>;

/** Gives each row as soon as it is known. */
export async function* measure(engine: Engine, workload: Workload, sizes: Sizes): AsyncGenerator<Row> {
  const stands = await openStands(engine, workload, sizes);
  let bases: readonly Row[] = [];
  try {
    for (const each of workload.cases(sizes)) {
      const samples = await sampled(each, stands, sizes.rounds);
      const rows = rowsOf(engine.name, workload, each, samples);
      if (each.isBase) bases = rows;
      for (const [index, row] of rows.entries()) yield { ...row, versusBase: versus(bases[index], row) };
    }
  } finally {
    await Promise.all([...stands.values()].map((stand) => stand.close()));
  }
}

async function openStands(engine: Engine, workload: Workload, { warmUpJobs }: Sizes): Promise<Stands> {
  const stands = new Map<Side, Stand>();
  for (const side of sides.filter((each) => each === 'ours' || !workload.isOursOnly)) {
    stands.set(side, await Stand.open(await engine.ground(side, workload.isHeard ?? false), warmUpJobs));
  }
  return stands;
}

async function sampled(each: Case, stands: Stands, rounds: number): Promise<Samples> {
  const samples = new Map([...stands.keys()].map((side): [Side, Sample[]] => [side, []]));
  for (const stand of stands.values()) {
    await each.prepare?.(stand);
    if (!each.isRestless) await stand.ground.rest();
  }
  for (let round = 0; round < rounds; round += 1) {
    // Who goes first changes, so that neither always meets what the other left to the disk.
    const order = round % 2 === 0 ? [...stands] : [...stands].toReversed();
    for (const [side, stand] of order) samples.get(side)!.push(await each.measure(stand));
  }
  return samples;
}

function rowsOf(engine: EngineName, workload: Workload, { title, params }: Case, samples: Samples): Row[] {
  const [ours, limits] = [samples.get('ours')!, samples.get('limit')];
  return ours[0]!.readings.map(({ what, unit }, index): Row => {
    const own = figureOf(ours, index);
    const limit = limits ? figureOf(limits, index) : null;
    return {
      engine,
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
