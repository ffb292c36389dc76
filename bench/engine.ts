/** An engine: SQLite or PostgreSQL as the bench uses it, with a fresh ground for each side of each workload. */
import type { EngineName, Place, Side } from './contender.ts';

export interface Engine {
  readonly name: EngineName;
  /** Its version and what bears on durability, for the report. */
  readonly about: string;
  ground(side: Side, isHeard: boolean): Promise<Ground>;
  /** Stops what was started and removes what was written. */
  close(): Promise<void>;
}

/** Where one side works, alone. */
export interface Ground {
  readonly place: Place;
  /** What the server has used of the CPU so far; null: there is none, or it cannot be seen. */
  serverCpuUs(): number | null;
  /** Copies a row until there are enough of them. */
  fill(filling: Filling): Promise<void>;
  /** Opens a transaction that reads once and then stays open until the ground is removed. */
  occupy(): Promise<void>;
  /** Puts off to before the next measurement what the last one left to be done. */
  rest(): Promise<void>;
  remove(): Promise<void>;
}

export interface Filling {
  readonly table: string;
  /** The type of the one row that is copied. */
  readonly sample: string;
  readonly count: number;
  /** The id of the first copy; the others follow. */
  readonly first: number;
  /** The types of the copies, in turn. */
  readonly types: readonly string[];
}
