// The fleet: simulates many seeds in several processes at once.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { SimOptions, SimReport } from './world.ts';

export interface FleetAsk extends SimOptions {
  readonly seeds: readonly number[];
  readonly hands?: number;
  /** For Node, before the worker's file. */
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answered with false, no further seed is begun. */
  readonly onReport?: (report: SimReport) => boolean | void;
}

const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** The reports in the order of the seeds; those that were not begun are left out. */
export async function simulateAll(ask: FleetAsk): Promise<SimReport[]> {
  const { seeds, hands, execArgv = [], env = {}, onReport, ...options } = ask;
  const left = [...seeds];
  const reports: SimReport[] = [];
  const workThrough = async (): Promise<void> => {
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
  const count = Math.min(hands ?? Math.min(4, availableParallelism()), seeds.length);
  await Promise.all(Array.from({ length: count }, workThrough));
  return reports.sort((a, b) => seeds.indexOf(a.seed) - seeds.indexOf(b.seed));
}

async function simulateIn(child: ChildProcess, seed: number, options: SimOptions): Promise<SimReport> {
  const broken = (code: unknown): Error => new Error(`the simulation of seed ${seed} ended with ${String(code)}`);
  const isAnswered = new AbortController();
  const ended = once(child, 'exit', { signal: isAnswered.signal }).then(([code]) => Promise.reject(broken(code)));
  const answered = once(child, 'message').then(([report]) => report as SimReport);
  child.send({ seed, options });
  try {
    return await Promise.race([answered, ended]);
  } finally {
    isAnswered.abort();
  }
}
