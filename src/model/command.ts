/** The command: what may be asked of one job. Those that carry a fence are refused to whoever lost the lease. */
import type { JobError } from './job.ts';
import type { Edit } from './event.ts';
import type { TerminateCode } from './state.ts';

export type Command =
  /** Take the lease until a store time, or for as long as the holder's instance lives. */
  | { readonly do: 'claim'; readonly holder: string; readonly until: number | null; readonly parentCancelled?: boolean }
  /** The work is done. `result` is JSON text; `reanchor`: a repeat that was missed skips to the first slot after now. */
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
  /** Give back without counting the try. */
  | { readonly do: 'release'; readonly fence: number; readonly due?: number }
  /** Give back as a finished try, due again (Bedrock's RetryJob). */
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
  /** End it now; whoever holds the lease can write nothing more. */
  | { readonly do: 'stop'; readonly code: TerminateCode }
  /**
   * The lease is over: judged by the store's clock, or because the holder's instance is gone. With a fence: the lease
   * that was judged, and not that of whoever has claimed the job since.
   */
  | { readonly do: 'lapse'; readonly fence?: number }
  /** Open an ended job again; `reopens` says how many of its tasks are opened in the same commit. */
  | { readonly do: 'retry'; readonly reopens: number }
  /** Back to the queue from any state, by an operator's will; `crashes`: the new count of an open job. */
  | { readonly do: 'requeue'; readonly due: number; readonly crashes?: number }
  | { readonly do: 'edit'; readonly edit: Edit; readonly fence?: number };

export type CommandName = Command['do'];
