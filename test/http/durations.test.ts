// Durations of jobs, from their events: a wait begins when a job could be claimed.
import { expect, test } from 'vitest';
import { DurationTracker } from '../../src/http/metrics/durations.ts';
import type { EventBody } from '../../src/model/event.ts';

/** How long the tracker says that a job waited before it was claimed at 1000, after these events. */
function waitAfter(...events: readonly (readonly [at: number, event: EventBody])[]): number | null {
  const tracker = new DurationTracker();
  const durations = [...events, [1000, { kind: 'claimed', holder: 'a' }] as const].map(([at, event], n) =>
    tracker.endedBy({ job: 1, kind: 'task', event: { n: n + 1, at, by: 'test', ...event } }));
  return durations.at(-1)!.waitedMs;
}

test('a wait begins at the due time, or when the job was created if that is later', () => {
  expect(waitAfter([100, { kind: 'created', due: 400, priority: 0 }])).toBe(600);
  expect(waitAfter([100, { kind: 'created', due: 50, priority: 0 }])).toBe(900);
});

test('an edit that moves the due time moves the start of the wait', () => {
  const created = [100, { kind: 'created', due: 200, priority: 0 }] as const;
  expect(waitAfter(created, [300, { kind: 'edited', edit: { due: 700 } }])).toBe(300);
  expect(waitAfter(created, [300, { kind: 'edited', edit: { due: 150 } }])).toBe(800);
  expect(waitAfter(created, [300, { kind: 'edited', edit: { priority: 5 } }])).toBe(800);
  const later = [100, { kind: 'created', due: 900, priority: 0 }] as const;
  expect(waitAfter(later, [300, { kind: 'edited', edit: { due: 150 } }])).toBe(700);
});

test('a job that waits for its parent waits for a worker only once it is freed', () => {
  const created = [100, { kind: 'created', due: 200, priority: 0, hold: 'parent' }] as const;
  expect(waitAfter(created, [900, { kind: 'freed' }])).toBe(100);
});
