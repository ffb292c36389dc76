/** The stopwatch: wall time and CPU of what it is told to time, summed up over as many pieces as it takes. */
import type { Ground } from './engine.ts';

/** One measurement of one side. */
export interface Sample {
  readonly readings: readonly Reading[];
  readonly cpu?: CpuPerJob;
}

export interface Reading {
  /** What tells this reading from others of the same case, such as `p95`. */
  readonly what?: string;
  readonly unit: 'jobs/s' | 'ms';
  readonly value: number;
}

export interface CpuPerJob {
  readonly clientUs: number;
  readonly serverUs: number | null;
}

export class Stopwatch {
  readonly #ground: Ground;
  #ms = 0;
  #clientUs = 0;
  #serverUs: number | null = 0;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  async time<T>(work: () => Promise<T>): Promise<T> {
    const server = this.#ground.serverCpuUs();
    const client = process.cpuUsage();
    const start = performance.now();
    const answer = await work();
    this.#ms += performance.now() - start;
    this.addClientCpu(totalUs(process.cpuUsage(client)));
    this.#addServerCpu(server);
    return answer;
  }

  /** What other processes of ours used meanwhile. */
  addClientCpu(us: number): void {
    this.#clientUs += us;
  }

  rate(jobs: number): Sample {
    const reading: Reading = { unit: 'jobs/s', value: (jobs / this.#ms) * 1000 };
    const serverUs = this.#serverUs === null ? null : this.#serverUs / jobs;
    return { readings: [reading], cpu: { clientUs: this.#clientUs / jobs, serverUs } };
  }

  #addServerCpu(before: number | null): void {
    const after = this.#ground.serverCpuUs();
    const known = before !== null && after !== null && this.#serverUs !== null;
    this.#serverUs = known ? this.#serverUs! + after - before : null;
  }
}

export const totalUs = ({ user, system }: NodeJS.CpuUsage): number => user + system;

/** How long things took, most of the time and almost always. */
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
