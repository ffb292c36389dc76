/** Opens the target at an address. The only file that imports all targets. */
import { PostgresLimit } from './raw/postgres.ts';
import { SqliteLimit } from './raw/sqlite.ts';
import { openStint } from './stint.ts';
import type { Target, TargetAddress } from './target.ts';

/** Creates missing tables. */
export function openTarget({ database, side, location, wakesOtherProcesses }: TargetAddress): Promise<Target> {
  if (side === 'ours') return openStint(database, location);
  if (database === 'sqlite') return SqliteLimit.open(location, wakesOtherProcesses);
  return PostgresLimit.open(location, wakesOtherProcesses);
}
