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
}

const plant = fileURLToPath(new URL('./plant.ts', import.meta.url));

export async function hunt({ title, cuts, seeds }: Mutant, { seedsMax, chaosMs }: HuntOptions): Promise<Catch> {
  let by: Catch['by'] = null;
  await simulateAll({
    seeds: [...new Set([...seeds, ...Array.from({ length: seedsMax }, (_, index) => index + 1)])],
    processes: 1,
    chaosMs,
    execArgv: ['--import', plant],
    env: { STINT_MUTANT: JSON.stringify(cuts) },
    onReport: ({ seed, violations: [first] }) => {
      if (first) by = { seed, invariant: first.invariant };
      return !first;
    },
  });
  return { title, by };
}

/** Hunts up to `processes` mutants at a time. */
export async function huntAll(
  mutants: readonly Mutant[],
  options: HuntOptions,
  processes: number,
  onCatch: (caught: Catch) => void = () => {},
): Promise<Catch[]> {
  const left = [...mutants];
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
