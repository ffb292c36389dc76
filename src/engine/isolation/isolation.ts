/**
 * Isolation: calls handlers in threads and processes of their own, so that they can be ended whatever their code does.
 *
 * A child takes one call at a time. After a normal return it is kept for the next call of the same module; timers and
 * connections which that handler left behind stay with it. After anything else it is ended, since nobody can know what
 * still runs in it. A module is imported once per child, so it must not start an engine when it is imported.
 *
 * A thread is cheaper; a process is the stronger wall. What Node can neither interrupt nor confine in a thread needs
 * the latter: a blocking system call (`execSync`) delays the end of its thread, one huge allocation or native code can
 * end the whole engine, and `fs.writeSync(1)` writes to the engine's own output.
 */
import { systemClock, type Clock } from '../../time/clock.ts';
import { HandlerCrashed, type IsolationMode } from '../handler/crash.ts';
import type { Host, HostOptions } from './host/host.ts';
import { HostedCall, type CallSettings, type IsolatedHooks } from './hosted-call.ts';
import { IdleHosts } from './idle-hosts.ts';
import type { IsolatedCall } from './messages.ts';
import { refuseNesting } from './nesting.ts';
import { ProcessHost } from './host/process.ts';
import { ThreadHost } from './host/thread.ts';

export { HandlerCrashed, MissingOutput } from '../handler/crash.ts';
export type { IsolatedHooks } from './hosted-call.ts';
export type { IsolatedCall } from './messages.ts';

export interface IsolationOptions {
  /** How many children may wait for another call. */
  readonly idleMax?: number;
  /** How long they wait before they end themselves. */
  readonly idleMs?: number;
  /** From the start of a child, or an order to a waiting one, to the call of the handler. */
  readonly startTimeoutMs?: number;
  /** Of the JavaScript heap of each child, in MB; by default what Node allows. */
  readonly memoryMb?: number;
  readonly clock?: Clock;
}

export interface IsolatedRun {
  readonly result: Promise<unknown>;
  /** Resolves when it is really gone; never rejects. Nothing happens once there is a result. */
  readonly kill: () => Promise<void>;
}

/** Which host a run is on: none before it starts and after it ended well. */
interface HostSlot {
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
    this.#settings = { clock, startTimeoutMs, idleMs };
    this.#hostOptions = { clock, memoryMb: memoryMb ?? null };
    this.#idle = new IdleHosts({ clock, idleMax, idleMs });
  }

  /** `result` may be left alone: it does not count as an unhandled rejection. */
  run(mode: IsolationMode, call: IsolatedCall, hooks: IsolatedHooks): IsolatedRun {
    const slot: HostSlot = { host: null, isKilled: false };
    const result = this.#perform(mode, call, hooks, slot);
    result.catch(() => {});
    const kill = async (): Promise<void> => {
      slot.isKilled = true;
      await slot.host?.kill();
    };
    return { result, kill };
  }

  /** Ends every child, also those at work, and resolves when all are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#hosts].map((host) => host.kill()));
  }

  async #perform(mode: IsolationMode, call: IsolatedCall, hooks: IsolatedHooks, slot: HostSlot): Promise<unknown> {
    refuseNesting(call.module);
    const waiting = this.#idle.take(mode, call.module);
    if (waiting) {
      const hosted = new HostedCall(waiting, hooks, this.#settings);
      try {
        return await this.#performOn(waiting, hosted, call, slot);
      } catch (error) {
        // It ended just now, or the call before left something that keeps it busy: that is no fault of this call.
        const isUntouched = error instanceof HandlerCrashed && !hosted.isStarted;
        if (!isUntouched || slot.isKilled) throw error;
      }
    }
    const host = this.#start(mode);
    return this.#performOn(host, new HostedCall(host, hooks, this.#settings), call, slot);
  }

  async #performOn(host: Host, hosted: HostedCall, call: IsolatedCall, slot: HostSlot): Promise<unknown> {
    slot.host = host;
    host.hold(true);
    try {
      const { value, isClean } = await hosted.answer(call);
      slot.host = null;
      if (isClean && !host.isKilled && this.#hosts.has(host)) this.#idle.keep(host, call.module);
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
    void host.gone.then(() => {
      this.#hosts.delete(host);
      this.#idle.forget(host);
    });
    return host;
  }
}
