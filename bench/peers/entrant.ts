/** An entrant: a job queue that takes part, with the settings that its own docs give for throughput. */
import type { Input } from '../payload.ts';
import type { PeerName } from './packages.ts';

export type GroundName = 'sqlite' | 'postgres' | 'redis';

export interface Entrant {
  readonly name: string;
  readonly ground: GroundName;
  /** Whose code it is: ours, or that of a package. */
  readonly peer: PeerName | 'ours';
  /** What was set, for the report. */
  readonly settings: string;
  /** How many jobs it takes for a drain of some seconds. */
  readonly pace: Pace;
  /** What runs it, if not Node. */
  readonly runtime?: 'bun';
  /** Whether it lives inside one process, which both creates and works. */
  readonly isEmbedded?: boolean;
  /** Whether it has no call that creates many. */
  readonly lacksBulk?: boolean;
  /** Called in a child process; `folder` is where its packages are. */
  open(at: string, folder: string): Promise<Queue>;
}

export type Pace = 'fast' | 'middling' | 'slow';

/** Called where the handler of a user would be. */
export type Handle = (input: Input) => void;

/** An entrant, opened. */
export interface Queue {
  /** In one call where there is one for many. */
  create(inputs: readonly Input[]): Promise<void>;
  /** Works from now on, until it is closed. */
  work(handle: Handle): Promise<void>;
  /** How many jobs have not ended yet. */
  unfinished(): Promise<number>;
  /** One run of so many tasks, until it has ended. */
  fanOut?(tasks: number): Promise<void>;
  close(): Promise<void>;
}

export const queueName = 'mail.send';
