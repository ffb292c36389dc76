// Simulates many seeds in several processes.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { SimOptions, SimReport } from './simulation.ts';

export interface SimBatch extends SimOptions {
  readonly seeds: readonly number[];
  readonly processes?: number;
  /** Options of Node for the worker processes. */
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Returns false to start no further seed. */
  readonly onReport?: (report: SimReport) => boolean | void;
}

const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Returns the reports in the order of the seeds, without seeds that were not started. */
export async function simulateAll(batch: SimBatch): Promise<SimReport[]> {
  const { seeds, processes, execArgv = [], env = {}, onReport, ...options } = batch;
  const left = [...seeds];
  const reports: SimReport[] = [];
  const simulateNext = async (): Promise<void> => {
    const child = fork(worker, { serialization: 'advanced', execArgv: [...execArgv], env: { ...process.env, ...env } });
    try {
      for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
        const report = await simulateIn(child, seed, options);
        reports.push(report);
        if (onReport?.(report) === false) left.length = 0;
      }
    } finally {
      child.kill();
    }
  };
  const count = Math.min(processes ?? Math.min(4, availableParallelism()), seeds.length);
  await Promise.all(Array.from({ length: count }, simulateNext));
  return reports.sort((a, b) => seeds.indexOf(a.seed) - seeds.indexOf(b.seed));
}

async function simulateIn(child: ChildProcess, seed: number, options: SimOptions): Promise<SimReport> {
  const exitError = (code: unknown): Error => new Error(`the simulation of seed ${seed} ended with ${String(code)}`);
  const isAnswered = new AbortController();
  const ended = once(child, 'exit', { signal: isAnswered.signal }).then(([code]) => Promise.reject(exitError(code)));
  const answered = once(child, 'message').then(([report]) => report as SimReport);
  child.send({ seed, options });
  try {
    return await Promise.race([answered, ended]);
  } finally {
    isAnswered.abort();
  }
}
