// The storms as they take part in the proof: each answers its figures, and tells what was wrong.
import type { Storm, StormFigures } from '../prove/storms.ts';
import { TestPostgres } from '../support/postgres.ts';
import { chronos } from './chronos/chronos.ts';
import { pairs } from './interleave/pairs.ts';
import { Stage } from './interleave/scene.ts';
import { postgresGround, sqliteGround, type GroundOf } from './ground.ts';
import { postgresLong, postgresSize, sqliteLong, sqliteSize } from './sizes.ts';
import { storm, type StormOptions } from './storm.ts';
import { walCuts } from './wal-cuts.ts';

type Sizes = readonly [short: StormOptions, long: StormOptions];

const stormOn = (name: string, groundOf: GroundOf, [short, long]: Sizes): Storm => ({
  name,
  run: async ({ isLong }) => {
    const { store: _store, faults, ...report } = await storm(groundOf, isLong ? long : short);
    return figures(name, { ...report, ...faults });
  },
});

const interleavings: Storm = {
  name: 'statements in every order',
  run: async () => {
    const postgres = await TestPostgres.create();
    try {
      await using stage = await Stage.on(postgres.url);
      let orders = 0;
      const violations: string[] = [];
      for (const pair of pairs) {
        const played = await stage.play(pair);
        orders += played.orders;
        violations.push(...played.wrong.map((what) => `${pair.name}: ${what}`));
      }
      return figures(interleavings.name, { pairs: pairs.length, orders, violations });
    } finally {
      await postgres.stop();
    }
  },
};

const leaderKills: Storm = {
  name: 'ticks while leaders are killed',
  run: async ({ isLong }) => {
    const size = isLong ? { ticks: 5_000, leaderKills: 300 } : { ticks: 200, leaderKills: 12 };
    return figures(leaderKills.name, { ...(await chronos(size)) });
  },
};

const powerLoss: Storm = {
  name: 'power loss on SQLite',
  run: async ({ isLong }) => figures(powerLoss.name, { ...(await walCuts({ cuts: isLong ? 500 : 60 })) }),
};

export const storms: readonly Storm[] = [
  stormOn('PostgreSQL', postgresGround, [postgresSize, postgresLong]),
  stormOn('SQLite', sqliteGround, [sqliteSize, sqliteLong]),
  interleavings,
  leaderKills,
  powerLoss,
];

interface Found {
  readonly violations: readonly string[];
  readonly [figure: string]: number | readonly string[];
}

/** What was wrong is told at once; the proof keeps its number. */
function figures(name: string, { violations, ...numbers }: Found): StormFigures {
  for (const each of violations) process.stderr.write(`${name}: ${each}\n`);
  return { ...(numbers as Readonly<Record<string, number>>), name, violations: violations.length };
}
