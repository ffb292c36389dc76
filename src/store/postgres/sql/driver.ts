/** The driver: what the store uses of `pg` and of this process. A simulation replaces it. */
import pg from 'pg';
import { systemRandom, type Random } from '../../../random.ts';
import { systemClock, type Clock } from '../../../time/clock.ts';

/**
 * The classes are those of `pg`, or what takes their place. They are not declared as such, because the types of `pg` would
 * then be a dependency of every program that uses Stint.
 */
export interface PgDriver {
  readonly Client: AnyClass;
  readonly Pool: AnyClass;
  /** Whether the clients write messages of the protocol to a socket; those of a simulation do not. */
  readonly hasSockets: boolean;
  /** The clock of this process. */
  readonly clock: Clock;
  readonly random: Random;
}

type AnyClass = new (...values: never[]) => object;

export const systemDriver: PgDriver = { Client: pg.Client, Pool: pg.Pool, hasSockets: true, clock: systemClock, random: systemRandom };
