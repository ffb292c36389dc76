/** Samples the CPU time of a server, to answer later how much it has used since a past moment. */
import { setInterval } from 'node:timers';
import type { PeerScratch } from './peer-database.ts';
import { sharedMs } from './shared-time.ts';

/** The resolution of /proc. */
const stepMs = 10;

export class ServerCpuSampler {
  readonly #scratch: PeerScratch;
  readonly #samples: { readonly ms: number; readonly us: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(scratch: PeerScratch) {
    this.#scratch = scratch;
    this.#timer = setInterval(() => this.#sample(), stepMs);
    this.#sample();
  }

  /** CPU time per job since `ms`; null if the server is not visible. */
  usSince(ms: number, jobs: number): number | null {
    const now = this.#scratch.serverCpuUs();
    const then = this.#samples.findLast((each) => each.ms <= ms);
    return now === null || !then ? null : (now - then.us) / jobs;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const us = this.#scratch.serverCpuUs();
    if (us !== null) this.#samples.push({ ms: sharedMs(), us });
  }
}
