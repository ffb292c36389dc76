/** Opens a contender at its place; the only file that knows all of them. */
import type { Contender, Place } from './contender.ts';
import { PostgresLimit } from './raw/postgres.ts';
import { SqliteLimit } from './raw/sqlite.ts';
import { openStint } from './stint.ts';

/** Makes the tables where they are missing. */
export function openContender({ engine, side, at, isHeard }: Place): Promise<Contender> {
  if (side === 'ours') return openStint(engine, at);
  return engine === 'sqlite' ? SqliteLimit.open(at, isHeard) : PostgresLimit.open(at, isHeard);
}
