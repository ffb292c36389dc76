/** A peer: a job queue of the comparison, with the settings that its documentation gives for throughput. */
import type { Input } from '../payload.ts';
import type { FlowRun, Flows } from './flow.ts';
import type { PackageName } from './packages.ts';

export type PeerDatabaseName = 'sqlite' | 'postgres' | 'redis';

export interface Peer {
  readonly name: string;
  readonly database: PeerDatabaseName;
  /** The npm package; `ours` for Stint itself. */
  readonly package: PackageName | 'ours';
  /** The settings, for the report. */
  readonly settings: string;
  /** Decides how many jobs a drain has, so that it takes some seconds. */
  readonly pace: Pace;
  /** The runtime. Default: Node. */
  readonly runtime?: 'bun';
  /** Whether the queue works only within one process, which creates and executes the jobs. */
  readonly isEmbedded?: boolean;
  /** Whether it has no call that creates many jobs. */
  readonly lacksBulk?: boolean;
  /** Whether it creates jobs in a transaction of the application. */
  readonly joinsTransactions?: boolean;
  /** The only measure that is taken of it: otherwise, it is as another peer. */
  readonly only?: 'in a transaction' | 'flow shapes';
  /** Whether its jobs can consist of steps with stored results. */
  readonly hasSteps?: boolean;
  /** What flows it has; undefined if it has none. */
  readonly flows?: Flows;
  /** Whether its drain is compared with that of batches of 100. */
  readonly isBatched?: boolean;
  /** Called in a child process. `folder` has the installed packages. */
  open(location: string, folder: string): Promise<Queue>;
}

export type Pace = 'fast' | 'medium' | 'slow';

/** Called where a user has the handler. */
export type Handle = (input: Input) => void;

/** The open queue of a peer. */
export interface Queue {
  /** Creates all in one call if the peer has a bulk call. */
  create(inputs: readonly Input[]): Promise<void>;
  /** Creates a job in one transaction with a row of the application. */
  order?(input: Input): Promise<Ordered>;
  /** Starts a worker, which runs until `close`. */
  work(handle: Handle): Promise<void>;
  /** The number of jobs that have not ended. */
  unfinished(): Promise<number>;
  /** Creates a flow. */
  createFlow?(runs: readonly FlowRun[]): Promise<void>;
  /** Executes runs of so many steps each, which store a result of 200 bytes, and awaits their ends. */
  steps?(runs: number, steps: number): Promise<void>;
  /** Creates one run with tasks, and awaits its end. */
  fanOut?(tasks: number): Promise<void>;
  close(): Promise<void>;
}

/** What a job cost that was created in a transaction. */
export interface Ordered {
  /** The time of the call that creates the job. */
  readonly createMs: number;
  /** When the transaction was about to commit, by `machineMs`. */
  readonly committingMs: number;
}

export const queueName = 'mail.send';
