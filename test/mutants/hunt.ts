// The hunt: lets the simulator look for each mutant, seed after seed, until it is found.
import { fileURLToPath } from 'node:url';
import type { Invariant } from '../../src/verify.ts';
import { simulateAll } from '../sim/fleet.ts';
import type { Mutant } from './mutants.ts';

export interface Catch {
  readonly title: string;
  /** Null: it got away. */
  readonly by: { readonly seed: number; readonly invariant: Invariant } | null;
}

export interface HuntAsk {
  /** How many seeds are tried beyond those that are known. */
  readonly seedsMax: number;
  readonly chaosMs: number;
}

const plant = fileURLToPath(new URL('./plant.ts', import.meta.url));

export async function hunt({ title, cuts, seeds }: Mutant, { seedsMax, chaosMs }: HuntAsk): Promise<Catch> {
  let by: Catch['by'] = null;
  await simulateAll({
    seeds: [...new Set([...seeds, ...Array.from({ length: seedsMax }, (_, index) => index + 1)])],
    hands: 1,
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

/** Some at a time. */
export async function huntAll(
  mutants: readonly Mutant[],
  ask: HuntAsk,
  hands: number,
  onCatch: (caught: Catch) => void = () => {},
): Promise<Catch[]> {
  const left = [...mutants];
  const caught: Catch[] = [];
  const go = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const one = await hunt(mutant, ask);
      caught.push(one);
      onCatch(one);
    }
  };
  await Promise.all(Array.from({ length: hands }, go));
  return caught;
}
