// The backing of a simulation: its store, and how the simulated processes reach it.
import type { Store } from '../../src/store/store.ts';
import type { Effects } from './completing.ts';
import type { StoreMonitor } from './monitor.ts';
import type { SimProcess } from './process.ts';
import type { RandomStream } from './random-streams.ts';

export interface BackingFault {
  readonly kind: string;
  /** The average interval. */
  readonly everyMs: number;
  readonly inject: (random: RandomStream) => void;
}

export interface Backing {
  /** The store itself, for what is not simulated. */
  readonly store: Store;
  readonly monitor: StoreMonitor;
  /** The store as this process reaches it. */
  storeOf(process: SimProcess, random: RandomStream): Store;
  /** The store is down for so long. */
  goDown(ms: number): void;
  /** The clock of the store jumps. */
  jump(ms: number): void;
  /** Faults of this kind of store, beyond those that every store can have. */
  readonly faults: readonly BackingFault[];
  /** A process is paused: what it calls meanwhile may fail. */
  notePause(process: SimProcess, ms: number): void;
  /** Creates the table with the effects of handlers that complete. */
  createEffects(): Promise<void>;
  readEffects(): Promise<readonly Effects[]>;
  /** How many calls were refused as unavailable, each with a fault as its reason. */
  readonly refusals: number;
  /** Ends all faults of the store. */
  heal(): void;
  close(): Promise<void>;
}
