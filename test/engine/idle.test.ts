// How often engines that have nothing to do ask their store: L8, in virtual time.
import { expect, test } from 'vitest';
import { cron, Engine, jobDef, jobType, openStore, type EngineOptions } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/testing/index.ts';
import { turn } from '../../src/time/clock.ts';

const minutes = 10;
const perSecondMax = 2;

const plain = jobType('plain', { run: () => 1 });
const limited = jobType('limited', { concurrency: 1, run: () => 1 });
const hourly = jobDef('hourly', plain, { schedules: cron('0 * * * *') });

/** Counts calls by name; reading the clock is none. */
function counted(store: Store, calls: Map<string, number>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...values: unknown[]) => {
        if (name !== 'now') calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
        return (member as (...given: unknown[]) => unknown).apply(target, values);
      };
    },
  });
}

async function callsWhenIdle(options: EngineOptions, others = 0): Promise<Map<string, number>> {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1, 0, 5));
  const store = openStore('memory:', { clock });
  const calls = new Map<string, number>();
  const named = (index: number) => new Engine({ ...options, store, clock, instance: `other ${index}` });
  const crowd = Array.from({ length: others }, (_, index) => named(index));
  const engines = [...crowd, new Engine({ ...options, store: counted(store, calls), clock, instance: 'ann' })];
  for (const engine of engines) {
    const resumed = engine.resume();
    await clock.advance(0);
    await resumed;
  }
  await clock.advance(60_000);
  calls.clear();
  await clock.advance(minutes * 60_000);
  await turn();
  return calls;
}

const perSecond = (calls: ReadonlyMap<string, number>): number =>
  calls.values().reduce((sum, count) => sum + count, 0) / (minutes * 60);

const crowds: readonly { title: string; options: EngineOptions; others?: number }[] = [
  { title: 'that knows one type', options: { types: [plain] } },
  { title: 'that knows no type', options: {} },
  { title: 'that knows a limited type', options: { types: [plain, limited] } },
  { title: 'with a definition that is due in an hour', options: { defs: [hourly] } },
  { title: 'among three that does not lead', options: { types: [plain, limited], defs: [hourly] }, others: 2 },
];

test.each(crowds)('an idle engine $title asks its store at most twice a second', async ({ options, others }) => {
  const calls = await callsWhenIdle(options, others);

  expect(perSecond(calls), JSON.stringify([...calls])).toBeLessThanOrEqual(perSecondMax);
});

test('an engine asks more often while jobs wait at a limit, and stops when they are gone', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const store = openStore('memory:', { clock });
  const calls = new Map<string, number>();
  const gate = Promise.withResolvers<void>();
  const held = jobType('held', { concurrency: 1, run: () => gate.promise });
  const engine = new Engine({ store: counted(store, calls), clock, types: [held] });
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  await engine.createJobRuns(held, [{}, {}]);
  calls.clear();
  await clock.advance(30_000);
  expect(calls.get('claim')).toBeGreaterThan(30);
  gate.resolve();
  await clock.advance(10_000);
  expect(await engine.count({ standings: ['succeeded'] })).toMatchObject([{ count: 2 }]);
  calls.clear();
  await clock.advance(minutes * 60_000);

  expect(perSecond(calls), JSON.stringify([...calls])).toBeLessThanOrEqual(perSecondMax);
});
