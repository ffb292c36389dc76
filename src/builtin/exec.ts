/** The built-in type `exec`: runs a program with its arguments, never through a shell; off unless it is asked for. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import type { Context } from '../engine/handler/context.ts';
import { Lines } from '../engine/isolation/host/printout.ts';
import { settlesWithin } from '../time/settles-within.ts';
import { jobType, type JobType } from '../engine/declare/job-type.ts';
import { Cancelled, Fail, TimedOut } from '../engine/handler/errors.ts';
import { systemClock } from '../time/clock.ts';
import { durationMs, type Duration } from '../time/duration.ts';

export interface ExecTypeOptions {
  /** Only these programs, as they are written in a command; left out: any. */
  readonly programs?: readonly string[];
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether there was more than is kept, which is the end of it. */
  readonly isCut: boolean;
}

const word = z
  .string()
  .max(32_768)
  .regex(/^[^\0]*$/, 'no NUL');

const ExecInput = z.strictObject({
  /** The program, then its arguments. */
  command: z.tuple([word.min(1)], word),
  cwd: word.min(1).optional(),
  /** Besides PATH, HOME and the like; nothing else of the server's own environment is passed on. */
  env: z.record(z.string().regex(/^[A-Za-z_]\w{0,200}$/), word).default({}),
  stdin: z.string().max(1_048_576).default(''),
  timeout: z.union([z.string().max(64), z.number()]).optional(),
});
export type ExecInput = z.input<typeof ExecInput>;

export const execTypeName = 'exec';

const outputMax = 65_536;
/** Between asking a program to end and ending it. */
const graceMs = 5_000;
/** For what is still in the pipes of a program that has ended. */
const drainMs = 1_000;
const passedOn: readonly string[] = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TEMP', 'SystemRoot'];
const hasGroups = process.platform !== 'win32';

export function execType({ programs }: ExecTypeOptions = {}): JobType<ExecInput, ExecResult> {
  return jobType(execTypeName, {
    input: ExecInput,
    retry: { attempts: 1 },
    run: (context) => {
      const [program] = context.input.command;
      if (programs && !programs.includes(program)) {
        throw new Fail(`${program} is not among the programs that --allow-exec names: ${programs.join(', ')}`);
      }
      return execute(context, context.input);
    },
  });
}

type ExecOrder = z.output<typeof ExecInput>;
type Child = ChildProcessByStdio<Writable, Readable, Readable>;

async function execute(
  { signal, log }: Context,
  { command, cwd, env, stdin, timeout }: ExecOrder,
): Promise<ExecResult> {
  const [program, ...words] = command;
  const child = spawn(program, words, {
    env: { ...ownEnvironment(), ...env },
    // At the head of a group, so that what it starts ends with it.
    detached: hasGroups,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const watch = endWhenAsked(child, signal, timeout === undefined ? null : durationMs(timeout as Duration));
  // A program need not read what it is given.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [out, err] = [new Tail(), new Tail()];
  out.read(child.stdout, (line) => log.info(line));
  err.read(child.stderr, (line) => log.warn(line));
  try {
    const { exitCode, killedBy } = await endOf(child, program);
    if (watch.reason !== null) throw watch.reason;
    const result = { stdout: out.text, stderr: err.text, isCut: out.isCut || err.isCut };
    if (exitCode === 0) return result;
    const how = killedBy === null ? `exit code ${exitCode}` : `signal ${killedBy}`;
    throw Object.assign(new Error(`${program} ended with ${how}`), { data: { exitCode, signal: killedBy, ...result } });
  } finally {
    watch.stop();
  }
}

const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));

interface ProgramEnd {
  readonly exitCode: number | null;
  readonly killedBy: NodeJS.Signals | null;
}

async function endOf(child: Child, program: string): Promise<ProgramEnd> {
  const closed = once(child, 'close').catch(() => {});
  const end = await new Promise<ProgramEnd>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT' || error.code === 'EACCES';
      reject(isMissing ? new Fail(`${program} cannot be run: ${error.code}`, { cause: error }) : error);
    });
    child.once('exit', (exitCode, killedBy) => resolve({ exitCode, killedBy }));
  });
  // What it left behind in its group would hold its output open.
  kill(child, 'SIGKILL');
  await settlesWithin(systemClock, drainMs, closed);
  return end;
}

interface Watch {
  /** Why it was ended; null: it was not. */
  readonly reason: Error | null;
  stop(): void;
}

/** Asks first and ends after a grace; whoever lost the job ends it at once, since another may have begun it. */
function endWhenAsked(child: Child, signal: AbortSignal, timeoutMs: number | null): Watch {
  let reason: Error | null = null;
  const timers: (() => void)[] = [];
  const end = (why: Error, isPatient: boolean): void => {
    if (reason !== null) return;
    reason = why;
    kill(child, isPatient ? 'SIGTERM' : 'SIGKILL');
    if (isPatient) timers.push(systemClock.after(graceMs, () => kill(child, 'SIGKILL')));
  };
  const asked = (): void => end(signal.reason as Error, signal.reason instanceof Cancelled);
  if (signal.aborted) asked();
  else signal.addEventListener('abort', asked, { once: true });
  if (timeoutMs !== null) {
    timers.push(
      systemClock.after(timeoutMs, () => end(new TimedOut(`the program took longer than ${timeoutMs} ms`), true)),
    );
  }
  return {
    get reason() {
      return reason;
    },
    stop() {
      signal.removeEventListener('abort', asked);
      for (const stopTimer of timers) stopTimer();
    },
  };
}

function kill(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // Nobody is left.
  }
}

/** The end of a stream, and its lines as they come. */
class Tail {
  #text = '';
  #isCut = false;

  get text(): string {
    return this.#text;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  read(stream: Readable, onLine: (line: string) => void): void {
    const lines = new Lines(onLine);
    stream.setEncoding('utf8').on('data', (piece: string) => {
      const all = this.#text + piece;
      this.#isCut ||= all.length > outputMax;
      this.#text = all.slice(-outputMax);
      lines.push(piece);
    });
    stream.once('end', () => lines.end());
  }
}
