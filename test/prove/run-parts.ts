// Runs the parts of the proof: first those that need the machine for themselves, then the others: two at a time, the
// longest first, and behind them those of low priority, one after the other.
import type { Part, Size } from './part.ts';

const cores = 2;

export async function runParts(parts: readonly Part[], run: (part: Part) => Promise<void>): Promise<void> {
  const runAll = async (some: Iterable<Part>): Promise<void> => {
    for (const part of some) await run(part);
  };
  await runAll(parts.filter((part) => !part.runsBeside && !part.runsBehind));
  const beside = parts.filter(({ runsBeside }) => runsBeside);
  const left = beside.toSorted((a, b) => cpuSecondsOf(b, 'full') - cpuSecondsOf(a, 'full')).values();
  await Promise.all([runAll(left), runAll(left), runAll(parts.filter(({ runsBehind }) => runsBehind))]);
}

/** How long the parts take on two quiet cores; `share` is how much of a part is done. */
export function secondsOf(parts: readonly Part[], size: Size, share: (part: Part) => number): number {
  return parts.reduce((sum, part) => sum + cpuSecondsOf(part, size) * (1 - share(part)), 0) / cores;
}

function cpuSecondsOf({ cpuSeconds }: Part, size: Size): number {
  return typeof cpuSeconds === 'number' ? cpuSeconds : cpuSeconds[size === 'ci' ? 'ci' : 'full'];
}
