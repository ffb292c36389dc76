/** The messages between the engine and a child: the engine sends commands, the child sends reports. */
import type { Progress } from '../../model/progress.ts';
import type { RunFacts } from '../handler/context.ts';
import type { LogLevel } from '../handler/job-log.ts';
import type { ErrorData } from './error-transfer.ts';

/** A property of `globalThis` that exists in every child. An engine that finds it refuses to start children. */
export const isolatedFlag = Symbol.for('stint.isolated');

/** One call of a handler in a child. It is cloned, so it consists of data only. */
export interface IsolatedCall {
  /** The URL of the module that exports the job type. */
  readonly module: string;
  readonly type: string;
  readonly phase: 'run' | 'taskResults';
  readonly data: {
    readonly input: unknown;
    readonly details?: unknown;
    readonly task?: unknown;
    readonly key?: string | null;
  };
  readonly facts: {
    readonly run: RunFacts;
    readonly idempotencyKey: string;
    readonly fence: number;
    /** The token of `handOff`. */
    readonly token: string;
  };
}

/** Commands arrive in the order in which they were sent, so `abort` refers to the call before it. */
export type ChildCommand =
  | {
      readonly kind: 'call';
      readonly call: IsolatedCall;
      /** The child prints this line after the output of the handler. */
      readonly mark: string;
      /** The child exits after this time without another call. */
      readonly idleMs: number;
    }
  | { readonly kind: 'abort'; readonly reason: ErrorData };

export type ChildReport =
  /** The job type was found; its handler is called next. */
  | { readonly kind: 'started' }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly text: string }
  | { readonly kind: 'crashed'; readonly error: ErrorData }
  | CallOutcome;

/** The last report of a call. */
export type CallOutcome =
  | { readonly kind: 'returned'; readonly text: string }
  | { readonly kind: 'handedOff'; readonly token: string; readonly withinMs: number | null }
  | { readonly kind: 'threw'; readonly error: ErrorData }
  /** The handler returned a value that cannot be stored as JSON. */
  | { readonly kind: 'notJson'; readonly message: string }
  | { readonly kind: 'notStarted'; readonly error: ErrorData };
