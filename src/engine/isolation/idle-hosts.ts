/**
 * The idle hosts: threads and processes that have imported a module and wait for another call of its handlers.
 *
 * Saves: the start of a thread or process, and the import of the module.
 * Applies: to a call, if a host with the same mode and module is idle. A host is idle after its handler has returned,
 * for about `idleMs`; at most `idleMax` hosts are idle.
 * Without it: every call starts a host of its own; the outcome is the same unless the module keeps state.
 */
import type { Clock } from '../../time/clock.ts';
import type { IsolationMode } from '../handler/crash.ts';
import type { Host } from './host/host.ts';

interface IdleHost {
  readonly host: Host;
  readonly module: string;
  readonly since: number;
}

export interface IdleOptions {
  readonly clock: Clock;
  readonly idleMax: number;
  readonly idleMs: number;
}

/**
 * How long after its idle time (`idleMs`) a child may take to exit by itself. After that, code of its last call must be
 * blocking the exit, and the next `take` kills the child.
 */
const overdueMs = 5000;

export class IdleHosts {
  readonly #options: IdleOptions;
  /** Sorted: the host that has been idle for the longest time comes first. */
  #idle: IdleHost[] = [];

  constructor(options: IdleOptions) {
    this.#options = options;
  }

  /**
   * Returns an idle host that has imported the module; null: there is none. Prefers the host that became idle last, so
   * that surplus hosts stay idle and exit.
   */
  take(mode: IsolationMode, module: string): Host | null {
    this.#killOverdue();
    const index = this.#idle.findLastIndex((idle) => idle.host.mode === mode && idle.module === module);
    return index < 0 ? null : this.#idle.splice(index, 1)[0]!.host;
  }

  add(host: Host, module: string): void {
    host.setRef(false);
    this.#idle.push({ host, module, since: this.#options.clock.monotonic() });
    if (this.#idle.length > this.#options.idleMax) void this.#idle.shift()!.host.kill();
  }

  remove(host: Host): void {
    this.#idle = this.#idle.filter((idle) => idle.host !== host);
  }

  /**
   * Kills hosts that should have exited by themselves. Called by `take`, not by a timer, which would keep the process
   * alive.
   */
  #killOverdue(): void {
    const { clock, idleMs } = this.#options;
    const before = clock.monotonic() - idleMs - overdueMs;
    while (this.#idle.length > 0 && this.#idle[0]!.since < before) void this.#idle.shift()!.host.kill();
  }
}
