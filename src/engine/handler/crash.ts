/** The crash of a handler: its thread or process ended before the handler returned or threw. */
import type { ErrorCode } from '../../model/state.ts';

export interface HostEnd {
  readonly exitCode: number | null;
  /** The signal that ended the process; null: the process exited without a signal, or the host was a thread. */
  readonly signal: string | null;
  /** The error because of which the thread or process could not start, or the error that ended a thread. */
  readonly error?: unknown;
}

/** A thread or process ended before its handler returned (`crashed`), or could not call it (`could not start`). */
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

/** The handler returned a value that cannot be stored as JSON. */
export class MissingOutput extends Error {
  override readonly name = 'MissingOutput';
  readonly code: Extract<ErrorCode, 'missing output'> = 'missing output';
}

export type IsolationMode = 'thread' | 'process';

export interface CrashFacts {
  readonly mode: IsolationMode;
  readonly isStarted: boolean;
  /** Whether the engine killed the thread or process. */
  readonly isKilled: boolean;
  /** The uncaught error that the thread or process reported before it ended; null: none. */
  readonly uncaught: Error | null;
}

export function crashOf(end: HostEnd, { mode, isStarted, isKilled, uncaught }: CrashFacts): HandlerCrashed {
  const why = `the ${mode} of the handler ${isKilled && !uncaught ? 'was killed by the engine' : howOf(end, uncaught)}`;
  const about = { ...end, error: uncaught ?? end.error };
  if (isStarted || isKilled) return new HandlerCrashed('crashed', why, about);
  return new HandlerCrashed('could not start', `could not start: ${why}`, about);
}

function howOf({ exitCode, signal, error }: HostEnd, uncaught: Error | null): string {
  if (uncaught) return `ended with an uncaught error: ${uncaught.name}: ${uncaught.message}`;
  if (isOutOfMemory(error)) return 'ran out of memory';
  if (error instanceof Error) return `failed: ${error.message}`;
  // When the heap is full, V8 ends the process with this signal.
  if (signal === 'SIGABRT') return 'was ended by SIGABRT, which can mean that it ran out of memory';
  if (signal !== null) return `was ended by ${signal}`;
  return `exited with code ${exitCode}`;
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
