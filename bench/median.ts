/** The median over the rounds of a measurement. */
import type { CpuPerJob } from './stopwatch.ts';

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1]!, sorted[sorted.length >> 1]!];
  return (low + high) / 2;
}

/** The median over the rounds that have a CPU figure; null if none has. */
export function medianCpu(rounds: readonly (CpuPerJob | undefined)[]): CpuPerJob | null {
  const known = rounds.filter((cpu) => cpu !== undefined);
  if (known.length === 0) return null;
  const server = known.flatMap(({ serverUs }) => serverUs ?? []);
  const client = known.map(({ clientUs }) => clientUs);
  return { clientUs: median(client), serverUs: server.length === 0 ? null : median(server) };
}
