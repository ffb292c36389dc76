/** The stopwatch: sums wall time and CPU time over any number of timed calls. */
import type { ScratchDatabase } from './database.ts';

/** One measurement of one side. */
export interface Sample {
  readonly readings: readonly Reading[];
  readonly cpu?: CpuPerJob;
}

export interface Reading {
  /** Distinguishes the readings of one case, such as `p95`. */
  readonly what?: string;
  readonly unit: 'jobs/s' | 'ms';
  readonly value: number;
}

export interface CpuPerJob {
  readonly clientUs: number;
  readonly serverUs: number | null;
}

export class Stopwatch {
  readonly #scratch: ScratchDatabase;
  #ms = 0;
  #clientUs = 0;
  #serverUs: number | null = 0;

  constructor(scratch: ScratchDatabase) {
    this.#scratch = scratch;
  }

  async time<T>(work: () => Promise<T>): Promise<T> {
    const server = this.#scratch.serverCpuUs();
    const client = process.cpuUsage();
    const start = performance.now();
    const result = await work();
    this.#ms += performance.now() - start;
    this.addClientCpu(totalUs(process.cpuUsage(client)));
    this.#addServerCpu(server);
    return result;
  }

  /** Adds the CPU time of worker processes. */
  addClientCpu(us: number): void {
    this.#clientUs += us;
  }

  rate(jobs: number): Sample {
    const reading: Reading = { unit: 'jobs/s', value: (jobs / this.#ms) * 1000 };
    const serverUs = this.#serverUs === null ? null : this.#serverUs / jobs;
    return { readings: [reading], cpu: { clientUs: this.#clientUs / jobs, serverUs } };
  }

  #addServerCpu(before: number | null): void {
    const after = this.#scratch.serverCpuUs();
    const known = before !== null && after !== null && this.#serverUs !== null;
    this.#serverUs = known ? this.#serverUs! + after - before : null;
  }
}

export const totalUs = ({ user, system }: NodeJS.CpuUsage): number => user + system;

/** The 50th and 95th percentile. */
export function latencies(ms: readonly number[]): Sample {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return {
    readings: [
      { what: 'p50', unit: 'ms', value: at(0.5) },
      { what: 'p95', unit: 'ms', value: at(0.95) },
    ],
  };
}
