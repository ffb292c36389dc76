// The storms as parts of the proof: what each must have done, and what it found.
import { shortfalls, type Part, type PartOutcome } from '../prove/part.ts';
import { TestPostgres } from '../support/postgres.ts';
import { chronos } from './chronos/chronos.ts';
import { pairs } from './interleave/pairs.ts';
import { Stage } from './interleave/scene.ts';
import { postgresGround, sqliteGround, type GroundOf } from './ground.ts';
import { postgresLong, postgresSize, sqliteLong, sqliteSize } from './sizes.ts';
import { storm, type StormOptions } from './storm.ts';
import { walCuts } from './wal-cuts.ts';

interface StormOn {
  readonly ground: GroundOf;
  readonly ci: StormOptions;
  readonly long: StormOptions;
  /** A storm in which no holder was overtaken proves nothing. */
  readonly needed: Readonly<Record<string, number>>;
}

const stormOn = (name: string, seconds: number, { ground, needed, ...sizes }: StormOn): Part => ({
  name,
  seconds,
  async run({ size, progress }) {
    const { store: _store, faults, ...report } = await storm(ground, { ...sizes[size], progress });
    return outcome({ ...report, ...faults }, { ...sizes[size].faults, ...needed });
  },
});

const interleavings: Part = {
  name: 'interleavings',
  seconds: 60,
  async run({ progress }) {
    const postgres = await TestPostgres.create();
    try {
      await using stage = await Stage.on(postgres.url);
      let orders = 0;
      const violations: string[] = [];
      for (const [index, pair] of pairs.entries()) {
        progress(index / pairs.length, pair.name);
        const played = await stage.play(pair);
        orders += played.orders;
        violations.push(...played.wrong.map((what) => `${pair.name}: ${what}`));
        if (played.orders < 2) violations.push(`${pair.name}: only ${played.orders} order was possible`);
      }
      return outcome({ pairs: pairs.length, orders, violations });
    } finally {
      await postgres.stop();
    }
  },
};

const ticks: Part = {
  name: 'ticks',
  seconds: 90,
  async run({ size }) {
    const needed = size === 'long' ? { ticks: 5_000, leaderKills: 300 } : { ticks: 200, leaderKills: 12 };
    return outcome({ ...(await chronos(needed)) }, needed);
  },
};

const powerLoss: Part = {
  name: 'power-loss',
  seconds: 20,
  run: async ({ size }) => outcome({ ...(await walCuts({ cuts: size === 'long' ? 500 : 60 })) }, { torn: 1 }),
};

export const storms: readonly Part[] = [
  stormOn('storm-postgres', 120, {
    ground: postgresGround, ci: postgresSize, long: postgresLong, needed: { longPauses: 1, lapses: 1 },
  }),
  stormOn('storm-sqlite', 80, { ground: sqliteGround, ci: sqliteSize, long: sqliteLong, needed: { lapses: 1 } }),
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
