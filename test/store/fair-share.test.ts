// The order of turns, in memory: the shares that keys get, and the seeks that find the same jobs as a read of all.
import { describe, expect, test } from 'vitest';
import { Dice } from '../../src/conformance/dice.ts';
import { seededRandom } from '../../src/random.ts';
import { gateText } from '../../src/model/gate.ts';
import { keysOf, takeInTurns, turnsOf } from '../../src/store/fair-share.ts';
import { admitInOrder } from '../../src/store/gate-admission.ts';
import { ShareLine } from '../../src/store/share-line.ts';
import { ShareRound } from '../../src/store/share-round.ts';
import { ShareStops, type Stop } from '../../src/store/share-stops.ts';
import type { WaitingJob } from '../../src/store/waiting-job.ts';

const group = 'group';

/** Returns the jobs in the order of turns, as a claim admits them. */
function inTurns(jobs: readonly WaitingJob[], stop: Stop): readonly WaitingJob[] {
  return admitInOrder([new ShareLine({ group, jobs, stop, isCut: false })], () => true, Infinity).jobs;
}

const jobOf = (id: number, key: string, weight: number): WaitingJob =>
  ({ id, priority: 0, due: 1, gate: gateText({ type: 't', def: null, key: null, leaderOnly: false, share: { key, weight } }) });

const keyOf = ({ gate }: WaitingJob): string => /@(.*):/.exec(gate)![1]!;
const weightOf = ({ gate }: WaitingJob): number => Number(gate.split(':')[1]);

/** Jobs of some keys with random weights, each key with as many jobs as `countOf` returns. */
function randomJobs(dice: Dice, countOf: () => number): WaitingJob[] {
  const jobs: WaitingJob[] = [];
  for (let key = 0; key <= dice.roll(8); key++) {
    const weight = 1 + dice.roll(5);
    for (let n = countOf(); n > 0; n--) jobs.push(jobOf(jobs.length + 1, `k${key}`, weight));
  }
  return jobs;
}

/** Claims as one instance does, and returns the jobs in the order of their turns. */
function claim(waiting: readonly WaitingJob[], stops: ShareStops, limit: number): WaitingJob[] {
  const jobs = inTurns(waiting, stops.among(group, () => keysOf(waiting)));
  return takeInTurns(jobs, turnsOf(jobs), stops, limit);
}

const seeds = Array.from({ length: 20 }, (_, n) => n + 1);

describe('the first claim of an instance', () => {
  test('begins at a random key', () => {
    const waiting = Array.from({ length: 10 }, (_, n) => jobOf(n, `k${n}`, 1));
    const firsts = seeds.map((seed) => keyOf(claim(waiting, new ShareStops(seededRandom(seed)), 1)[0]!));
    expect(new Set(firsts).size).toBeGreaterThan(5);
  });

  test('begins at a random key, also where the keys between the first and the last are not known', () => {
    const keys = Array.from({ length: 90 }, (_, n) => `tenant-${n + 10}`);
    const firsts = seeds.map((seed) => {
      const { key } = new ShareStops(seededRandom(seed)).between(group, keys[0]!, keys.at(-1)!);
      return keys.find((each) => each >= key) ?? keys[0]!;
    });
    expect(new Set(firsts).size).toBeGreaterThan(7);
  });

  test('begins at the only key, if there is one', () => {
    const { key } = new ShareStops(seededRandom(1)).between(group, 'k', 'k');
    expect(key.startsWith('k')).toBe(true);
  });
});

describe('shares', () => {
  test.each(seeds)('of keys that wait all the time are those of their weights, give or take a turn per instance (seed %i)', (seed) => {
    const dice = new Dice(seed);
    const instances = Array.from({ length: 1 + dice.roll(4) }, () => new ShareStops());
    let waiting = randomJobs(dice, () => 120);
    const weights = new Map(waiting.map((job) => [keyOf(job), weightOf(job)]));
    const got = new Map<string, number>();
    let claimed = 0;
    while (claimed < 100) {
      const taken = claim(waiting, dice.pick(instances), 1 + dice.roll(7));
      for (const job of taken) got.set(keyOf(job), (got.get(keyOf(job)) ?? 0) + 1);
      const ids = new Set(taken.map(({ id }) => id));
      waiting = waiting.filter(({ id }) => !ids.has(id));
      claimed += taken.length;
    }
    const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
    for (const [key, weight] of weights) {
      const share = (claimed * weight) / all;
      expect(Math.abs((got.get(key) ?? 0) - share), `${key} got ${got.get(key)} of ${share}`)
        .toBeLessThanOrEqual(weight * instances.length);
    }
  });

  test.each(seeds)('found by seeks are those found by reading all jobs (seed %i)', (seed) => {
    const dice = new Dice(seed);
    const waiting = randomJobs(dice, () => 1 + dice.roll(40));
    const limit = 1 + dice.roll(30);
    const stop = { key: `k${dice.roll(8)}`, taken: dice.roll(6) };
    const jobs = inTurns(seek(waiting, stop, limit), stop);
    const all = inTurns(waiting, stop);
    expect(jobs.slice(0, limit).map(({ id }) => id)).toEqual(all.slice(0, limit).map(({ id }) => id));
  });

  test('with large weights are read only as far as the claim needs them', () => {
    const waiting = Array.from({ length: 300 }, (_, key) => key).flatMap((key) =>
      Array.from({ length: 50 }, (_, n) => jobOf(key * 50 + n, `k${String(key).padStart(3, '0')}`, 1_000)));
    let read = 0;
    seek(waiting, { key: '', taken: 0 }, 20, (count) => (read += count));
    expect(read).toBeLessThanOrEqual(8 * 20);
  });
});

/** Reads jobs as the stores do. */
function seek(waiting: readonly WaitingJob[], stop: Stop, limit: number, onRead?: (count: number) => void): readonly WaitingJob[] {
  const byKey = Map.groupBy(waiting, keyOf);
  const keys = [...byKey.keys()].sort();
  const inOrder = [...keys.filter((key) => key >= stop.key), ...keys.filter((key) => key < stop.key)];
  const firsts = inOrder.slice(0, limit + 1).map((key) => byKey.get(key)![0]!);
  const round = new ShareRound(firsts, stop, limit, firsts.length === keys.length && keys.length <= limit);
  for (let wanted = round.wanted(); wanted.length > 0; wanted = round.wanted()) {
    const jobs = wanted.flatMap(({ key, count }) => byKey.get(key)!.slice(0, count));
    onRead?.(jobs.length);
    round.add(jobs);
  }
  return round.jobs;
}
