/**
 * The built-in type `exec`: runs a program from the operator's list, never through a shell. exec-policy.ts decides what
 * a run may set; process-tree.ts ends the processes that the program started, as far as it finds them.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import type { Context } from '../engine/handler/context.ts';
import { Lines } from '../engine/isolation/printout.ts';
import { settlesWithin } from '../time/settles-within.ts';
import { jobType, type JobType } from '../engine/declare/job-type.ts';
import { Cancelled, Fail, TimedOut } from '../engine/handler/errors.ts';
import { systemRandom } from '../random.ts';
import { systemClock } from '../time/clock.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import { ExecPolicy, type ExecTypeOptions, type FixedProgram } from './exec-policy.ts';
import { ProcessTree } from './process-tree.ts';
import { execTypeName } from './type-names.ts';

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the beginning of stdout or stderr is missing: only the last 65,536 characters of each are stored. */
  readonly isCut: boolean;
}

const word = z
  .string()
  .max(32_768)
  .regex(/^[^\0]*$/, 'no NUL');

const ExecInput = z.strictObject(
  {
    /**
     * First a program of the operator's list, written as in the list or as its absolute path; then its arguments.
     */
    command: z.tuple([word.min(1)], word),
    /** Only variables that the operator allows by name are accepted. */
    env: z.record(z.string(), word).default({}),
    stdin: z.string().max(1_048_576).default(''),
    timeout: z.union([z.string().max(64), z.number()]).optional(),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? unknownFields(issue.keys) : undefined) },
);
export type ExecInput = z.input<typeof ExecInput>;

const unknownFields = (names: readonly string[]): string =>
  names.includes('cwd')
    ? 'the operator of the server decides the directory: leave cwd out, or ask for --exec-cwd'
    : `there is no field ${names.join(', ').slice(0, 100)}: use command, env, stdin and timeout`;

/** How many characters of stdout, and of stderr, are stored. Of a longer output, only the end is stored. */
const outputMax = 65_536;
/** The time between SIGTERM and SIGKILL. */
const graceMs = 5_000;
/** How long to wait, after the program has exited, for output that is still in its pipes. */
const drainMs = 1_000;

/**
 * Creates the type. Throws a refusal if a program or a directory does not exist, or if `envAllow` names a variable that
 * runs may never set.
 */
export function execType(options: ExecTypeOptions): JobType<ExecInput, ExecResult> {
  const policy = new ExecPolicy(options);
  // The engine checks the schema when a run is created, and again before its handler is called.
  const input = ExecInput.superRefine((request, context) => {
    for (const { path, message } of policy.issues(request)) context.addIssue({ code: 'custom', path, message });
  });
  return jobType(execTypeName, {
    input,
    retry: { attempts: 1 },
    run: (context) => execute(context, context.input, programOf(policy, context.input)),
  });
}

type ParsedExecInput = z.output<typeof ExecInput>;
type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Returns the program of a run. Checks the request again, in case the caller of the handler did not use the schema. */
function programOf(policy: ExecPolicy, request: ParsedExecInput): FixedProgram {
  const [issue] = policy.issues(request);
  if (issue !== undefined) throw new Fail(issue.message);
  try {
    return policy.program(request.command[0]);
  } catch (error) {
    throw new Fail((error as Error).message, { cause: error });
  }
}

