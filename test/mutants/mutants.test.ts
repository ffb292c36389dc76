// The simulator is itself tested: it must find what was taken out of the code.
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { huntAll } from './hunt.ts';
import { mutants } from './mutants.ts';

const chaosMs = 45 * 60_000;

/** Those that their first seed finds within seconds; the others are hunted by npm run prove. */
const quick = mutants.filter(({ isQuick }) => isQuick);

test(`each of ${quick.length} mutants is found`, { timeout: 600_000 }, async () => {
  const caught = await huntAll(quick, { seedsMax: 3, chaosMs }, Math.min(4, availableParallelism()));
  expect(quick.length).toBeGreaterThanOrEqual(12);
  expect(caught.filter(({ by }) => by === null)).toEqual([]);
});
