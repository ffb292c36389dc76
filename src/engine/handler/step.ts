/** Steps for handlers: parts whose results are stored, and sleeps and waits for answers, which give the slot back. */
import type { Duration } from '../../time/duration.ts';
import type { AnswerRole } from '../../model/question.ts';
import { Refusal } from '../../refusal.ts';

export interface StepFunctions {
  /**
   * Calls `work` and stores its result as JSON, under the given name. Later attempts of the job get the stored result,
   * and do not call `work`. Use each name once per run. If `work` throws, nothing is stored, and the error is thrown.
   * If this worker no longer holds the job, nothing is stored, and `LeaseLost` is thrown. Not for isolated handlers.
   */
  readonly step: StepFunction;
  /**
   * Ends the attempt and gives the slot back; the handler is called again, from its beginning, when the time is over,
   * and the call then returns at once. The attempt does not count. Steps that run at the same time are finished first;
   * if one of them fails, the attempt fails. Not for isolated handlers.
   */
  readonly sleep: (name: string, duration: Duration) => Promise<void>;
  /**
   * Asks a question, ends the attempt and gives the slot back, like `sleep`, until somebody answers. Returns the answer;
   * throws `AnswerTimedOut` after `timeout`. The first answer counts, also if it came before the handler got here. Not
   * for isolated handlers.
   */
  readonly waitFor: WaitFunction;
}

export interface WaitFunction {
  <Output>(name: string, options: WaitOptions & { readonly schema: AnswerSchema<Output> }): Promise<Output>;
  (name: string, options?: WaitOptions): Promise<unknown>;
}

export interface WaitOptions {
  /** What is asked, as a sentence for those who answer. */
  readonly ask?: string;
  /** The schema of the answer, of zod or another library with Standard Schema. An answer that does not match is refused. */
  readonly schema?: AnswerSchema<unknown>;
  /** How long the handler waits. Default: until somebody answers. */
  readonly timeout?: Duration;
  /** The role that is needed to answer; higher roles may, too. Default: operator. */
  readonly role?: AnswerRole;
  /** The names of those who must not answer, such as the person whose request is to be approved. */
  readonly notBy?: string | readonly string[];
  /**
   * Called when the question is stored, with a token that answers it once, for example to send a link. If the process
   * crashes meanwhile, it is called again, with another token, and the first token is no longer valid.
   */
  readonly notify?: (link: AnswerLink) => unknown;
}

export interface AnswerLink {
  /** A secret: who has it may answer, whatever `role` and `notBy` say. */
  readonly token: string;
  readonly run: number;
  readonly name: string;
}

/** The part of Standard Schema that an answer needs. */
export interface AnswerSchema<Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export interface StepFunction {
  <Result>(name: string, work: StepWork<Result>): Promise<Result>;
  <Result>(name: string, options: StepOptions, work: StepWork<Result>): Promise<Result>;
}

export type StepWork<Result> = (step: StepFacts) => Result | Promise<Result>;

export interface StepFacts {
  /**
   * A key that is the same in all attempts of this step, also after an operator has retried the run, so that other
   * systems can detect a repeated request. It changes when a retry makes the run forget the step.
   */
  readonly idempotencyKey: string;
  /** The number of this call of `work` within the attempt, from 1. */
  readonly attempt: number;
  /** Aborted with the signal of the handler, and when the handler returns or throws while the step is running. */
  readonly signal: AbortSignal;
}

export interface StepOptions {
  /**
   * How many times `work` is called again within the attempt if it throws, and after which delays. Default: never; the
   * error then fails the attempt, unless the handler catches it.
   */
  readonly retry?: StepRetry;
}

export interface StepRetry {
  /** The maximum number of calls, including the first. Default: 3. */
  readonly attempts?: number;
  /** How the delay grows with each retry: `fixed`, `linear`, or `exponential` (default). */
  readonly backoff?: 'fixed' | 'linear' | 'exponential';
  /** The delay before the first retry. Default: 2s. */
  readonly base?: Duration;
  /** The longest delay. Default: 5m, or `base` if it is longer. */
  readonly max?: Duration;
  /** The share of a delay that is random, 0 to 1; it only shortens the delay. Default: 0.5. */
  readonly jitter?: number;
}

/** The functions for a handler whose steps cannot be stored. */
export function refusedSteps(message: string): StepFunctions {
  const refuse = (): Promise<never> => Promise.reject(new Refusal('malformed.option', message));
  return { step: refuse, sleep: refuse, waitFor: refuse };
}
