/** The metrics for Prometheus at /metrics. The number of different label values is bounded. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { EngineCore } from '../../engine/engine.ts';
import type { LimitStatus } from '../../engine/limit-actions.ts';
import { findStuck, type Stuck } from '../../engine/inspect/stuck.ts';
import { endings, type Event } from '../../model/event.ts';
import type { Pause } from '../../model/pause.ts';
import { workKinds } from '../../model/state.ts';
import type { Tally } from '../../store/query.ts';
import { isLive, type FeedEvent, type InboxCounts, type Instance, type StoreHealth } from '../../store/store.ts';
import { Histogram, line } from './prometheus-text.ts';
import { headOf, type MetricName } from './metric-names.ts';
import type { JobDurations } from './durations.ts';
import type { JobCounts } from './job-counts.ts';

const typesMax = 50;
const limitsMax = 50;
const otherTypes = 'other types';
const lateMs = 1_000;

export class Metrics {
  readonly #engine: EngineCore;
  readonly #jobCounts: Pick<JobCounts, 'open'>;
  readonly #lag: ReturnType<typeof monitorEventLoopDelay>;
  readonly #counts = new Map<string, number>();
  readonly #wait = new Map<string, Histogram>();
  readonly #run = new Map<string, Histogram>();
  readonly #follow = new Map<string, Histogram>();
  readonly #family = new Map<string, Histogram>();
  /** The first `typesMax` types that were counted. Each has its own label; all further types share `otherTypes`. */
  readonly #labelled = new Set<string>();
  #gauges: () => Readonly<Partial<Record<MetricName, number>>> = () => ({});

  constructor(engine: EngineCore, jobCounts: Pick<JobCounts, 'open'>) {
    this.#engine = engine;
    this.#jobCounts = jobCounts;
    this.#lag = monitorEventLoopDelay({ resolution: 20 });
    this.#lag.enable();
    for (const outcome of ['run', 'late']) this.#count('stint_ticks_total', { outcome }, 0);
  }

  /** Sets the function that returns further gauges. It is called whenever the metrics are read. */
  addGauges(gauges: () => Readonly<Partial<Record<MetricName, number>>>): void {
    this.#gauges = gauges;
  }

  countRequest(route: string, status: number): void {
    this.#count('stint_http_requests_total', { route, status: `${Math.floor(status / 100)}xx` });
  }

  countEvent({ kind, type: name, event }: FeedEvent, { waitedMs, ranMs, followedMs, familyMs }: JobDurations): void {
    if (kind !== 'audit') this.#count('stint_events_total', { kind: event.kind });
    if (event.kind === 'ticked') this.#countTicks(event);
    if (!workKinds.includes(kind)) return;
    const type = this.#labelOf(name);
    if (endings.has(event.kind)) this.#count('stint_jobs_ended_total', { type, fate: event.kind });
    if (event.kind === 'retried') this.#count('stint_jobs_retried_total', { type });
    if (waitedMs !== null) histogramOf(this.#wait, type).add(waitedMs / 1000);
    if (ranMs !== null) histogramOf(this.#run, type).add(ranMs / 1000);
    if (followedMs !== null) histogramOf(this.#follow, type).add(followedMs / 1000);
    if (familyMs !== null) histogramOf(this.#family, type).add(familyMs / 1000);
  }

  async text(): Promise<string> {
    const now = this.#engine.now();
    const tallies = await this.#jobCounts.open();
    const query = { kinds: workKinds, standings: ['pending'], dueBefore: now } as const;
    const [oldest] = (await this.#engine.find(query, { order: 'oldest', limit: 1 })).jobs;
    const alive = (await this.#engine.instances()).filter((each) => isLive(each, now));
    const lines = [
      ...headOf('stint_jobs'),
      ...bounded(tallies).map(([labels, count]) => line('stint_jobs', labels, count)),
      ...gauge('stint_oldest_ready_seconds', oldest === undefined ? 0 : Math.max(0, now - oldest.due) / 1000),
      ...gauge('stint_instances', alive.length),
      ...gauge('stint_slots', alive.reduce((sum, { about }) => sum + about.slots, 0)),
      ...gauge('stint_slots_busy', alive.reduce((sum, { about }) => sum + about.busy, 0)),
      ...this.#batchLines(alive),
      ...gauge('stint_event_loop_lag_seconds', this.#lag.percentile(99) / 1e9),
      ...stuckLines(await findStuck(this.#engine.jobs, tallies)),
      ...limitLines(await this.#engine.limits(), now),
      ...pauseLines(await this.#engine.pauses()),
      ...inboxLines(await this.#engine.countInbox()),
      ...healthLines(await this.#engine.jobs.store.health()),
      ...Object.entries(this.#gauges()).flatMap(([name, value]) => gauge(name as MetricName, value)),
      ...this.#counters(),
      ...histogramLines('stint_wait_seconds', this.#wait),
      ...histogramLines('stint_run_seconds', this.#run),
      ...histogramLines('stint_follow_wait_seconds', this.#follow),
      ...histogramLines('stint_family_wait_seconds', this.#family),
    ];
    return `${lines.join('\n')}\n`;
  }

  close(): void {
    this.#lag.disable();
  }

  #batchLines(alive: readonly Instance[]): string[] {
    const sums = new Map<string, { batches: number; jobs: number }>();
    for (const { type: name, batches, jobs } of alive.flatMap(({ about }) => about.batches ?? [])) {
      const type = this.#labelOf(name);
      const sum = sums.get(type) ?? { batches: 0, jobs: 0 };
      sums.set(type, { batches: sum.batches + batches, jobs: sum.jobs + jobs });
    }
    return [
      ...headOf('stint_batches'), ...[...sums].map(([type, { batches }]) => line('stint_batches', { type }, batches)),
      ...headOf('stint_batch_jobs'), ...[...sums].map(([type, { jobs }]) => line('stint_batch_jobs', { type }, jobs)),
      ...gauge('stint_batch_jobs_waiting', alive.reduce((sum, { about }) => sum + (about.gathered?.length ?? 0), 0)),
    ];
  }

  #labelOf(name: string): string {
    if (this.#labelled.size < typesMax) this.#labelled.add(name);
    const type = this.#labelled.has(name) ? name : otherTypes;
    for (const fate of endings) this.#count('stint_jobs_ended_total', { type, fate }, 0);
    return type;
  }

  #countTicks({ ticks, backfill }: Extract<Event, { kind: 'ticked' }>): void {
    // Every tick of a backfill is late.
    if (backfill !== undefined) return;
    for (const tick of ticks) {
      if ('run' in tick) this.#count('stint_ticks_total', { outcome: tick.lateMs > lateMs ? 'late' : 'run' });
      else this.#count('stint_ticks_total', { outcome: `skipped_${tick.skipped}` }, tick.count ?? 1);
    }
  }

  /** By 0: lists a count before its first event, because `increase` of Prometheus does not see a count that begins with 1. */
  #count(name: MetricName, labels: Readonly<Record<string, string>>, by = 1): void {
    const key = line(name, labels, '').trimEnd();
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  #counters(): string[] {
    const names = [
      'stint_http_requests_total', 'stint_events_total', 'stint_jobs_ended_total', 'stint_jobs_retried_total',
      'stint_ticks_total',
    ] as const;
    return names.flatMap((name) => [
      ...headOf(name),
      ...[...this.#counts].filter(([key]) => key.startsWith(`${name}{`)).map(([key, count]) => `${key} ${count}`),
    ]);
  }
}

function histogramOf(histograms: Map<string, Histogram>, type: string): Histogram {
  const histogram = histograms.get(type) ?? new Histogram();
  histograms.set(type, histogram);
  return histogram;
}

const histogramLines = (name: MetricName, histograms: ReadonlyMap<string, Histogram>): string[] =>
  [...headOf(name), ...[...histograms].flatMap(([type, histogram]) => histogram.lines(name, { type }))];

const gauge = (name: MetricName, value: number): string[] => [...headOf(name), line(name, {}, value)];

function stuckLines({ lapsed, unsettled, unknownTypes }: Stuck): string[] {
  const unknown = [...unknownTypes.values()].reduce((sum, count) => sum + count, 0);
  const counts = { lapsed: lapsed.length, unsettled: unsettled.length, unknown_type: unknown };
  return [
    ...headOf('stint_stuck_jobs'),
    ...Object.entries(counts).map(([reason, count]) => line('stint_stuck_jobs', { reason }, count)),
  ];
}

/** The metrics of the first `limitsMax` named limits; a limit with keys has those of its most used key. */
function limitLines(limits: readonly LimitStatus[], now: number): string[] {
  const shown = limits.slice(0, limitsMax);
  const linesOf = (name: MetricName, valueOf: (limit: LimitStatus) => number | null): string[] => [
    ...headOf(name),
    ...shown.flatMap((limit) => {
      const value = valueOf(limit);
      return value === null ? [] : [line(name, { limit: limit.name }, value)];
    }),
  ];
  const opensAt = ({ use: [most] }: LimitStatus): number => Math.max(most?.opensAt ?? 0, most?.closedUntil ?? 0);
  return [
    ...linesOf('stint_limit_jobs', ({ use: [most] }) => most?.admitted ?? 0),
    ...linesOf('stint_limit_concurrency', ({ values }) => values.concurrency),
    ...linesOf('stint_limit_wait_seconds', (limit) => Math.max(0, opensAt(limit) - now) / 1000),
  ];
}

function pauseLines(pauses: readonly Pause[]): string[] {
  const keys = pauses.filter(({ key }) => key !== null).length;
  return [
    ...headOf('stint_pauses'),
    ...Object.entries({ type: pauses.length - keys, key: keys })
      .map(([scope, count]) => line('stint_pauses', { scope }, count)),
  ];
}

const inboxLines = ({ waiting, refused }: InboxCounts): string[] => [
  ...headOf('stint_inbox_requests'),
  ...Object.entries({ waiting, refused }).map(([standing, count]) => line('stint_inbox_requests', { standing }, count)),
];

/** The metrics of the store's health. Omits the connections and the size if the store does not report them. */
function healthLines({ pool, bytes, oldestTransactionMs }: StoreHealth): string[] {
  const states = Object.entries(pool ?? {}).map(([state, count]) => line('stint_pool_connections', { state }, count));
  return [
    ...(states.length === 0 ? [] : [...headOf('stint_pool_connections'), ...states]),
    ...(bytes === null ? [] : gauge('stint_store_bytes', bytes)),
    ...gauge('stint_store_oldest_transaction_seconds', (oldestTransactionMs ?? 0) / 1000),
  ];
}

/**
 * Sums the counts by type and standing. Only the `typesMax` types with the most jobs are listed by name; the counts of
 * all other types are summed as `otherTypes`.
 */
function bounded(tallies: readonly Tally[]): [Record<string, string>, number][] {
  const byType = Map.groupBy(tallies, ({ type }) => type);
  const sumOf = (type: string): number => byType.get(type)!.reduce((sum, { count }) => sum + count, 0);
  const named = new Set([...byType.keys()].sort((a, b) => sumOf(b) - sumOf(a)).slice(0, typesMax));
  const sums = new Map<string, [Record<string, string>, number]>();
  for (const { type, standing, count } of tallies) {
    const labels = { type: named.has(type) ? type : otherTypes, standing };
    const key = JSON.stringify(labels);
    sums.set(key, [labels, (sums.get(key)?.[1] ?? 0) + count]);
  }
  return [...sums.values()];
}
