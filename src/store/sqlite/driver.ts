/** The driver: what the store uses of node:sqlite and of this process. A simulation replaces it. */
import type { DatabaseSync } from 'node:sqlite';
import { systemRandom, type Random } from '../../random.ts';
import { systemClock, type Clock } from '../../time/clock.ts';
import { sqliteModule } from './module.ts';

export interface SqliteDriver {
  /** Opens the file. Statements wait up to `timeout` milliseconds for a lock of it. */
  open(path: string, options: { readonly timeout: number }): DatabaseSync;
  /** The clock of this process. */
  readonly clock: Clock;
  readonly random: Random;
}

export const systemDriver: SqliteDriver = {
  open: (path, options) => new (sqliteModule().DatabaseSync)(path, options),
  clock: systemClock,
  random: systemRandom,
};
