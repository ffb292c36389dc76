// The attempts that have ended lately.
import { expect, test } from 'vitest';
import { EndedAttempts } from '../../src/engine/progress/ended-attempts.ts';

test('an attempt that was added has ended, and so have the earlier ones of its job', () => {
  const ended = new EndedAttempts();
  ended.add({ id: 7, fence: 5 });
  expect([4, 5, 6].map((fence) => ended.has({ id: 7, fence }))).toEqual([true, true, false]);
  expect(ended.has({ id: 8, fence: 5 })).toBe(false);
});

test('the latest 8,192 of consecutive jobs are known', () => {
  const ended = new EndedAttempts();
  for (let id = 1; id <= 20_000; id += 1) ended.add({ id, fence: 1 });
  expect([20_000, 11_809, 11_808].map((id) => ended.has({ id, fence: 1 }))).toEqual([true, true, false]);
});
