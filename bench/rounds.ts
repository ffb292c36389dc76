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
  readonly limit: Figure;
  /** How near ours comes to the limit: 1 is at it, whatever the unit. The median over the rounds. */
  readonly ratio: number;
  /** How ours compares with itself in the case that has no backlog; null: nothing to compare with. */
  readonly versusBase: number | null;
}

export interface Figure {
  readonly median: number;
  readonly rounds: readonly number[];
  readonly cpu: CpuPerJob | null;
}

type Stands = Readonly<Record<Side, Stand>>;
type Samples = Readonly<Record<Side, Sample[]>>;

/** Gives each row as soon as it is known. */
export async function* measure(engine: Engine, workload: Workload, sizes: Sizes): AsyncGenerator<Row> {
  const stands = await openStands(engine, workload, sizes);
  let base: Row | undefined;
  try {
    for (const each of workload.cases(sizes)) {
      const samples = await sampled(each, stands, sizes.rounds);
      for (const row of rowsOf(engine.name, workload, each, samples)) {
        if (each.isBase) base = row;
        yield base ? { ...row, versusBase: row.ours.median / base.ours.median } : row;
      }
    }
  } finally {
    await Promise.all(Object.values(stands).map((stand) => stand.close()));
  }
}

async function openStands(engine: Engine, { isHeard = false }: Workload, { warmUpJobs }: Sizes): Promise<Stands> {
  const open = async (side: Side): Promise<Stand> => Stand.open(await engine.ground(side, isHeard), warmUpJobs);
  return { ours: await open('ours'), limit: await open('limit') };
}

async function sampled(each: Case, stands: Stands, rounds: number): Promise<Samples> {
  const samples: Samples = { ours: [], limit: [] };
  for (const side of sides) {
    await each.prepare?.(stands[side]);
    await stands[side].ground.rest();
  }
  for (let round = 0; round < rounds; round += 1) {
    // Who goes first changes, so that neither always meets what the other left to the disk.
    const order = round % 2 === 0 ? sides : sides.toReversed();
    for (const side of order) samples[side].push(await each.measure(stands[side]));
  }
  return samples;
}

function rowsOf(engine: EngineName, workload: Workload, { title, params }: Case, { ours, limit }: Samples): Row[] {
  return ours[0]!.readings.map(({ what, unit }, index): Row => {
    const [own, best] = [figureOf(ours, index), figureOf(limit, index)];
    const ratios = own.rounds.map((value, round) => value / best.rounds[round]!);
    return {
      engine,
      workload: workload.name,
      title: what === undefined ? title : `${title}, ${what}`,
      params,
      unit,
      ours: own,
      limit: best,
      ratio: unit === 'ms' ? 1 / median(ratios) : median(ratios),
      versusBase: null,
    };
  });
}

function figureOf(samples: readonly Sample[], index: number): Figure {
  const rounds = samples.map(({ readings }) => readings[index]!.value);
  return { median: median(rounds), rounds, cpu: medianCpu(samples.map(({ cpu }) => cpu)) };
}
