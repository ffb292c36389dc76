// The suite can fail: bugs are planted in the memory store, and each is found by the examples of its topic; those that
// random histories or races can meet are found by these, too.
import { describe, expect, test } from 'vitest';
import { findings, topics } from '../../src/conformance/examples.ts';
import { checkRaces } from '../../src/conformance/races.ts';
import { checkHistories } from '../../src/conformance/random-histories.ts';
import type { Clock } from '../../src/time/clock.ts';
import { details } from '../support/detail.ts';
import { Sound, type Bug } from './planted/bug.ts';
import { claimBugs } from './planted/claim-bugs.ts';
import { readBugs } from './planted/read-bugs.ts';
import { writeBugs } from './planted/write-bugs.ts';

const bugs: readonly Bug[] = [...writeBugs, ...claimBugs, ...readBugs];

const openOf = (Plant: Bug['plant']) => async (clock: Clock) => {
  const store = new Plant(clock);
  return { store, again: async () => store, close: () => store.close() };
};

describe('the examples find that', () => {
  for (const { title, plant, topic } of bugs) {
    test(title, async () => {
      const found = await findings(openOf(plant), topics.filter(({ name }) => name === topic));
      expect(found.map((finding) => finding.title)).not.toEqual([]);
    });
  }
});

details('random histories find that', () => {
  for (const { title, plant, alsoBy } of bugs) {
    if (!alsoBy?.includes('histories')) continue;
    test(title, async () => {
      const ask = { count: 400, seed: 1, shrinkMs: 1 };
      await expect(checkHistories(openOf(plant), ask)).rejects.toThrow(/differs from the memory store/);
    });
  }
});

details('races find that', () => {
  for (const { title, plant, alsoBy } of bugs) {
    if (!alsoBy?.includes('races')) continue;
    test(title, async () => {
      const race = async (): Promise<void> => {
        for (let count = 0; count < 10; count += 1) await checkRaces(openOf(plant));
      };
      await expect(race()).rejects.toThrow(/a race was lost/);
    });
  }
});

test('a failing history is reported with the few moves that matter', async () => {
  const [{ plant }] = bugs as [Bug];
  const ask = { count: 400, seed: 1, shrinkMs: 10_000 };
  const told = await checkHistories(openOf(plant), ask).then(() => '', (error: Error) => error.message);
  const steps = told.split('\n').filter((line) => /^ {2}\S/.test(line) && !/ms pass|purge/.test(line));
  expect(steps.length).toBeGreaterThan(0);
  expect(steps.length).toBeLessThanOrEqual(12);
});

test('without a planted bug, the examples find nothing', async () => {
  expect(await findings(openOf(Sound))).toEqual([]);
});
