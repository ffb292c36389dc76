/** The function that opens the stores of one adapter. */
import type { Store, StoreAddress } from '../store/store.ts';

export interface OpenerOptions {
  /** Whether a SQLite file that does not exist is created. */
  readonly create: boolean;
}

export type Opener = (address: StoreAddress, options: OpenerOptions) => Store;
