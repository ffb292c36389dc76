// The sizes of tests: small in npm test, larger in the proof of CI and in the full one, largest in npm run prove -- --long.
export type TestSize = 'small' | 'ci' | 'full' | 'long';

const sizeOfRun = (process.env['STINT_TEST_SIZE'] ?? 'small') as TestSize;

/** The value for the size of this run; a size that is left out takes the value of the next smaller one. */
export function bySize<Value>(
  { small, ci = small, full = ci, long = full }: { small: Value; ci?: Value; full?: Value; long?: Value },
): Value {
  return { small, ci, full, long }[sizeOfRun];
}

/**
 * Divides tests that are as large in every run: npm test has those for which `isOfNpmTest`, the proof of CI the others,
 * the long proof all.
 */
export const isOfRun = (isOfNpmTest: boolean): boolean =>
  bySize({ small: isOfNpmTest, ci: !isOfNpmTest, long: true });

/** The number of random examples: a fifth of them in npm test, all in the proof. */
export const sampleSize = (all: number): number => bySize({ small: Math.ceil(all / 5), ci: all });
