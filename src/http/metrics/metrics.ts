/**
 * The metrics: one place for the figures that Prometheus reads at /metrics and that OpenTelemetry observes. The number of
 * different label values is bounded.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { EngineCore } from '../../engine/engine.ts';
import type { LimitStatus } from '../../engine/limit-actions.ts';
import { findStuck, type Stuck } from '../../engine/inspect/stuck.ts';
import { endings } from '../../model/event.ts';
import type { Pause } from '../../model/pause.ts';
import { workKinds } from '../../model/state.ts';
import type { Tally } from '../../store/query.ts';
import {
  isLive, type FeedEvent, type InboxCounts, type Instance, type StoreHealth, type WaitTally,
} from '../../store/store.ts';
import { BoundedLabel } from './bounded-label.ts';
import type { DefinitionMetrics } from './definition-metrics.ts';
import { gauge, gaugeBy, type Figure, type LabelledValue, type Labels } from './figure.ts';
import { Histogram, line } from './prometheus-text.ts';
import { headOf, type DurationName, type MetricName } from './metric-names.ts';
import type { JobDurations } from './durations.ts';
import type { JobCounts } from './job-counts.ts';
import { tickCounts } from './tick-counts.ts';

const typesMax = 50;
const limitsMax = 50;
const otherTypes = 'other types';

export type OnDuration = (name: DurationName, seconds: number, labels: Labels) => void;

export class Metrics {
  readonly #engine: EngineCore;
  readonly #jobCounts: Pick<JobCounts, 'open'>;
  readonly #definitions: DefinitionMetrics;
  readonly #lag: ReturnType<typeof monitorEventLoopDelay>;
  readonly #counts = new Map<MetricName, Map<string, LabelledValue>>();
  readonly #durations = new Map<DurationName, Map<string, Histogram>>(durationNames.map((name) => [name, new Map()]));
  readonly #typeLabels = new BoundedLabel(typesMax, otherTypes);
  #onDuration: OnDuration = () => {};
  #gauges: () => Readonly<Partial<Record<MetricName, number>>> = () => ({});

  constructor(engine: EngineCore, jobCounts: Pick<JobCounts, 'open'>, definitions: DefinitionMetrics) {
    this.#engine = engine;
    this.#jobCounts = jobCounts;
    this.#definitions = definitions;
    this.#lag = monitorEventLoopDelay({ resolution: 20 });
    this.#lag.enable();
    for (const outcome of ['run', 'late']) this.#count('stint_ticks_total', { outcome }, 0);
  }

  /** Sets the function that returns further gauges. It is called whenever the metrics are read. */
  addGauges(gauges: () => Readonly<Partial<Record<MetricName, number>>>): void {
    this.#gauges = gauges;
  }

  /** Sets the function that is called with each duration, for systems that count it in histograms of their own. */
  observeDurations(onDuration: OnDuration): void {
    this.#onDuration = onDuration;
  }

  countRequest(route: string, status: number): void {
    this.#count('stint_http_requests_total', { route, status: `${Math.floor(status / 100)}xx` });
  }

  countEvent(feedEvent: FeedEvent, durations: JobDurations): void {
    const { kind, type: name, event } = feedEvent;
    const { waitedMs, ranMs, followedMs, familyMs } = durations;
    this.#definitions.countEvent(feedEvent, durations);
    if (kind !== 'audit') this.#count('stint_events_total', { kind: event.kind });
    if (event.kind === 'ticked') {
      for (const { outcome, count } of tickCounts(event)) this.#count('stint_ticks_total', { outcome }, count);
    }
    if (event.kind === 'answered') this.#count('stint_questions_total', { outcome: 'answered' });
    if (event.kind === 'unanswered') this.#count('stint_questions_total', { outcome: event.cause });
    if (!workKinds.includes(kind)) return;
    const type = this.#labelOf(name);
    if (endings.has(event.kind)) this.#count('stint_jobs_ended_total', { type, fate: event.kind });
    if (event.kind === 'retried') this.#count('stint_jobs_retried_total', { type });
    this.#addDuration('stint_wait_seconds', type, waitedMs);
    this.#addDuration('stint_run_seconds', type, ranMs);
    this.#addDuration('stint_follow_wait_seconds', type, followedMs);
    this.#addDuration('stint_family_wait_seconds', type, familyMs);
  }

  /** Returns the text for Prometheus. */
  async text(): Promise<string> {
    const lines = [
      ...(await this.figures()).flatMap(({ name, values }) =>
        [...headOf(name), ...values.map(({ labels, value }) => line(name, labels, value))]),
      ...[...this.#durations].flatMap(([name, histograms]) => histogramLines(name, histograms)),
    ];
    return `${lines.join('\n')}\n`;
  }

  /** Returns all gauges and counters. */
  async figures(): Promise<readonly Figure[]> {
    const now = this.#engine.now();
    const tallies = await this.#jobCounts.open();
    const query = { kinds: workKinds, standings: ['pending'], dueBefore: now } as const;
    const [oldest] = (await this.#engine.find(query, { order: 'oldest', limit: 1 })).jobs;
    const alive = (await this.#engine.instances()).filter((each) => isLive(each, now));
    return [
      { name: 'stint_jobs', values: bounded(tallies) },
      gauge('stint_oldest_ready_seconds', oldest === undefined ? 0 : Math.max(0, now - oldest.due) / 1000),
      gauge('stint_instances', alive.length),
      gauge('stint_slots', alive.reduce((sum, { about }) => sum + about.slots, 0)),
      gauge('stint_slots_busy', alive.reduce((sum, { about }) => sum + about.busy, 0)),
      ...this.#batchFigures(alive),
      gauge('stint_event_loop_lag_seconds', this.#lag.percentile(99) / 1e9),
      stuckFigure(await findStuck(this.#engine.jobs, tallies)),
      ...limitFigures(await this.#engine.limits(), now),
      pauseFigure(await this.#engine.pauses()),
      ...questionFigures(await this.#engine.jobs.store.tallyOpenWaits(), now),
      inboxFigure(await this.#engine.countInbox()),
      ...healthFigures(await this.#engine.jobs.store.health()),
      ...Object.entries(this.#gauges()).map(([name, value]) => gauge(name as MetricName, value)),
      ...counterNames.map((name) => ({ name, values: [...(this.#counts.get(name)?.values() ?? [])] })),
      ...this.#definitions.figures(),
    ];
  }

  close(): void {
    this.#lag.disable();
  }

  #batchFigures(alive: readonly Instance[]): Figure[] {
    const sums = new Map<string, { batches: number; jobs: number }>();
    for (const { type: name, batches, jobs } of alive.flatMap(({ about }) => about.batches ?? [])) {
      const type = this.#labelOf(name);
      const sum = sums.get(type) ?? { batches: 0, jobs: 0 };
      sums.set(type, { batches: sum.batches + batches, jobs: sum.jobs + jobs });
    }
    return [
      { name: 'stint_batches', values: [...sums].map(([type, { batches }]) => ({ labels: { type }, value: batches })) },
      { name: 'stint_batch_jobs', values: [...sums].map(([type, { jobs }]) => ({ labels: { type }, value: jobs })) },
      gauge('stint_batch_jobs_waiting', alive.reduce((sum, { about }) => sum + (about.gathered?.length ?? 0), 0)),
    ];
  }

  #labelOf(name: string): string {
    const type = this.#typeLabels.of(name);
    for (const fate of endings) this.#count('stint_jobs_ended_total', { type, fate }, 0);
    return type;
  }

  #addDuration(name: DurationName, type: string, ms: number | null): void {
    if (ms === null) return;
    const histograms = this.#durations.get(name)!;
    const histogram = histograms.get(type) ?? new Histogram();
    histograms.set(type, histogram);
    histogram.add(ms / 1000);
    this.#onDuration(name, Math.max(0, ms) / 1000, { type });
  }

  /** By 0: lists a count before its first event, because `increase` of Prometheus does not see a count that begins with 1. */
  #count(name: CounterName, labels: Labels, by = 1): void {
    const counts = this.#counts.get(name) ?? new Map<string, LabelledValue>();
    this.#counts.set(name, counts);
    const key = Object.values(labels).join('\n');
    counts.set(key, { labels, value: (counts.get(key)?.value ?? 0) + by });
  }
}

const durationNames: readonly DurationName[] =
  ['stint_wait_seconds', 'stint_run_seconds', 'stint_follow_wait_seconds', 'stint_family_wait_seconds'];
const counterNames = [
  'stint_http_requests_total', 'stint_events_total', 'stint_jobs_ended_total', 'stint_jobs_retried_total', 'stint_ticks_total',
  'stint_questions_total',
] as const satisfies readonly MetricName[];
type CounterName = (typeof counterNames)[number];

const histogramLines = (name: MetricName, histograms: ReadonlyMap<string, Histogram>): string[] =>
  [...headOf(name), ...[...histograms].flatMap(([type, histogram]) => histogram.lines(name, { type }))];

function stuckFigure({ lapsed, unsettled, unknownTypes }: Stuck): Figure {
  const unknown = [...unknownTypes.values()].reduce((sum, count) => sum + count, 0);
  return gaugeBy('stint_stuck_jobs', 'reason', { lapsed: lapsed.length, unsettled: unsettled.length, unknown_type: unknown });
}

/** The metrics of the first `limitsMax` named limits; a limit with keys has those of its most used key. */
function limitFigures(limits: readonly LimitStatus[], now: number): Figure[] {
  const shown = limits.slice(0, limitsMax);
  const figureOf = (name: MetricName, valueOf: (limit: LimitStatus) => number | null): Figure => ({
    name,
    values: shown.flatMap((limit) => {
      const value = valueOf(limit);
      return value === null ? [] : [{ labels: { limit: limit.name }, value }];
    }),
  });
  const opensAt = ({ use: [most] }: LimitStatus): number => Math.max(most?.opensAt ?? 0, most?.closedUntil ?? 0);
  return [
    figureOf('stint_limit_jobs', ({ use: [most] }) => most?.admitted ?? 0),
    figureOf('stint_limit_concurrency', ({ values }) => values.concurrency),
    figureOf('stint_limit_wait_seconds', (limit) => Math.max(0, opensAt(limit) - now) / 1000),
  ];
}

/** Resumes that are spread are not counted: nothing waits for a person. */
function pauseFigure(found: readonly Pause[]): Figure {
  const pauses = found.filter(({ spread }) => spread === null);
  const keys = pauses.filter(({ key }) => key !== null).length;
  return gaugeBy('stint_pauses', 'scope', { type: pauses.length - keys, key: keys });
}

const questionFigures = ({ count, oldest }: WaitTally, now: number): Figure[] => [
  gauge('stint_questions_open', count),
  gauge('stint_question_oldest_seconds', oldest === null ? 0 : Math.max(0, now - oldest) / 1000),
];

const inboxFigure = ({ waiting, refused }: InboxCounts): Figure => gaugeBy('stint_inbox_requests', 'standing', { waiting, refused });

/** The metrics of the store's health. Omits the connections and the size if the store does not report them. */
const healthFigures = ({ pool, bytes, oldestTransactionMs }: StoreHealth): Figure[] => [
  ...(pool === null ? [] : [gaugeBy('stint_pool_connections', 'state', { ...pool })]),
  ...(bytes === null ? [] : [gauge('stint_store_bytes', bytes)]),
  gauge('stint_store_oldest_transaction_seconds', (oldestTransactionMs ?? 0) / 1000),
];

/**
 * Sums the counts by type and standing. Only the `typesMax` types with the most jobs are listed by name; the counts of
 * all other types are summed as `otherTypes`.
 */
function bounded(tallies: readonly Tally[]): readonly LabelledValue[] {
  const byType = Map.groupBy(tallies, ({ type }) => type);
  const sumOf = (type: string): number => byType.get(type)!.reduce((sum, { count }) => sum + count, 0);
  const named = new Set([...byType.keys()].sort((a, b) => sumOf(b) - sumOf(a)).slice(0, typesMax));
  const sums = new Map<string, LabelledValue>();
  for (const { type, standing, count } of tallies) {
    const labels = { type: named.has(type) ? type : otherTypes, standing };
    const key = JSON.stringify(labels);
    sums.set(key, { labels, value: (sums.get(key)?.value ?? 0) + count });
  }
  return [...sums.values()];
}
