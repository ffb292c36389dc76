/** The idle hosts: those that wait for another call of the same module. */
import type { Clock } from '../../time/clock.ts';
import type { IsolationMode } from '../handler/crash.ts';
import type { Host } from './host/host.ts';

interface Idle {
  readonly host: Host;
  readonly module: string;
  readonly since: number;
}

export interface IdleOptions {
  readonly clock: Clock;
  readonly idleMax: number;
  readonly idleMs: number;
}

/** An idle child ends itself; one that has not done so by now is kept from it by what its last call left behind. */
const overdueMs = 5000;

export class IdleHosts {
  readonly #options: IdleOptions;
  /** The one that has waited longest comes first. */
  #waiting: Idle[] = [];

  constructor(options: IdleOptions) {
    this.#options = options;
  }

  /** The one that has waited shortest, so that those which are not needed end. */
  take(mode: IsolationMode, module: string): Host | null {
    this.#endOverdue();
    const index = this.#waiting.findLastIndex(({ host, module: its }) => host.mode === mode && its === module);
    return index < 0 ? null : this.#waiting.splice(index, 1)[0]!.host;
  }

  keep(host: Host, module: string): void {
    host.hold(false);
    this.#waiting.push({ host, module, since: this.#options.clock.monotonic() });
    if (this.#waiting.length > this.#options.idleMax) void this.#waiting.shift()!.host.kill();
  }

  forget(host: Host): void {
    this.#waiting = this.#waiting.filter((idle) => idle.host !== host);
  }

  /** Looked at with each call only: a timer would keep the process alive. */
  #endOverdue(): void {
    const { clock, idleMs } = this.#options;
    const before = clock.monotonic() - idleMs - overdueMs;
    while (this.#waiting.length > 0 && this.#waiting[0]!.since < before) void this.#waiting.shift()!.host.kill();
  }
}
