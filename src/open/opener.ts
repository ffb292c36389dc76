/** The function that opens the stores of one adapter. */
import type { Store, StoreAddress } from '../store/store.ts';

export interface OpenerOptions {
  /** Whether a SQLite file that does not exist is created. */
  readonly create: boolean;
  /**
   * False: a PostgreSQL server that does not answer is tried once, instead of until `patienceMs` is over, unless the URL
   * or the environment sets `patienceMs`. Default: true.
   */
  readonly isPatient?: boolean;
}

export type Opener = (address: StoreAddress, options: OpenerOptions) => Store;
