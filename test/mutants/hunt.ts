// The hunt: simulates each mutant with one seed after another until an invariant is violated.
import { fileURLToPath } from 'node:url';
import type { Invariant } from '../../src/verify.ts';
import { simulateAll } from '../sim/simulate-all.ts';
import type { Mutant } from './mutants.ts';

export interface Catch {
  readonly title: string;
  /** Null if no seed found the mutant. */
  readonly by: { readonly seed: number; readonly invariant: Invariant } | null;
}

export interface HuntOptions {
  /** The number of seeds to try after the known ones. */
  readonly seedsMax: number;
  readonly chaosMs: number;
  /** The URL of the server on which the simulations run; absent: they run on SQLite. */
  readonly postgresServer?: string;
  readonly isLowPriority?: boolean;
}

/** Each mutant has a process of its own, which loads some 450 modules: 2 s of CPU without the cache, 0.8 s with it. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/stint-mutants', import.meta.url));
const plant = fileURLToPath(new URL('./plant.ts', import.meta.url));

export async function hunt({ title, cuts, seeds, chaosMs }: Mutant, { seedsMax, isLowPriority = false, ...options }: HuntOptions): Promise<Catch> {
  let by: Catch['by'] = null;
  await simulateAll({
    seeds: [...new Set([...seeds, ...Array.from({ length: seedsMax }, (_, index) => index + 1)])],
    processes: 1,
    isLowPriority,
    options: { ...options, ...(chaosMs === undefined ? {} : { chaosMs }) },
    execArgv: ['--import', plant],
    env: { NODE_COMPILE_CACHE: compileCache, STINT_MUTANT: JSON.stringify(cuts) },
    onReport: ({ seed, violations: [first] }) => {
      if (first) by = { seed, invariant: first.invariant };
      return !first;
    },
  });
  return { title, by };
}

/** Hunts up to `processes` mutants at a time. The quick ones come last, so that no process is idle before the end. */
export async function huntAll(
  mutants: readonly Mutant[],
  options: HuntOptions,
  processes: number,
  onCatch: (caught: Catch) => void = () => {},
): Promise<Catch[]> {
  const left = mutants.toSorted((a, b) => Number(a.isQuick ?? false) - Number(b.isQuick ?? false));
  const caught: Catch[] = [];
  const go = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const one = await hunt(mutant, options);
      caught.push(one);
      onCatch(one);
    }
  };
  await Promise.all(Array.from({ length: processes }, go));
  return caught;
}
