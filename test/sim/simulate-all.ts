// Simulates many seeds in several processes.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { SimOptions, SimReport } from './simulation.ts';
import type { SeedRequest } from './worker.ts';

export interface SimProcesses {
  readonly processes?: number;
  /** They get only the time of the cores that other processes leave. */
  readonly isLowPriority?: boolean;
  /** Options of Node for the worker processes. */
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Returns false to start no further seed. */
  readonly onReport?: (report: SimReport) => boolean | void;
}

export interface SimBatch extends SimProcesses {
  readonly seeds: readonly number[];
  readonly options: SimOptions;
}

const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Returns the reports in the order of the seeds, without seeds that were not started. */
export async function simulateAll({ seeds, options, ...processes }: SimBatch): Promise<SimReport[]> {
  const reports = await simulateEach(seeds.map((seed) => ({ seed, options })), processes);
  return reports.filter((report) => report !== undefined);
}

/**
 * Starts the requests in their order, each as soon as a process is free. Returns the reports in the order of the requests;
 * undefined: the request was not started.
 */
export async function simulateEach(
  requests: readonly SeedRequest[],
  { processes, isLowPriority = false, execArgv = [], env = {}, onReport }: SimProcesses,
): Promise<(SimReport | undefined)[]> {
  const left = [...requests.entries()];
  const reports = Array<SimReport | undefined>(requests.length).fill(undefined);
  const simulateNext = async (): Promise<void> => {
    const child = fork(worker, { serialization: 'advanced', execArgv: [...execArgv], env: { ...process.env, ...env } });
    if (isLowPriority && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    try {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [index, request] = next;
        const report = await simulateIn(child, request);
        reports[index] = report;
        if (onReport?.(report) === false) left.length = 0;
      }
    } finally {
      child.kill();
    }
  };
  const count = Math.min(processes ?? Math.min(4, availableParallelism()), requests.length);
  await Promise.all(Array.from({ length: count }, simulateNext));
  return reports;
}

async function simulateIn(child: ChildProcess, request: SeedRequest): Promise<SimReport> {
  const exitError = (code: unknown): Error => new Error(`the simulation of seed ${request.seed} ended with ${String(code)}`);
  const isAnswered = new AbortController();
  const ended = once(child, 'exit', { signal: isAnswered.signal }).then(([code]) => Promise.reject(exitError(code)));
  const answered = once(child, 'message').then(([report]) => report as SimReport);
  child.send(request);
  try {
    return await Promise.race([answered, ended]);
  } finally {
    isAnswered.abort();
  }
}
