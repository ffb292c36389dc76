// Storms by hand or at night: node test/storm/run.ts [--long] [--only PostgreSQL|SQLite]. Prints the figures as JSON.
import { parseArgs } from 'node:util';
import { postgresGround, sqliteGround } from './ground.ts';
import { storm, type StormOptions, type StormReport } from './storm.ts';

export interface StormsOptions {
  readonly isLong?: boolean;
  readonly only?: StormReport['store'];
  readonly seed?: number;
}

export const postgresSize: StormOptions = {
  size: 5, ms: 60_000, faults: { kills: 150, pauses: 60, crashes: 3, cuts: 20 },
};
export const sqliteSize: StormOptions = {
  size: 4, ms: 45_000, faults: { kills: 120, pauses: 0, crashes: 0, cuts: 0 },
};

const postgresLong: StormOptions = {
  size: 5, ms: 3_600_000, faults: { kills: 7_000, pauses: 3_000, crashes: 150, cuts: 1_000 },
};
const sqliteLong: StormOptions = {
  size: 4, ms: 1_800_000, faults: { kills: 4_000, pauses: 0, crashes: 0, cuts: 0 },
};

/** One storm after the other. */
export async function runStorms({ isLong = false, only, seed }: StormsOptions = {}): Promise<StormReport[]> {
  const more = seed === undefined ? {} : { seed };
  const [ofPostgres, ofSqlite] = isLong ? [postgresLong, sqliteLong] : [postgresSize, sqliteSize];
  const reports: StormReport[] = [];
  if (only !== 'SQLite') reports.push(await storm(postgresGround, { ...ofPostgres, ...more }));
  if (only !== 'PostgreSQL') reports.push(await storm(sqliteGround, { ...ofSqlite, ...more }));
  return reports;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { long: { type: 'boolean' }, only: { type: 'string' }, seed: { type: 'string' } },
  });
  const reports = await runStorms({
    isLong: values.long ?? false,
    ...(values.only === undefined ? {} : { only: values.only as StormReport['store'] }),
    ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
  });
  console.log(JSON.stringify(reports, null, 2));
  if (reports.some(({ violations }) => violations.length > 0)) process.exitCode = 1;
}
