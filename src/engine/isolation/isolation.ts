/**
 * Isolation: calls handlers in threads and processes of their own (children), which can be killed even if their code
 * never returns.
 *
 * The engine's side of a child is its *host* (`host/`): it starts and kills the child, sends *commands* (`call`,
 * `abort`) and receives *reports*. The code in the child is in `child/`. A child process whose engine has ended kills
 * itself (the orphan watch); an orphaned job is something else, a child job whose parent has ended.
 *
 * A child executes one call at a time. After a handler has returned, the child usually waits some time for the next
 * call of the same module; timers and connections that the handler left open stay open. After any other outcome, such
 * as an error, the child is killed, since code of the handler may still be running. Each child imports the module of
 * the job type, so the module must not start an engine when imported.
 *
 * A thread costs less, a process isolates more. In a thread, a blocking system call (`execSync`) delays the kill, a
 * huge allocation or native code can end the whole engine, and `fs.writeSync(1)` writes to the output of the engine.
 * Use a process for code that does one of these.
 */
import { existsSync } from 'node:fs';
import { Refusal } from '../../refusal.ts';
import { systemClock, type Clock } from '../../time/clock.ts';
import { HandlerCrashed, type IsolationMode } from '../handler/crash.ts';
import { packagedEntry, type Host, type HostOptions } from './host/host.ts';
import { HostedCall, type CallSettings, type IsolatedHooks } from './hosted-call.ts';
import { IdleHosts } from './idle-hosts.ts';
import { isolatedFlag, type IsolatedCall } from './messages.ts';
import { ProcessHost } from './host/process.ts';
import { ThreadHost } from './host/thread.ts';

export { HandlerCrashed, MissingOutput } from '../handler/crash.ts';
export type { IsolatedHooks } from './hosted-call.ts';
export type { IsolatedCall } from './messages.ts';

export interface IsolationOptions {
  /** How many children may be idle. If there are more, the one that has been idle longest is killed. Default: 4. */
  readonly idleMax?: number;
  /** How long an idle child waits for another call before it exits. Default: 30 seconds. */
  readonly idleMs?: number;
  /**
   * How long a child may take until it calls the handler. After that time it is killed. If the child was idle before
   * the call, a new child gets the call; if the child was new, the call fails. Default: 30 seconds.
   */
  readonly startTimeoutMs?: number;
  /** The limit of the JavaScript heap of each child, in MB. Default: Node's limit. */
  readonly memoryMb?: number;
  /** The file that children execute. Default: the file of the package. */
  readonly entry?: URL;
  readonly clock?: Clock;
}

export interface IsolatedRun {
  readonly result: Promise<unknown>;
  /** Kills the child, and resolves when it has ended. Never rejects. Has no effect after the handler has returned. */
  readonly kill: () => Promise<void>;
}

/** The host of a call, so that `kill` can kill it. A new host replaces an idle host that cannot start the call. */
interface CallTarget {
  /** Null before the call is sent and after the handler has returned. */
  host: Host | null;
  isKilled: boolean;
}

export class Isolation {
  readonly #settings: CallSettings;
  readonly #hostOptions: HostOptions;
  readonly #hosts = new Set<Host>();
  readonly #idle: IdleHosts;
  #isClosed = false;

  constructor(options: IsolationOptions = {}) {
    const { idleMax = 4, idleMs = 30_000, startTimeoutMs = 30_000, memoryMb, clock = systemClock } = options;
    const { entry = packagedEntry } = options;
    this.#settings = { clock, startTimeoutMs, idleMs };
    this.#hostOptions = { clock, entry, memoryMb: memoryMb ?? null };
    this.#idle = new IdleHosts({ clock, idleMax, idleMs });
  }

  /** Refuses job types that are isolated if the file that children execute does not exist, as in a bundle. */
  requireEntry(types: readonly string[]): void {
    if (types.length === 0 || existsSync(this.#hostOptions.entry)) return;
    const message =
      `job type ${types[0]} is isolated, but the bundle has no file for isolated handlers: exclude stint ` +
      'from the bundle, or set entries.isolation to a file that is built from stint/isolated-handlers';
    throw new Refusal('malformed.option', message, { types: types.slice(0, 10) });
  }

  /** Calls a handler in a child. `result` need not be awaited: it never causes an unhandled rejection. */
  run(mode: IsolationMode, call: IsolatedCall, hooks: IsolatedHooks): IsolatedRun {
    const target: CallTarget = { host: null, isKilled: false };
    const result = this.#perform(mode, call, hooks, target);
    result.catch(() => {});
    const kill = async (): Promise<void> => {
      target.isKilled = true;
      await target.host?.kill();
    };
    return { result, kill };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#hosts].map((host) => host.kill()));
  }

  async #perform(mode: IsolationMode, call: IsolatedCall, hooks: IsolatedHooks, target: CallTarget): Promise<unknown> {
    refuseNesting(call.module);
    const idle = this.#idle.take(mode, call.module);
    if (idle) {
      const hosted = new HostedCall(idle, hooks, this.#settings);
      try {
        return await this.#performOn(idle, hosted, call, target);
      } catch (error) {
        // The idle child has ended meanwhile, or code of its previous call blocks it: a new child executes the call.
        const isNotStarted = error instanceof HandlerCrashed && !hosted.isStarted;
        if (!isNotStarted || target.isKilled) throw error;
      }
    }
    const host = this.#start(mode);
    return this.#performOn(host, new HostedCall(host, hooks, this.#settings), call, target);
  }

  async #performOn(host: Host, hosted: HostedCall, call: IsolatedCall, target: CallTarget): Promise<unknown> {
    target.host = host;
    host.setRef(true);
    try {
      const { value, isClean } = await hosted.answer(call);
      target.host = null;
      if (isClean && !host.isKilled && this.#hosts.has(host)) this.#idle.add(host, call.module);
      else void host.kill();
      return value;
    } catch (error) {
      void host.kill();
      throw error;
    }
  }

  #start(mode: IsolationMode): Host {
    if (this.#isClosed) throw new HandlerCrashed('could not start', 'could not start: the engine is closed');
    const host = mode === 'thread' ? new ThreadHost(this.#hostOptions) : new ProcessHost(this.#hostOptions);
    this.#hosts.add(host);
    void host.ended.then(() => {
      this.#hosts.delete(host);
      this.#idle.remove(host);
    });
    return host;
  }
}

/** Refuses isolation inside a child. A module that starts an engine when imported would start children without end. */
function refuseNesting(module: string): void {
  if (!(isolatedFlag in globalThis)) return;
  const message = `cannot isolate within an isolated handler: does ${module} start an engine when it is imported?`;
  throw new Refusal('malformed.option', message, { module });
}
