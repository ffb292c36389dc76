/** The driver: what the store uses of `pg` and of this process. A simulation replaces it. */
import pg from 'pg';
import { systemRandom, type Random } from '../../../random.ts';
import { systemClock, type Clock } from '../../../time/clock.ts';

export type ClientClass = new (config?: pg.ClientConfig) => pg.Client;

export interface PgDriver {
  readonly Client: ClientClass;
  readonly Pool: new (config: pg.PoolConfig) => pg.Pool;
  /** The clock of this process. */
  readonly clock: Clock;
  readonly random: Random;
}

export const systemDriver: PgDriver = { Client: pg.Client, Pool: pg.Pool, clock: systemClock, random: systemRandom };
