// The rate of a named limit (GCRA), against a sliding window, and the text of gates that use limits.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gateText, GateAdmissions, gateWithoutCosts, noLimits, parseGate, unlimited, type Gate, type LimitsNow } from '../../src/model/gate.ts';
import { intervalOf, opensAt, roomIn, spend, unusedRate, type LimitState, type Rate, type RateUse } from '../../src/model/limit.ts';
import { sampleSize } from '../support/size.ts';

const start = 1_800_000_000_000;
const options = { numRuns: sampleSize(1000) };

const rates: fc.Arbitrary<Rate> = fc
  .record({ count: fc.integer({ min: 1, max: 300 }), per: fc.integer({ min: 300, max: 60_000 }) })
  .chain((rate) => fc.integer({ min: 1, max: rate.count }).map((burst) => ({ ...rate, burst })));

interface Arrival {
  readonly at: number;
  readonly cost: number;
}

/** Times at which jobs ask, in pauses from none to a few intervals, with costs up to the burst. */
const arrivals = (rate: Rate): fc.Arbitrary<Arrival[]> => fc
  .array(fc.record({
    pause: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: Math.ceil(3 * intervalOf(rate)) })),
    cost: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: rate.burst })),
  }), { maxLength: 200 })
  .map((asked) => {
    let at = start;
    return asked.map(({ pause, cost }) => ({ at: (at += pause), cost }));
  });

/** Starts each job at its arrival if the rate admits it then; the others do not start. */
function started(rate: Rate, asked: readonly Arrival[]): Arrival[] {
  let use: RateUse = unusedRate;
  return asked.filter(({ at, cost }) => {
    if (roomIn(rate, use, cost, at) === 0) return false;
    use = spend(rate, use, cost, at);
    return true;
  });
}

/** The highest cost that starts within any window of the period, both ends included. */
function highestInWindow(starts: readonly Arrival[], per: number): number {
  const windows = starts.map(({ at: from }) =>
    starts.filter(({ at }) => at >= from && at <= from + per).reduce((sum, { cost }) => sum + cost, 0));
  return Math.max(0, ...windows);
}

test('no window of the period has more starts than the count and the burst, by cost', () => {
  const cases = rates.chain((rate) => fc.tuple(fc.constant(rate), arrivals(rate)));
  fc.assert(fc.property(cases, ([rate, asked]) => {
    expect(highestInWindow(started(rate, asked), rate.per)).toBeLessThanOrEqual(rate.count + rate.burst);
  }), options);
});

test('a job that waits alone starts exactly when the rate opens, and not a millisecond before', () => {
  const cases = rates.chain((rate) => fc.tuple(fc.constant(rate), arrivals(rate), fc.integer({ min: 1, max: rate.burst })));
  fc.assert(fc.property(cases, ([rate, asked, cost]) => {
    let use: RateUse = unusedRate;
    for (const job of started(rate, asked)) use = spend(rate, use, job.cost, job.at);
    const now = asked.at(-1)?.at ?? start;
    const opens = opensAt(rate, use, cost, now);
    expect(roomIn(rate, use, cost, Math.max(now, opens))).toBeGreaterThan(0);
    if (opens > now) expect(roomIn(rate, use, cost, opens - 1)).toBe(0);
  }), options);
});

test('with enough demand, as many jobs start as the rate allows', () => {
  fc.assert(fc.property(rates, fc.integer({ min: 1, max: 3 }), (rate, periods) => {
    let use: RateUse = unusedRate;
    let starts = 0;
    const end = start + periods * rate.per;
    for (let now = start; now <= end; now = Math.max(now, opensAt(rate, use, 1, now))) {
      use = spend(rate, use, 1, now);
      starts += 1;
    }
    // Store time has whole milliseconds. Without a burst, a start up to a millisecond late delays all later ones.
    const interval = intervalOf(rate) + (rate.burst === 1 ? 1 : 0);
    expect(starts).toBeGreaterThanOrEqual(Math.floor((periods * rate.per) / interval));
    expect(starts).toBeLessThanOrEqual(periods * rate.count + rate.burst);
  }), options);
});

test('the room is the number of jobs that start at once, one after the other', () => {
  fc.assert(fc.property(rates, fc.integer({ min: 0, max: 400 }), (rate, before) => {
    let use = spend(rate, unusedRate, before, start);
    let starts = 0;
    for (const room = roomIn(rate, use, 1, start); roomIn(rate, use, 1, start) > 0 && starts <= room; starts += 1) {
      use = spend(rate, use, 1, start);
    }
    expect(starts).toBe(roomIn(rate, spend(rate, unusedRate, before, start), 1, start));
    expect(starts).toBe(Math.max(0, rate.burst - before));
  }), options);
});

