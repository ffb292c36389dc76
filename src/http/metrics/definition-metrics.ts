/**
 * The metrics of definitions: how their runs ended, took and waited, their ticks, and the last success of each. They are
 * counted from the feed, without a query. The number of definitions with a label of their own is bounded; a deleted
 * definition makes room for another.
 */
import { endings, type Event } from '../../model/event.ts';
import type { Fate } from '../../model/state.ts';
import type { FeedEvent } from '../../store/store.ts';
import { BoundedMap } from '../../time/bounded-map.ts';
import { Refusal } from '../../refusal.ts';
import { BoundedLabel } from './bounded-label.ts';
import type { JobDurations } from './durations.ts';
import type { Figure, Labels } from './figure.ts';
import type { MetricName } from './metric-names.ts';
import { tickCounts } from './tick-counts.ts';

/** The time of the last success of a definition, in ms since 1970. */
export type LastSuccess = readonly [definition: string, at: number];

export const definitionsMaxDefault = 500;
const otherDefinitions = 'other definitions';
const definitionsMaxMost = 10_000;

interface DefinitionCounts {
  readonly fates: Map<Fate, number>;
  readonly ticks: Map<string, number>;
  attempts: number;
  attemptMs: number;
  claims: number;
  waitMs: number;
  tickLateMs: number;
}

export class DefinitionMetrics {
  readonly #labels: BoundedLabel;
  readonly #counts = new Map<string, DefinitionCounts>();
  readonly #successes = new Map<string, number>();
  /** Runs of a definition may end after it was deleted; they get no label of their own again. */
  readonly #deleted: BoundedMap<string, true>;

  constructor(definitionsMax = definitionsMaxDefault) {
    this.#labels = new BoundedLabel(checkDefinitionsMax('metricDefinitionsMax', definitionsMax), otherDefinitions);
    this.#deleted = new BoundedMap(definitionsMaxMost);
  }

  /** Notes which definitions exist, and their last successes. Every server does, whichever counts the events. */
  note({ kind, def, event }: FeedEvent): void {
    if (def === null) return;
    if (kind === 'def') this.#noteDefinition(def, event);
    else if (kind === 'run' && event.kind === 'succeeded') this.#noteSuccess(this.#labelOf(def), event.at);
  }

  countEvent({ kind, def, event }: FeedEvent, { waitedMs, ranMs }: JobDurations): void {
    if (def === null || (kind !== 'run' && event.kind !== 'ticked')) return;
    const counts = this.#countsOf(this.#labelOf(def));
    if (event.kind === 'ticked') countTicks(counts, event);
    if (endings.has(event.kind)) add(counts.fates, event.kind as Fate, 1);
    if (waitedMs !== null) {
      counts.claims += 1;
      counts.waitMs += waitedMs;
    }
    if (ranMs !== null) {
      counts.attempts += 1;
      counts.attemptMs += Math.max(0, ranMs);
    }
  }

  figures(): Figure[] {
    const each = (name: MetricName, valueOf: (counts: DefinitionCounts) => number): Figure => ({
      name, values: [...this.#counts].map(([definition, counts]) => ({ labels: { definition }, value: valueOf(counts) })),
    });
    const by = (name: MetricName, label: string, valuesOf: (counts: DefinitionCounts) => ReadonlyMap<string, number>): Figure => ({
      name, values: [...this.#counts].flatMap(([definition, counts]) =>
        [...valuesOf(counts)].map(([word, value]) => ({ labels: { definition, [label]: word } satisfies Labels, value }))),
    });
    return [
      by('stint_definition_runs_total', 'fate', ({ fates }) => fates),
      each('stint_definition_attempts_total', ({ attempts }) => attempts),
      each('stint_definition_attempt_seconds_total', ({ attemptMs }) => attemptMs / 1000),
      each('stint_definition_claims_total', ({ claims }) => claims),
      each('stint_definition_wait_seconds_total', ({ waitMs }) => waitMs / 1000),
      by('stint_definition_ticks_total', 'outcome', ({ ticks }) => ticks),
      each('stint_definition_tick_late_seconds_total', ({ tickLateMs }) => tickLateMs / 1000),
      {
        name: 'stint_definition_last_success_timestamp_seconds',
        values: [...this.#successes].map(([definition, at]) => ({ labels: { definition }, value: at / 1000 })),
      },
    ];
  }

  /** The JSON form of what `note` has learned, for servers that start later. */
  state(): readonly LastSuccess[] {
    return [...this.#successes];
  }

  restore(state: readonly LastSuccess[]): void {
    for (const [name, at] of state) this.#noteSuccess(this.#labelOf(name), at);
  }

  #labelOf(name: string): string {
    return name === otherDefinitions || this.#deleted.get(name) ? otherDefinitions : this.#labels.of(name);
  }

  #noteSuccess(label: string, at: number): void {
    this.#successes.set(label, Math.max(at, this.#successes.get(label) ?? 0));
  }

  #noteDefinition(name: string, event: Event): void {
    if (!endings.has(event.kind)) return void this.#deleted.delete(name);
    this.#deleted.set(name, true);
    this.#labels.remove(name);
    this.#counts.delete(name);
    this.#successes.delete(name);
  }

  #countsOf(label: string): DefinitionCounts {
    const known = this.#counts.get(label);
    if (known !== undefined) return known;
    const fresh = noCounts();
    this.#counts.set(label, fresh);
    return fresh;
  }
}

/** Returns the maximum number of labels; refuses a value that is out of bounds. `name` is that of the option. */
export function checkDefinitionsMax(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= definitionsMaxMost) return value;
  throw new Refusal('malformed.option', `${name} must be a whole number from 0 to ${definitionsMaxMost}`, { option: name });
}

/** Counts begin with 0, because `increase` of Prometheus does not see a count that begins with 1. */
const noCounts = (): DefinitionCounts => ({
  fates: new Map([...endings].map((fate) => [fate as Fate, 0])),
  ticks: new Map([['run', 0], ['late', 0]]),
  attempts: 0, attemptMs: 0, claims: 0, waitMs: 0, tickLateMs: 0,
});

function countTicks(counts: DefinitionCounts, event: Extract<Event, { kind: 'ticked' }>): void {
  for (const { outcome, count, lateMs } of tickCounts(event)) {
    add(counts.ticks, outcome, count);
    counts.tickLateMs += lateMs;
  }
}

const add = <Key>(counts: Map<Key, number>, key: Key, by: number): void => void counts.set(key, (counts.get(key) ?? 0) + by);