async function execute(
  { run, fence, signal, log }: Context,
  { command: [name, ...words], env, stdin, timeout }: ParsedExecInput,
  { path, listedPath, cwd, env: operatorEnv }: FixedProgram,
): Promise<ExecResult> {
  signal.throwIfAborted();
  // `ProcessTree` finds the descendants of the program by this mark in their environment. The mark is random: id and
  // fence would not be unique on this machine, because runs of different databases can have the same id and fence.
  const mark = `STINT_EXEC=${systemRandom.hex(16)}`;
  const child = spawn(path, words, {
    argv0: listedPath,
    cwd,
    env: { ...operatorEnv, ...env, STINT_JOB: `${run.id}.${fence}`, STINT_EXEC: mark.slice(mark.indexOf('=') + 1) },
    shell: false,
    // The program leads a new session and process group, so that one signal reaches all processes of the group.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const tree = child.pid === undefined ? null : new ProcessTree(child.pid, mark);
  const watch = endWhenAsked(tree, signal, timeout === undefined ? null : durationMs(timeout as Duration));
  // Ignores the EPIPE error of a program that exits without reading its standard input.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [out, err] = [new Tail(), new Tail()];
  out.read(child.stdout, (line) => log.info(line));
  err.read(child.stderr, (line) => log.warn(line));
  try {
    const { exitCode, killedBy } = await endOf(child, name, () => endRest(child, tree, watch, log));
    if (watch.reason !== null) throw watch.reason;
    const result = { stdout: out.text, stderr: err.text, isCut: out.isCut || err.isCut };
    if (exitCode === 0) return result;
    const how = killedBy === null ? `exit code ${exitCode}` : `signal ${killedBy}`;
    throw Object.assign(new Error(`${name} ended with ${how}`), { data: { exitCode, signal: killedBy, ...result } });
  } finally {
    watch.stop();
  }
}

interface ProgramEnd {
  readonly exitCode: number | null;
  readonly killedBy: NodeJS.Signals | null;
}

async function endOf(child: Child, name: string, endRest: () => Promise<void>): Promise<ProgramEnd> {
  try {
    return await exitOf(child, name);
  } finally {
    await endRest();
  }
}

const exitOf = (child: Child, name: string): Promise<ProgramEnd> =>
  new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT' || error.code === 'EACCES';
      reject(isMissing ? new Fail(`${name} cannot be run: ${error.code}`, { cause: error }) : error);
    });
    child.once('exit', (exitCode, killedBy) => resolve({ exitCode, killedBy }));
  });

/** Ends the processes that the program left running, and waits for the rest of the output. */
async function endRest(child: Child, tree: ProcessTree | null, watch: Watch, log: Context['log']): Promise<void> {
  const isClosed = tree === null || (child.stdout.closed && child.stderr.closed);
  const closed = isClosed ? Promise.resolve() : once(child, 'close').catch(() => {});
  // After `leaderExited()`, the group is not signalled any more, because another group may get its number. If
  // `graceLeftMs` is 0, the group can still be signalled: `end()` does so in the same turn of the event loop in which
  // Node reaped the program, and no other group has the number so soon.
  if (watch.graceLeftMs > 0) {
    tree?.leaderExited();
    await tree?.isGoneWithin(watch.graceLeftMs);
  }
  const left = (await tree?.end()) ?? [];
  if (left.length > 0) log.warn(`processes that could not be ended: ${left.join(', ')}`);
  await settlesWithin(systemClock, drainMs, closed);
  // A descendant that was not found or not ended may still have the pipes open. Open pipes would keep the server from
  // exiting.
  child.stdout.destroy();
  child.stderr.destroy();
}

interface Watch {
  /** Why the program was ended; null: it exited by itself. */
  readonly reason: Error | null;
  /** The time until processes that got SIGTERM are killed; 0: none got SIGTERM, or the time is over. */
  readonly graceLeftMs: number;
  stop(): void;
}

/**
 * Ends the program when the signal aborts or the timeout of the input passes. A cancel and this timeout send SIGTERM,
 * then SIGKILL after `graceMs`. A stop, a lost lease, the timeout of the type and the end of the engine send SIGKILL at
 * once, because after most of these another instance may start the job again.
 */
function endWhenAsked(tree: ProcessTree | null, signal: AbortSignal, timeoutMs: number | null): Watch {
  let reason: Error | null = null;
  let graceEnd = 0;
  const timers: (() => void)[] = [];
  const end = (why: Error, hasGrace: boolean): void => {
    if (reason !== null) return;
    reason = why;
    tree?.signal(hasGrace ? 'SIGTERM' : 'SIGKILL');
    if (!hasGrace) return;
    graceEnd = systemClock.monotonic() + graceMs;
    timers.push(systemClock.after(graceMs, () => tree?.signal('SIGKILL')));
  };
  const onAbort = (): void => end(signal.reason as Error, signal.reason instanceof Cancelled);
  signal.addEventListener('abort', onAbort, { once: true });
  if (timeoutMs !== null) {
    timers.push(
      systemClock.after(timeoutMs, () => end(new TimedOut(`the program took longer than ${timeoutMs} ms`), true)),
    );
  }
  return {
    get reason() {
      return reason;
    },
    get graceLeftMs() {
      return Math.max(0, graceEnd - systemClock.monotonic());
    },
    stop() {
      signal.removeEventListener('abort', onAbort);
      for (const stopTimer of timers) stopTimer();
    },
  };
}

/** Stores the last `outputMax` characters of a stream, and calls `onLine` with each line as it arrives. */
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
