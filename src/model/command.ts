/**
 * The command: a request to change one job. A command with a fence is refused unless the job still runs under that
 * fence.
 */
import type { JobError } from './job.ts';
import type { Edit, UnansweredCause } from './event.ts';
import type { Phase, TerminateCode } from './state.ts';

export type Command =
  /**
   * Claim the job. `until`: the store time at which the lease ends; null: see `Lease`. The `retryAfter` of a Bedrock
   * job takes precedence over `until`. `parentCancelled`: the parent was asked to cancel, so this job is cancelled
   * instead of claimed. `knows`: the first and the last version of the type that the worker knows; absent: only the first
   * version of all.
   */
  | {
      readonly do: 'claim';
      readonly holder: string;
      readonly until: number | null;
      readonly parentCancelled?: boolean;
      readonly knows?: readonly [from: number, to: number];
    }
  /**
   * The attempt succeeded. `result` is JSON text. `ignoreRepeat`: end the job although it has a repeat rule.
   * `despiteChildren`: succeed even if children were added that the job has not waited for. `reanchor`: skip the
   * missed repeats and continue with the first one after now, if the repeat rule has a short interval (see `reanchored`
   * in time/repeat.ts).
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
  /** Cancel the job because its `startBy` has passed and it was never claimed. Refused if this is not the case. */
  | { readonly do: 'expire' }
  /** Return the job to the queue; the attempt does not count. */
  | { readonly do: 'release'; readonly fence: number; readonly due?: number }
  /**
   * End this attempt until the sleep `name` of its handler is over; the attempt does not count. `seen`: the handler also
   * waits for answers, and has read those up to this version of the job; if the job has changed since, it is released,
   * so that the handler reads the answers again.
   */
  | { readonly do: 'sleep'; readonly fence: number; readonly name: string; readonly until: number; readonly seen?: number }
  /** Record the answer of the wait `name`, which is stored in the same commit. `due`: the handler waits for it. */
  | { readonly do: 'answer'; readonly name: string; readonly due?: number }
  /** Record that the wait `name` has timed out, or that its handler has refused the answer and waits for another. */
  | { readonly do: 'unanswer'; readonly fence: number; readonly name: string; readonly cause: UnansweredCause }
  /** Finish this attempt and make the job due again (Bedrock's RetryJob). */
  | { readonly do: 'again'; readonly fence: number; readonly due: number }
  | { readonly do: 'handOff'; readonly fence: number; readonly holder: string; readonly until: number | null }
  /**
   * Return the job to the worker whose lease on it has lapsed (Bedrock). Refused after another worker has claimed the
   * job.
   */
  | { readonly do: 'reclaim'; readonly holder: string }
  /** Wait for children that are stored in the same commit or exist already. */
  | {
      readonly do: 'plan';
      readonly fence: number;
      readonly tasks: number;
      readonly details?: string;
      /** When the job is due after its last child has ended (Bedrock); absent: as soon as that child has ended. */
      readonly due?: number;
    }
  | { readonly do: 'adopt'; readonly tasks: number; readonly fence?: number }
  | { readonly do: 'settle' }
  | { readonly do: 'free' }
  /** Record that `runs` new runs follow this job. */
  | { readonly do: 'follow'; readonly runs: number }
  /**
   * Decide what happens to a job now that all runs that it follows have ended; `unsuccessful` of them failed or were
   * cancelled. `input` is the input of the job with their results, as JSON text; absent: it uses no results.
   */
  | { readonly do: 'proceed'; readonly unsuccessful: number; readonly input?: string }
  /** Wait again for `runs` runs that the job follows and that are reopened in the same commit. */
  | { readonly do: 'await'; readonly runs: number }
  | { readonly do: 'pause' }
  | { readonly do: 'resume' }
  | { readonly do: 'cancel'; readonly code: TerminateCode; readonly graceMs?: number; readonly fate?: 'cancelled' | 'failed' }
  /** End the job now; its holder can write nothing more. */
  | { readonly do: 'stop'; readonly code: TerminateCode }
  /**
   * Repair the job: its lease has lapsed by the store's clock, or the holder's instance is gone. With a fence, the
   * command applies only to the claim with that fence, not to a later one.
   */
  | { readonly do: 'lapse'; readonly fence?: number }
  /**
   * Reopen an ended job. `reopens`: the number of its tasks that are reopened in the same commit. `awaits`: the job
   * waits for the runs that it follows; the number of those that are open. `from`: the first step that the job forgets.
   * `plansIn`: its children are deleted in the same commit, and the job plans new ones, beginning with this phase.
   */
  | {
      readonly do: 'retry';
      readonly reopens: number;
      readonly awaits?: number;
      readonly from?: string;
      readonly plansIn?: Phase;
    }
  /**
   * Return the job to the queue from any state, at the request of an operator or a Bedrock client. `crashes`: the new
   * crash count of an open job; absent: unchanged.
   */
  | { readonly do: 'requeue'; readonly due: number; readonly crashes?: number }
  | { readonly do: 'edit'; readonly edit: Edit; readonly fence?: number };

export type CommandName = Command['do'];
export type CommandOf<C extends CommandName> = Extract<Command, { do: C }>;
