// Where the next claim of a request starts reading.
import { expect, test } from 'vitest';
import { ScanCursors, type LaneCursor } from '../../../src/store/postgres/claim/scan-cursor.ts';
import type { ClaimRequest } from '../../../src/store/store.ts';
import { VirtualClock } from '../../../src/time/clock.ts';
import { everything } from './ground.ts';

const ask: ClaimRequest = { ...everything, limit: 1_000 };
const rowOf = (type: string, id: number): LaneCursor => ({ kind: 'run', type, type_version: 1, priority: 0, due: id, id });
const rows = (type: string, count: number, from = 1): LaneCursor[] =>
  Array.from({ length: count }, (_, n) => rowOf(type, from + n));

function scanned(clock: VirtualClock, tookMs: number): ScanCursors {
  const cursors = new ScanCursors(clock);
  const lanes = [['run', 'a', 1, 0], ['run', 'b', 1, 0]] as const;
  cursors.recordScan(ask, { lanes, hasJobsAtGates: true, hasPauses: false, tookMs }, clock.monotonic());
  return cursors;
}

const positions = (cursors: ScanCursors): Record<string, number> =>
  Object.fromEntries(cursors.start(ask)!.map(({ type, id }) => [type, id]));

test('a claim continues in each lane behind what was claimed, and before the first job that was left', () => {
  const cursors = scanned(new VirtualClock(0), 0);
  cursors.recordClaim(ask, rows('a', 2_000), () => true);
  expect(positions(cursors)).toEqual({ a: 2_000, b: -1 });
  const left = new Set([2_003]);
  cursors.recordClaim(ask, [...rows('a', 5, 2_001), ...rows('b', 3)], ({ id }) => !left.has(id));
  expect(positions(cursors)).toEqual({ a: 2_002, b: 3 });
  cursors.recordClaim(ask, rows('a', 5, 2_003), ({ id }) => !left.has(id));
  expect(positions(cursors)).toEqual({ a: 2_002, b: 3 });
});

test('a claim reads its lanes from their beginning until much was claimed, and again after a while', async () => {
  const clock = new VirtualClock(0);
  const cursors = scanned(clock, 50);
  cursors.recordClaim(ask, rows('a', 1_999), () => true);
  expect(cursors.start(ask)).toBeNull();
  cursors.recordClaim(ask, rows('b', 1), () => true);
  expect(cursors.start({ ...ask, priorities: [0] })).toBeNull();
  await clock.advance(1_000);
  expect(positions(cursors)).toEqual({ a: 1_999, b: 1 });
  await clock.advance(100);
  expect(cursors.start(ask)).toBeNull();
});

test('a job at a gate is expected until a search there finds no lane, or a scan of all priorities sees none', () => {
  const cursors = new ScanCursors(new VirtualClock(0));
  const some = { ...ask, priorities: [1] };
  const scan = (request: ClaimRequest): void =>
    cursors.recordScan(request, { lanes: [], hasJobsAtGates: true, hasPauses: false, tookMs: 0 }, 10);
  scan(some);
  cursors.recordNoGates(ask, 10);
  expect(cursors.expectsGates(ask)).toBe(true);
  scan(ask);
  cursors.recordNoGates(some, 10);
  expect(cursors.expectsGates(ask)).toBe(true);
  cursors.recordNoGates(ask, 9); // sent before the scan that saw them
  expect(cursors.expectsGates(ask)).toBe(true);
  cursors.recordNoGates(ask, 10);
  expect(cursors.expectsGates(ask)).toBe(false);
});
