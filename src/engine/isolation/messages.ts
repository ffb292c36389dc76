/** The messages between the engine and an isolated child: commands go in, reports come out. */
import type { Progress } from '../../model/progress.ts';
import type { RunFacts } from '../handler/context.ts';
import type { LogLevel } from '../handler/job-log.ts';
import type { ErrorData } from './error-transfer.ts';

/** One call of a handler that runs outside the engine's thread. All of it is cloned, so it holds data only. */
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
    /** What `handOff` answers; without it, the token of the run and this fence. A task needs one of its own. */
    readonly token?: string;
  };
}

/** To the child. The call of an abort is the current one: commands arrive in the order in which they were sent. */
export type ChildCommand =
  | {
      readonly kind: 'call';
      readonly call: IsolatedCall;
      /** Printed by the child after all that the handler printed. */
      readonly mark: string;
      /** After so long without another call the child ends itself. */
      readonly idleMs: number;
    }
  | { readonly kind: 'abort'; readonly reason: ErrorData };

/** From the child. */
export type ChildReport =
  /** The type was found and its handler is called now. */
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
  /** The handler returned something that is no JSON. */
  | { readonly kind: 'unfit'; readonly message: string }
  | { readonly kind: 'unstartable'; readonly error: ErrorData };
