/** A database for peers: SQLite, PostgreSQL or Redis. It creates a scratch database for each measurement. */

/** An empty database, file or Redis that only one peer uses. */
export interface PeerScratch {
  readonly location: string;
  /** CPU time of the server so far; null if there is no server, or its processes are not visible. */
  serverCpuUs(): number | null;
  /** Transactions so far; null if the database does not count them. */
  transactions(): Promise<number | null>;
  remove(): Promise<void>;
}

export interface PeerDatabase {
  readonly about: string;
  createScratch(): Promise<PeerScratch>;
  close(): Promise<void>;
}
