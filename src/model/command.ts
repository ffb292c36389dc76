/**
 * The command: a request to change one job. A command with a fence is refused if the job has been claimed again since.
 */
import type { JobError } from './job.ts';
import type { Edit } from './event.ts';
import type { TerminateCode } from './state.ts';

export type Command =
  /** Claim the job until a store time; null: for as long as the holder's instance sends heartbeats. */
  | { readonly do: 'claim'; readonly holder: string; readonly until: number | null; readonly parentCancelled?: boolean }
  /**
   * The attempt succeeded. `result` is JSON text; `reanchor`: the next due time of a repeating job is the first one
   * after now.
   */
  | {
      readonly do: 'succeed';
      readonly fence: number;
      readonly result?: string;
      readonly ignoreRepeat?: boolean;
      readonly despiteChildren?: boolean;
      readonly reanchor?: boolean;
    }
  | { readonly do: 'fail'; readonly fence: number; readonly error: JobError; readonly retryable: boolean; readonly retryAt?: number }
  /** Too late to start: its worker has not come. */
  | { readonly do: 'expire' }
  /** Return the job to the queue; the attempt does not count. */
  | { readonly do: 'release'; readonly fence: number; readonly due?: number }
  /** Finish this attempt and make the job due again (Bedrock's RetryJob). */
  | { readonly do: 'again'; readonly fence: number; readonly due: number }
  | { readonly do: 'handOff'; readonly fence: number; readonly holder: string; readonly until: number | null }
  /** The worker whose lease lapsed holds the job again, unless another has claimed it (Bedrock's late worker). */
  | { readonly do: 'reclaim'; readonly holder: string }
  /** Wait for children that are stored in the same commit or exist already. */
  | {
      readonly do: 'plan';
      readonly fence: number;
      readonly tasks: number;
      readonly details?: string;
      /** When it is due after its children (Bedrock); without it, when the last one ends. */
      readonly due?: number;
    }
  | { readonly do: 'adopt'; readonly tasks: number; readonly fence?: number }
  | { readonly do: 'settle' }
  | { readonly do: 'free' }
  | { readonly do: 'pause' }
  | { readonly do: 'resume' }
  | { readonly do: 'cancel'; readonly code: TerminateCode; readonly graceMs?: number; readonly fate?: 'cancelled' | 'failed' }
  /** End the job now; its holder can write nothing more. */
  | { readonly do: 'stop'; readonly code: TerminateCode }
  /**
   * The lease has lapsed, by the store's clock or because the holder's instance is gone. With a fence, the command
   * applies only to the claim with that fence, not to a later one.
   */
  | { readonly do: 'lapse'; readonly fence?: number }
  /** Reopen an ended job; `reopens` is the number of its tasks that are reopened in the same commit. */
  | { readonly do: 'retry'; readonly reopens: number }
  /** Back to the queue from any state, by an operator's will; `crashes`: the new count of an open job. */
  | { readonly do: 'requeue'; readonly due: number; readonly crashes?: number }
  | { readonly do: 'edit'; readonly edit: Edit; readonly fence?: number };

export type CommandName = Command['do'];
export type CommandOf<C extends CommandName> = Extract<Command, { do: C }>;
