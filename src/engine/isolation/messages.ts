/** The messages between the engine and a child: the engine sends commands, the child sends reports. */
import type { Progress } from '../../model/progress.ts';
import type { RunFacts } from '../handler/context.ts';
import type { LogLevel } from '../handler/job-log.ts';
import type { ErrorData } from './error-transfer.ts';

/** A property of `globalThis` that exists in every child. An engine that finds it there refuses to start children. */
export const isolatedFlag = Symbol.for('stint.isolated');

/** One call of a handler in a child. It is cloned for the child, so it has only data and no functions. */
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
    /** The names of the limits that the job uses. */
    readonly limitNames: readonly string[];
  };
}

/** A command of the engine to a child. Commands arrive in order, so `abort` refers to the last `call` before it. */
export type ChildCommand =
  | {
      readonly kind: 'call';
      readonly call: IsolatedCall;
      /** A random line that a child process prints at the end of the output of the call; a thread does not use it. */
      readonly mark: string;
      /** How long the child waits for another call after this one; then it exits. */
      readonly idleMs: number;
    }
  | { readonly kind: 'abort'; readonly reason: ErrorData };

export type ChildReport =
  /** The job type was found; its handler is called next. */
  | { readonly kind: 'started' }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly text: string }
  | { readonly kind: 'spend'; readonly limit: string; readonly cost: number }
  /** The handler has added a child; `request` is JSON. */
  | { readonly kind: 'child'; readonly type: string; readonly request: string }
  | { readonly kind: 'crashed'; readonly error: ErrorData }
  | CallOutcome;

/** The report that ends a call. If the child crashes or is killed, the call has no such report. */
export type CallOutcome =
  | { readonly kind: 'returned'; readonly text: string }
  | { readonly kind: 'handedOff'; readonly token: string; readonly withinMs: number | null }
  | { readonly kind: 'threw'; readonly error: ErrorData }
  /** The handler returned a value that cannot be stored as JSON. */
  | { readonly kind: 'notJson'; readonly message: string }
  | { readonly kind: 'notStarted'; readonly error: ErrorData };
