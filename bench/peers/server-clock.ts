/** What a server used of the CPU since some moment that is only known later. */
import { setInterval } from 'node:timers';
import type { PeerGround } from './host.ts';
import { sharedMs } from './shared-time.ts';

/** The kernel counts in steps of this. */
const stepMs = 10;

export class ServerClock {
  readonly #ground: PeerGround;
  readonly #seen: { readonly ms: number; readonly us: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(ground: PeerGround) {
    this.#ground = ground;
    this.#timer = setInterval(() => this.#look(), stepMs);
    this.#look();
  }

  /** For each of so many jobs; null: it cannot be seen. */
  usSince(ms: number, jobs: number): number | null {
    const now = this.#ground.serverCpuUs();
    const then = this.#seen.findLast((each) => each.ms <= ms);
    return now === null || !then ? null : (now - then.us) / jobs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const us = this.#ground.serverCpuUs();
    if (us !== null) this.#seen.push({ ms: sharedMs(), us });
  }
}
