/** The JSON files that the benches write. */
import type { Machine } from '../machine.ts';
import type { Verdict } from '../peers/goals.ts';
import type { Failure, Figure } from '../peers/comparison.ts';
import type { PeerSizes } from '../peers/sizes.ts';
import type { Row } from '../rounds.ts';
import type { Sizes } from '../sizes.ts';

/** Written by `npm run bench`. */
export interface BenchData {
  readonly machine: Machine;
  /** Version and settings of each database, by name. */
  readonly databases: Readonly<Record<string, string>>;
  readonly sizes: Sizes;
  readonly rows: readonly Row[];
}

/** Written by `npm run bench:peers`. */
export interface PeersData {
  readonly machine: Machine;
  /** Version and settings of each database. */
  readonly about: readonly string[];
  /** The peers with their versions and settings. */
  readonly settings: readonly string[];
  /** What the flows of some peers do differently. */
  readonly flowNotes: readonly string[];
  readonly sizes: PeerSizes;
  readonly figures: readonly Figure[];
  readonly failures: readonly Failure[];
  readonly verdicts: readonly Verdict[];
}

/** Written by `node bench/bedrock.ts`. */
export interface BedrockData {
  readonly machine: Machine;
  readonly about: string;
  /** By operation: create, get, finish, cycles. */
  readonly perSecond: Readonly<Record<string, number>>;
  /** Time of a GetJob in an empty store, and in one with `backlog` jobs of other names. */
  readonly getMs: { readonly empty: number; readonly withBacklog: number; readonly backlog: number };
}
