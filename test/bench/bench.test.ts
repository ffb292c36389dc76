// The options of the bench. bench.proof.ts runs it, with tiny sizes.
import { expect, test } from 'vitest';
import { runBench } from './run-bench.ts';

test('an unknown word of --only is refused with the list of known names', () => {
  const { stderr, status } = runBench('main.ts', '--only', 'sqlight');
  expect(status).toBe(1);
  expect(stderr).toContain('--only sqlight matches none of: sqlite, postgres, create single');
});
