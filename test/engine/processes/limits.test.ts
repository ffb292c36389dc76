// Limits, held by several instances together; judged by the histories, and by what the handlers themselves wrote down.
import { describe, expect, test } from 'vitest';
import type { Event, RunHandle } from '../../../src/index.ts';
import {
  alone, fan, forLeader, oneAfterTheOther, perTenant, spaced, spacedToo, spacing, threeOfTheDefinition, twoAtATime,
} from './children/limited.ts';
import type { Entry } from './children/ledger.ts';
import { detail } from '../../support/detail.ts';
import { flawsOf, histories, ledgerFlaws, type Told } from './histories.ts';
import { storeKindsOfRun, World } from './world.ts';

const names = ['ann', 'bob', 'cid'];
const runs = 20;

describe.each(storeKindsOfRun)('on $name', (kind) => {
  describe.concurrent('over three instances', () => {
    test('never more run of a type, a definition, a key or the tasks of a run than their limit says', async () => {
      await using world = await World.create(kind);
      await world.startAll('limited', names);
      const asks = Array.from({ length: runs }, (_, index) => ({ input: { tenant: `tenant ${index % 3}` } }));
      const created = await Promise.all([
        world.engine.createJobRuns(twoAtATime, asks.map(() => ({}))),
        world.engine.createJobRuns(oneAfterTheOther, asks.map(() => ({}))),
        world.engine.createJobRuns(threeOfTheDefinition, asks.map(() => ({}))),
        world.engine.createJobRuns(perTenant, asks),
        world.engine.createJobRuns(fan, [{}]),
      ]);
      await allEnd(created.flat());

      const told = await histories(world.engine);
      const ledger = world.entries();
      expect([...flawsOf(told), ...ledgerFlaws(told, ledger)]).toEqual([]);
      const ofDef = (def: string) => told.filter(({ job }) => job.def === def);
      const ofTenant = (tenant: string) => told.filter(({ job }) => job.input.includes(tenant));
      expect(peakOf(told.filter(({ job }) => job.type === 'two'), ledger)).toBe(2);
      expect(peakOf(ofDef('one after the other'), ledger)).toBe(1);
      expect(peakOf(ofDef('three'), ledger)).toBe(3);
      for (const tenant of ['tenant 0', 'tenant 1', 'tenant 2']) expect(peakOf(ofTenant(tenant), ledger)).toBe(1);
      expect(peakOf(told.filter(({ job }) => job.type === 'fan' && job.kind === 'task'), ledger)).toBe(3);
    });

    detail('a named limit spaces the starts of two types, and bounds how many run, by the clock of the store', async () => {
      await using world = await World.create(kind);
      await world.startAll('limited', names.slice(0, 2));
      const requests = Array.from({ length: runs }, () => ({}));
      await allEnd((await Promise.all([
        world.engine.createJobRuns(spaced, requests), world.engine.createJobRuns(spacedToo, requests),
      ])).flat());

      const told = await histories(world.engine);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
      const starts = told.flatMap(({ events }) => heldIn(events).map(([from]) => from)).sort((a, b) => a - b);
      // On a busy machine a lease may lapse: that run starts again, and within the limit.
      expect(starts.length).toBeGreaterThanOrEqual(2 * runs);
      expect(mostInAdvance(starts)).toBeLessThanOrEqual(spacing.values!.rate!.burst);
      expect(peak(told.flatMap(({ events }) => heldIn(events)))).toBeLessThanOrEqual(3);
    });

    detail('a limit holds while an instance is killed, and what it held counts until its lease is over', async () => {
      await using world = await World.create(kind);
      const members = await world.startAll('limited', names);
      const created = await world.engine.createJobRuns(twoAtATime, Array.from({ length: 3 * runs }, () => ({})));
      await world.until('the first to be done', () => world.entries({ what: 'done' }).length > 5);
      const { instance } = world.entries({ what: 'start' }).at(-1)!;
      await members.find((member) => member.instance === instance)!.end('SIGKILL');
      await allEnd(created);

      const told = await histories(world.engine);
      expect([...flawsOf(told), ...ledgerFlaws(told, world.entries())]).toEqual([]);
      expect(peak(told.flatMap(({ events }) => heldIn(events)))).toBeLessThanOrEqual(2);
    });

    detail('of a type with one at a time a second run is refused while one is under way, wherever it runs', async () => {
      await using world = await World.create(kind);
      await world.startAll('limited', names);
      const first = await world.engine.createJobRun(alone);
      await world.entry({ what: 'start' });
      const refused = await world.engine.createJobRun(alone).catch((error: unknown) => error);

      expect(refused).toMatchObject({ code: 'busy.type', detail: { type: 'alone', id: first.id } });
      world.open('go');
      await first.result();
      await (await world.engine.createJobRun(alone)).result();
      expect(peak((await histories(world.engine)).flatMap(({ events }) => heldIn(events)))).toBe(1);
    });

    detail('what is for the leader runs on one instance only, and on another when that is killed', async () => {
      await using world = await World.create(kind);
      const members = await world.startAll('limited', names);
      await allEnd(await world.engine.createJobRuns(forLeader, Array.from({ length: 10 }, () => ({}))));
      const leaders = new Set(world.entries({ what: 'start' }).map(({ instance }) => instance));
      expect(leaders.size).toBe(1);
      const [leader] = leaders;
      await members.find(({ instance }) => instance === leader)!.end('SIGKILL');
      await allEnd(await world.engine.createJobRuns(forLeader, Array.from({ length: 10 }, () => ({}))));

      const others = new Set(world.entries({ what: 'start' }).slice(10).map(({ instance }) => instance));
      expect(others.size).toBe(1);
      expect(others).not.toContain(leader);
    });
  });
});

/** By how many starts any window was ahead of the rate; the times of the store are whole milliseconds. */
function mostInAdvance(starts: readonly number[]): number {
  const { count, per } = spacing.values!.rate!;
  const ahead = starts.flatMap((from, first) =>
    starts.slice(first).map((to, index) => index + 1 - ((to + 1 - from) / per) * count));
  return Math.max(...ahead);
}

async function allEnd(all: readonly RunHandle[]): Promise<void> {
  for (const run of all) await run.result();
}

type Interval = readonly [from: number, to: number];

/**
 * The maximum number of concurrent handlers, by the store's histories or by the handlers' ledger, whichever is greater.
 */
function peakOf(told: readonly Told[], ledger: readonly Entry[]): number {
  const ids = new Set(told.map(({ job }) => job.id));
  const starts = ledger.filter(({ what, job }) => what === 'start' && ids.has(job!));
  const worked = starts.map((start): Interval => [start.at, doneOf(start, ledger).at]);
  return Math.max(peak(told.flatMap(({ events }) => heldIn(events))), peak(worked));
}

const doneOf = ({ job, fence }: Entry, ledger: readonly Entry[]): Entry =>
  ledger.find((entry) => entry.what === 'done' && entry.job === job && entry.fence === fence)!;

/** From each claim to what comes next. */
const heldIn = (events: readonly Event[]): Interval[] =>
  events.flatMap((event, index) => (event.kind === 'claimed' ? [[event.at, events[index + 1]!.at] as const] : []));

/** If two times are equal, an end counts before a start. */
function peak(intervals: readonly Interval[]): number {
  const steps = intervals.flatMap(([from, to]) => [[from, 1], [to, -1]] as const);
  let now = 0;
  return Math.max(0, ...steps.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, step]) => (now += step)));
}
