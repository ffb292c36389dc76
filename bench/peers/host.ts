/** The host: a server, or what stands in for one, and the grounds that it gives. */

/** Where one entrant works, alone. */
export interface PeerGround {
  readonly at: string;
  /** What the server has used of the CPU so far; null: there is none, or it cannot be seen. */
  serverCpuUs(): number | null;
  /** How many transactions it has seen; null: nobody counts them. */
  transactions(): Promise<number | null>;
  remove(): Promise<void>;
}

export interface Host {
  readonly about: string;
  ground(): Promise<PeerGround>;
  close(): Promise<void>;
}
