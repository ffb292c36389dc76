/** The idle hosts: threads and processes that wait for another call of the module that they have imported. */
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

/** A child exits by itself after `idleMs`. If it has not done so by then, code of its last call blocks it. */
const overdueMs = 5000;

export class IdleHosts {
  readonly #options: IdleOptions;
  /** Longest idle first. */
  #idle: IdleHost[] = [];

  constructor(options: IdleOptions) {
    this.#options = options;
  }

  /** Takes the host that became idle last, so that surplus hosts reach their idle time and exit. */
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

  /** Checked with each call, since a timer would keep the process alive. */
  #killOverdue(): void {
    const { clock, idleMs } = this.#options;
    const before = clock.monotonic() - idleMs - overdueMs;
    while (this.#idle.length > 0 && this.#idle[0]!.since < before) void this.#idle.shift()!.host.kill();
  }
}
