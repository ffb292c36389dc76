// Seeds that every campaign simulates: they once found a violation, in the source or in a mutant, or have many faults
// of the same kind.

export interface Regression {
  readonly seed: number;
  /** The invariant that the seed tests. */
  readonly invariant: string;
}

const found = (invariant: string, ...seeds: readonly number[]): Regression[] =>
  seeds.map((seed) => ({ seed, invariant }));

export const regressions: readonly Regression[] = [
  ...found('S6', 1, 7, 19, 152),
  ...found('S32', 3, 25, 190, 247),
  ...found('S13', 5, 6, 129, 168),
  ...found('S15', 104, 245, 359, 285),
  ...found('L3', 102, 105, 305, 116, 203),
  ...found('L3', 8, 108, 367, 113, 55),
  ...found('L2', 2, 4, 9, 10),
  ...found('S7', 232, 342, 48),
  ...found('S19', 29, 58, 65),
  ...found('S27', 110, 75, 344),
  ...found('S16', 57, 329),
];
