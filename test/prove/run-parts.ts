// Runs the parts of the proof: first those that need both cores, then the others two at a time, the longest first.
import type { Part } from './part.ts';

const atOnce = 2;

export async function runParts(parts: readonly Part[], run: (part: Part) => Promise<void>): Promise<void> {
  for (const part of parts) if (!part.runsBeside) await run(part);
  const left = besides(parts).toSorted((a, b) => b.seconds - a.seconds).values();
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const part of left) await run(part);
  }));
}

/** How long the parts take on two quiet cores; `share` is how much of a part is done. */
export function secondsOf(parts: readonly Part[], share: (part: Part) => number): number {
  const sum = (of: readonly Part[]): number => of.reduce((all, part) => all + part.seconds * (1 - share(part)), 0);
  return sum(parts.filter(({ runsBeside }) => !runsBeside)) + sum(besides(parts)) / atOnce;
}

const besides = (parts: readonly Part[]): readonly Part[] => parts.filter(({ runsBeside }) => runsBeside);
