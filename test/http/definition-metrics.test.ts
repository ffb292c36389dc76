// Metrics of definitions: the runs, ticks and last success of each, with a bounded number of labels.
import { expect, onTestFinished, test } from 'vitest';
import { jobDef, jobType, typed } from '../../src/index.ts';
import { Counting } from '../../src/http/metrics/counting.ts';
import { DefinitionMetrics } from '../../src/http/metrics/definition-metrics.ts';
import { TimeSeries } from '../../src/http/metrics/time-series.ts';
import { silent } from '../../src/logger.ts';
import type { EventBody } from '../../src/model/event.ts';
import type { FeedEvent } from '../../src/store/store.ts';
import { systemClock } from '../../src/time/clock.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { broken, echo, until, world, type World, type WorldOptions } from './world.ts';

const none = { waitedMs: null, ranMs: null, followedMs: null, familyMs: null };
const at = 1_700_000_000_000;

const eventOf = (def: string | null, event: EventBody, kind: FeedEvent['kind'] = 'run'): FeedEvent =>
  ({ job: 1, kind, type: 'mail', def, parent: null, event: { n: 1, at, by: 'test', ...event } });
const success = (def: string): FeedEvent => eventOf(def, { kind: 'succeeded' });
const deletion = (def: string): FeedEvent => eventOf(def, { kind: 'cancelled', code: 'user' }, 'def');
const creation = (def: string): FeedEvent => eventOf(def, { kind: 'created', due: 0, priority: 0 }, 'def');

function feed(metrics: DefinitionMetrics, ...events: readonly FeedEvent[]): void {
  for (const event of events) {
    metrics.note(event);
    metrics.countEvent(event, none);
  }
}

/** The values of a metric of definitions that are not 0, by their labels. */
const valuesOf = (metrics: DefinitionMetrics, name: string): unknown =>
  Object.fromEntries(metrics.figures().find((figure) => figure.name === name)!.values
    .filter(({ value }) => value !== 0).map(({ labels, value }) => [Object.values(labels).join(' '), value]));

test('only the first definitions have a label of their own', () => {
  const metrics = new DefinitionMetrics(2);
  feed(metrics, success('a'), success('b'), success('c'), success('d'), success('a'));
  expect(valuesOf(metrics, 'stint_definition_runs_total'))
    .toEqual({ 'a succeeded': 2, 'b succeeded': 1, 'other definitions succeeded': 2 });
  expect(valuesOf(metrics, 'stint_definition_last_success_timestamp_seconds'))
    .toEqual({ a: at / 1000, b: at / 1000, 'other definitions': at / 1000 });
});

test('a deleted definition makes room for another, and its last runs do not bring it back', () => {
  const metrics = new DefinitionMetrics(1);
  feed(metrics, success('a'), deletion('a'), success('a'), success('b'));
  expect(valuesOf(metrics, 'stint_definition_runs_total')).toEqual({ 'b succeeded': 1, 'other definitions succeeded': 1 });
  feed(metrics, deletion('b'), creation('a'), success('a'));
  expect(valuesOf(metrics, 'stint_definition_runs_total')).toEqual({ 'a succeeded': 1, 'other definitions succeeded': 1 });
});

test('ticks count by outcome, with how late they were; those of a backfill do not', () => {
  const metrics = new DefinitionMetrics();
  const ticked = { kind: 'ticked', plan: { schedules: [] }, due: 0 } as const;
  const tick = { schedule: 0, nominal: 0 };
  feed(
    metrics,
    eventOf('a', { ...ticked, ticks: [{ ...tick, run: 2, lateMs: 500 }, { ...tick, run: 3, lateMs: 2_500 }] }, 'def'),
    eventOf('a', { ...ticked, ticks: [{ ...tick, skipped: 'overlap', to: 9, count: 4 }] }, 'def'),
    eventOf('a', { ...ticked, ticks: [{ ...tick, run: 4, lateMs: 86_400_000 }], backfill: 9 }, 'def'),
  );
  expect(valuesOf(metrics, 'stint_definition_ticks_total')).toEqual({ 'a run': 1, 'a late': 1, 'a skipped_overlap': 4 });
  expect(valuesOf(metrics, 'stint_definition_tick_late_seconds_total')).toEqual({ a: 3 });
});

