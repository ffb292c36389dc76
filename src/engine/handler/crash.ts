/** The crash: how the end of a child is told, when its handler gave no answer. */
import type { ErrorCode } from '../../model/state.ts';

/** How a thread or process ended. */
export interface HostEnd {
  readonly exitCode: number | null;
  /** Of a process that was killed. */
  readonly signal: string | null;
  /** Why it could not be started, or what ended the thread. */
  readonly error?: unknown;
}

/** The thread or process of a handler ended, was ended, or never got so far as to call it. */
export class HandlerCrashed extends Error {
  override readonly name = 'HandlerCrashed';
  readonly code: Extract<ErrorCode, 'crashed' | 'could not start'>;
  readonly exitCode: number | null;
  readonly signal: string | null;

  constructor(code: HandlerCrashed['code'], message: string, { exitCode, signal, error }: Partial<HostEnd> = {}) {
    super(message, error === undefined ? undefined : { cause: error });
    this.code = code;
    this.exitCode = exitCode ?? null;
    this.signal = signal ?? null;
  }
}

/** The handler returned something that cannot be kept as JSON. */
export class MissingOutput extends Error {
  override readonly name = 'MissingOutput';
  readonly code: Extract<ErrorCode, 'missing output'> = 'missing output';
}

export type IsolationMode = 'thread' | 'process';

export interface CrashFacts {
  readonly mode: IsolationMode;
  readonly isStarted: boolean;
  /** Whether it was ended on purpose. */
  readonly isKilled: boolean;
  /** What nobody caught in the child. */
  readonly uncaught: Error | null;
}

export function crashOf(end: HostEnd, { mode, isStarted, isKilled, uncaught }: CrashFacts): HandlerCrashed {
  const why = `the ${mode} of the handler ${isKilled && !uncaught ? 'was ended by force' : howOf(end, uncaught)}`;
  const about = { ...end, error: uncaught ?? end.error };
  if (isStarted || isKilled) return new HandlerCrashed('crashed', why, about);
  return new HandlerCrashed('could not start', `could not start: ${why}`, about);
}

function howOf({ exitCode, signal, error }: HostEnd, uncaught: Error | null): string {
  if (uncaught) return `ended by an error that nobody caught: ${uncaught.name}: ${uncaught.message}`;
  if (isOutOfMemory(error)) return 'ran out of memory';
  if (error instanceof Error) return `failed: ${error.message}`;
  // V8 aborts a process that has no memory left.
  if (signal !== null) return `was ended by ${signal}${signal === 'SIGABRT' ? ', as when memory runs out' : ''}`;
  return `ended with exit code ${exitCode}`;
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
