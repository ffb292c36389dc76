// Determinism: nothing of the machine's speed reaches a simulation, neither its clock nor its I/O.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { bySize } from '../support/size.ts';
import { simulate } from './simulation.ts';

const options = { chaosMs: bySize({ small: 30_000, ci: 120_000 }) };

// The one import that an engine does at run time takes as long as a slow disk needs.
vi.mock('@opentelemetry/api', async (original) => {
  await sleep(100);
  return original();
});

test('a simulation has the same history whether the import of OpenTelemetry is slow or cached', async () => {
  const slow = await simulate(3, options);
  const cached = await simulate(3, options);
  expect(slow.trace).toBe(cached.trace);
});

test('a simulation has the same history however fast the real clock runs', async () => {
  const { trace } = await simulate(3, options);
  using clock = vi.spyOn(performance, 'now');
  let calls = 0;
  clock.mockImplementation(() => (calls += 1) * 1000);
  expect((await simulate(3, options)).trace).toBe(trace);
});