test('events of jobs without a definition, and of tasks, are not counted', () => {
  const metrics = new DefinitionMetrics();
  feed(metrics, eventOf(null, { kind: 'succeeded' }), eventOf('a', { kind: 'succeeded' }, 'task'));
  expect(metrics.figures().flatMap(({ values }) => values)).toEqual([]);
});

test.each([-1, 1.5, 10_001, Number.NaN])('%s labels are refused', (max) => {
  expect(() => new DefinitionMetrics(max)).toThrow(expect.objectContaining({ code: 'malformed.option' }));
});

async function opened(options: WorldOptions): Promise<World> {
  const server = await world(options);
  onTestFinished(() => server.close());
  return server;
}

async function metric(server: World, name: string): Promise<number | undefined> {
  const { body } = await server.get('/metrics');
  const found = String(body).split('\n').find((line) => line.startsWith(`${name} `));
  return found === undefined ? undefined : Number(found.slice(name.length + 1));
}

test.each(['sqlite', 'postgres'])('a server on %s counts the runs of each definition', async (kind) => {
  // The runs of both definitions have one type, and are claimed and end together.
  const either = jobType('either', {
    input: typed<{ fails: boolean }>(),
    retry: { attempts: 1 },
    run: ({ input }) => {
      if (input.fails) throw new Error('as it must');
    },
  });
  const [good, bad] = [jobDef('good', either, { params: { fails: false } }), jobDef('bad', either, { params: { fails: true } })];
  const engine = { types: [either, echo, broken], defs: [good, bad] };
  const server = await opened({ engine, ...(kind === 'postgres' ? { store: await migratedDatabase() } : {}) });
  const from = server.engine.now();
  await server.engine.createJobRun(either, { input: { fails: false } });
  await Promise.all([good, bad, good].map((def) => server.engine.createJobRun(def)));
  const runs = (definition: string, fate: string): Promise<number | undefined> =>
    metric(server, `stint_definition_runs_total{definition="${definition}",fate="${fate}"}`);
  await until(async () => (await runs('good', 'succeeded')) === 2 && (await runs('bad', 'failed')) === 1);
  expect([await runs('good', 'failed'), await runs('bad', 'succeeded')]).toEqual([0, 0]);
  for (const name of ['attempts', 'claims']) {
    expect([await metric(server, `stint_definition_${name}_total{definition="good"}`), name]).toEqual([2, name]);
  }
  const succeededAt = (await metric(server, 'stint_definition_last_success_timestamp_seconds{definition="good"}'))!;
  expect(succeededAt * 1000).toBeGreaterThanOrEqual(from);
  expect(succeededAt * 1000).toBeLessThanOrEqual(server.engine.now());
  expect(await metric(server, 'stint_definition_last_success_timestamp_seconds{definition="bad"}')).toBeUndefined();
});

test('the last success survives a restart, though the feed is read from where the last server stopped', async () => {
  const server = await opened({});
  const { engine } = server;
  const counting = async (definitions: DefinitionMetrics): Promise<Counting> => {
    const cursor = await engine.jobs.store.feedEnd();
    const one = new Counting({
      engine, definitions, timeSeries: new TimeSeries(engine, 0), feed: () => ({ cursor }), clock: systemClock, logger: silent,
    });
    onTestFinished(() => one.close());
    await one.begin();
    return one;
  };
  const before = new DefinitionMetrics();
  before.note(success('nightly'));
  await (await counting(before)).store();
  const after = new DefinitionMetrics();
  await counting(after);
  expect(valuesOf(after, 'stint_definition_last_success_timestamp_seconds')).toEqual({ nightly: at / 1000 });
});