test('after a change of the rate, the cost in use stays the same', () => {
  const before: Rate = { count: 1, per: 3_600_000, burst: 4 };
  const after: Rate = { count: 3_600, per: 3_600_000, burst: 4 };
  const use = spend(before, unusedRate, 3, start);
  expect([roomIn(before, use, 1, start), roomIn(after, use, 1, start)]).toEqual([1, 1]);
  expect(opensAt(after, use, 4, start)).toBe(start + 3_000);
});

const plain: Gate = { type: 't', def: null, key: null, leaderOnly: false };

test('a gate without uses has the text of older versions, and older texts are read', () => {
  expect(gateText({ ...plain, typeMax: 3 })).toBe('any/t///3/');
  expect(parseGate('any/t///3/')).toEqual({ ...plain, typeMax: 3 });
  expect(parseGate('leader/a%2Fb/d/k')).toEqual({ type: 'a/b', def: 'd', key: 'k', leaderOnly: true });
});

test('the uses of a gate are read as they were written', () => {
  const use = fc.record({ name: fc.string({ unit: 'grapheme' }), key: fc.option(fc.string()), cost: fc.double({ min: 0.001, max: 1e9, noNaN: true }) });
  fc.assert(fc.property(fc.array(use, { minLength: 1, maxLength: 3 }), (uses) => {
    expect(parseGate(gateText({ ...plain, uses }))).toEqual({ ...plain, uses });
  }), options);
});

test('jobs with different costs wait at one gate, and gates of older versions have the cost in their uses', () => {
  const costing = (...costs: number[]): string =>
    gateText({ ...plain, uses: costs.map((cost, index) => ({ name: `l${index}`, key: 'k', cost })) });
  expect(new Set([costing(1, 1), costing(5, 1), costing(0.25, 1e9)].map(gateWithoutCosts)).size).toBe(1);
  const older = `any/t/////${encodeURIComponent('[["api",null,5]]')}`;
  expect(parseGate(older).uses).toEqual([{ name: 'api', key: null, cost: 5 }]);
});

const gate = (name: string, cost = 1): string => gateText({ ...plain, uses: [{ name, key: null, cost }] });

const limitsAt = (states: Readonly<Record<string, Partial<LimitState>>>): LimitsNow =>
  ({ now: start, stateOf: (name) => ({ ...unlimited, ...states[name] }) });

const admissionsOf = (admitted: ReadonlyMap<string, number>, states: Readonly<Record<string, Partial<LimitState>>>) =>
  new GateAdmissions(admitted, noLimits, false, limitsAt(states));

test('the earliest opening of the refused gates is known, unless other limits refuse them too', () => {
  const rate = { count: 60, per: 60_000, burst: 1 };
  const admissions = admissionsOf(new Map(), {
    api: { values: { rate, concurrency: null }, tat: start + 7_000, interval: 1_000 },
    closed: { closedUntil: start + 3_000 },
  });
  expect([admissions.admit(gate('free')), admissions.opensAt]).toEqual([true, null]);
  expect([admissions.admit(gate('api')), admissions.opensAt]).toEqual([false, start + 7_000]);
  expect([admissions.admit(gate('closed')), admissions.opensAt]).toEqual([false, start + 3_000]);
  const leaderOnly = admissionsOf(new Map(), { closed: { closedUntil: start + 3_000 } });
  const text = gateText({ ...plain, leaderOnly: true, uses: [{ name: 'closed', key: null, cost: 1 }] });
  expect([leaderOnly.admit(text), leaderOnly.opensAt]).toEqual([false, null]);
});

test('jobs behind one that waits for a rate wait too, except for limits of which that job needs nothing', () => {
  const rate = { count: 60, per: 60_000, burst: 10 };
  const states = { api: { values: { rate, concurrency: null }, tat: start + 8_000, interval: 1_000 } };
  const admissions = admissionsOf(new Map(), states);
  expect([admissions.admit(gate('api', 5)), admissions.opensAt]).toEqual([false, start + 3_000]);
  expect([admissions.admit(gate('api')), admissions.admit(gate('other')), admissions.opensAt]).toEqual([false, true, start + 3_000]);
  const busy = admissionsOf(new Map([[gate('full'), 1]]), { ...states, full: { values: { rate: null, concurrency: 1 } } });
  const both = gateText({ ...plain, uses: [{ name: 'full', key: null, cost: 1 }, { name: 'api', key: null, cost: 5 }] });
  expect([busy.admit(both), busy.admit(gate('api'))], 'a job that a full limit refuses reserves no rate').toEqual([false, true]);
});

test('admitted jobs of all gates that use a limit count toward its concurrency', () => {
  const other = gateText({ ...plain, type: 'other', uses: [{ name: 'db', key: null, cost: 9 }] });
  const admissions = admissionsOf(new Map([[other, 2]]), { db: { values: { rate: null, concurrency: 3 } } });
  expect([admissions.admit(gate('db')), admissions.admit(gate('db')), admissions.admit(other)]).toEqual([true, false, false]);
});
