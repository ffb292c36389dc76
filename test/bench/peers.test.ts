// The options and the goals of the peers bench. peers.proof.ts runs it, with tiny sizes.
import { expect, test } from 'vitest';
import { measureSteadily } from '../../bench/machine-speed.ts';
import { verdictsOn } from '../../bench/peers/goals.ts';
import type { Figure } from '../../bench/peers/comparison.ts';
import type { FigureName, Unit } from '../../bench/peers/reading.ts';
import { runBench } from './run-bench.ts';

test('an unknown name is refused with the list of known names', () => {
  const { stderr, status } = runBench('peers/main.ts', '--only', 'rabbit');
  expect(status).toBe(1);
  expect(stderr).toContain('--only rabbit matches none of: Stint engine on PostgreSQL');
});

test('a goal compares with the best peer on the same database, for units where higher or lower is better', () => {
  const figures = [
    figure('Stint engine on PostgreSQL', 'drain 1', 'jobs/s', 1_300),
    figure('slow', 'drain 1', 'jobs/s', 100),
    figure('quick', 'drain 1', 'jobs/s', 1_000),
    { ...figure('elsewhere', 'drain 1', 'jobs/s', 9_000), database: 'redis' as const },
    figure('Stint engine on PostgreSQL', 'drain CPU', 'µs', 60),
    figure('slow', 'drain CPU', 'µs', 50),
    figure('quick', 'drain CPU', 'µs', 40),
  ];
  expect(verdictsOn(figures)).toMatchObject([
    { figure: 'drain 1', against: 'quick', got: 1.3, want: 1.2, isReached: true },
    { figure: 'drain CPU', against: 'quick', got: 1.5, want: 1, isReached: false },
  ]);
});

test('a ratio to a peer is the median of the ratios of the rounds', () => {
  const figures = [
    { ...figure('Stint engine on PostgreSQL', 'drain 1', 'jobs/s', 3_000), rounds: [1_000, 4_000, 3_000] },
    { ...figure('quick', 'drain 1', 'jobs/s', 2_000), rounds: [1_000, 2_000, 6_000] },
  ];
  expect(verdictsOn(figures)).toMatchObject([{ against: 'quick', got: 1, isReached: false }]);
});

test('a measurement is repeated while others slow the machine down, and is marked if that does not end', async () => {
  const slow = (...found: boolean[]) => ({ untilFast: async () => {}, watch: () => () => found.shift()! });
  const patience = { waitSeconds: 0, tries: 3 };
  const counted = () => {
    let made = 0;
    return async () => (made += 1);
  };
  expect(await measureSteadily(counted(), patience, slow(false))).toEqual({ value: 1, isDisturbed: false });
  expect(await measureSteadily(counted(), patience, slow(true, false))).toEqual({ value: 2, isDisturbed: false });
  expect(await measureSteadily(counted(), patience, slow(true, true, true))).toEqual({ value: 3, isDisturbed: true });
});

test('a goal compares with another figure of ours, or with a number', () => {
  const figures = [
    figure('Stint engine on PostgreSQL', 'drain 1', 'jobs/s', 1_000),
    figure('Stint engine on PostgreSQL', 'fan-out', 'jobs/s', 970),
    figure('Stint engine on PostgreSQL', 'drain memory', 'MB', 201),
    figure('Stint store on PostgreSQL', 'drain memory', 'MB', 90),
  ];
  expect(verdictsOn(figures)).toMatchObject([
    { figure: 'fan-out', got: 0.97, isReached: true, isMoonshot: true },
    { figure: 'drain memory', got: 201, store: 90, baseline: null, isReached: false },
  ]);
});

test('a batched drain of ours compares with that of the peer', () => {
  const figures = [
    figure('Stint batches on PostgreSQL', 'batch drain', 'jobs/s', 950),
    figure('graphile-worker batched', 'batch drain', 'jobs/s', 1_000),
  ];
  expect(verdictsOn(figures)).toMatchObject([{ figure: 'batch drain', got: 0.95, want: 0.9, isReached: true }]);
});

function figure(peer: string, name: FigureName, unit: Unit, median: number): Figure {
  const isOurs = peer.startsWith('Stint');
  return { peer, database: 'postgres', isOurs, figure: name, unit, median, rounds: [median], cpu: null, jobs: null, disturbed: 0 };
}
