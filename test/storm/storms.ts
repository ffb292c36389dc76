// The storms as parts of the proof: the least that each must have done, and its findings.
import { shortfalls, type Part, type PartOutcome } from '../prove/part.ts';
import { chronos } from './chronos/chronos.ts';
import { completing } from './completing/completing.ts';
import { inEveryOrder } from './interleave/in-every-order.ts';
import { pairs } from './interleave/pairs.ts';
import { postgresFixture, sqliteFixture, type OpenFixture } from './store-fixture.ts';
import { postgresLong, postgresSize, sqliteLong, sqliteSize } from './sizes.ts';
import { storm, type StormOptions } from './storm.ts';
import { walCuts } from './wal-cuts.ts';

interface StormOn {
  readonly openFixture: OpenFixture;
  readonly ci: StormOptions;
  readonly long: StormOptions;
  /** The least figures: a storm without lapsed leases proves nothing. */
  readonly needed: Readonly<Record<string, number>>;
}

const stormOn = (name: string, cpuSeconds: number, { openFixture, needed, ...sizes }: StormOn): Part => ({
  name,
  cpuSeconds,
  runsBeside: true,
  async run({ size, progress }) {
    const options = size === 'long' ? sizes.long : sizes.ci;
    const { store: _store, faults, ...report } = await storm(openFixture, { ...options, progress });
    return outcome({ ...report, ...faults }, { ...options.faults, ...needed });
  },
});

/** A storm on `complete`. `needed` is the least of its figures: kills at every moment must have happened. */
const completingOn = (name: string, cpuSeconds: number, openFixture: OpenFixture, needed: Record<string, number>): Part => ({
  name,
  cpuSeconds,
  runsBeside: true,
  async run({ size, progress }) {
    const isPaused = openFixture === postgresFixture;
    const runs = size === 'long' ? 10_000 : 300;
    return outcome({ ...(await completing(openFixture, { runs, isPaused, progress })) }, { ...neededKills, ...needed });
  },
});

/** Of 300 runs, 30 kill their process, and after every 40 runs another one is killed. */
const neededKills = {
  kills: 30, beforeWrites: 3, betweenWrites: 3, afterWrites: 3, aroundCommit: 3, afterCommit: 3, committedAndKilled: 3,
  rolledBack: 10,
};

const interleavings: Part = {
  name: 'interleavings',
  cpuSeconds: { ci: 240, full: 480 },
  runsBeside: true,
  async run({ size, progress }) {
    const { orders, wrong } = await inEveryOrder(pairs, {
      ordersMax: { ci: 120, full: 250, long: 2_000 }[size],
      onDone: (done) => progress(done / pairs.length, `${done} pairs`),
    });
    return outcome({ pairs: pairs.length, orders, violations: wrong });
  },
};

const ticks: Part = {
  name: 'ticks',
  cpuSeconds: 30,
  runsBeside: true,
  async run({ size }) {
    const needed = size === 'long' ? { ticks: 5_000, leaderKills: 300 } : { ticks: 200, leaderKills: 12 };
    return outcome({ ...(await chronos(needed)) }, needed);
  },
};

const powerLoss: Part = {
  name: 'power-loss',
  cpuSeconds: 5,
  runsBeside: true,
  run: async ({ size }) => outcome({ ...(await walCuts({ cuts: size === 'long' ? 500 : 60 })) }, { torn: 1 }),
};

export const storms: readonly Part[] = [
  stormOn('storm-postgres', 80, {
    openFixture: postgresFixture, ci: postgresSize, long: postgresLong, needed: { longPauses: 1, lapses: 1 },
  }),
  stormOn('storm-sqlite', 60, { openFixture: sqliteFixture, ci: sqliteSize, long: sqliteLong, needed: { lapses: 1 } }),
  completingOn('storm-complete-postgres', 50, postgresFixture, { cuts: 5, longPauses: 1 }),
  completingOn('storm-complete-sqlite', 50, sqliteFixture, {}),
  interleavings,
  ticks,
  powerLoss,
];

interface Tried {
  readonly violations: readonly string[];
  readonly [figure: string]: number | readonly string[];
}

function outcome({ violations, ...rest }: Tried, needed: Readonly<Record<string, number>> = {}): PartOutcome {
  const figures = rest as Readonly<Record<string, number>>;
  return { figures, findings: [...violations, ...shortfalls(figures, needed)] };
}
