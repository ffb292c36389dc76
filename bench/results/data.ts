/** What the benches leave behind as data. */
import type { Machine } from '../machine.ts';
import type { Verdict } from '../peers/bars.ts';
import type { Failure, Figure } from '../peers/contest.ts';
import type { PeerSizes } from '../peers/sizes.ts';
import type { Row } from '../rounds.ts';
import type { Sizes } from '../sizes.ts';

/** Of `npm run bench`. */
export interface BenchData {
  readonly machine: Machine;
  /** What each engine says about itself, by its name. */
  readonly engines: Readonly<Record<string, string>>;
  readonly sizes: Sizes;
  readonly rows: readonly Row[];
}

/** Of `npm run bench:peers`. */
export interface PeersData {
  readonly machine: Machine;
  /** What each ground says about itself. */
  readonly about: readonly string[];
  /** Who took part, and how it was set. */
  readonly settings: readonly string[];
  readonly sizes: PeerSizes;
  readonly figures: readonly Figure[];
  readonly failures: readonly Failure[];
  readonly verdicts: readonly Verdict[];
}

/** Of `node bench/bedrock.ts`. */
export interface BedrockData {
  readonly machine: Machine;
  readonly about: string;
  /** By what was done: create, get, finish, cycles. */
  readonly perSecond: Readonly<Record<string, number>>;
  /** How long a GetJob takes, with nothing else there and behind so many jobs of other names. */
  readonly getMs: { readonly empty: number; readonly behind: number; readonly backlog: number };
}
