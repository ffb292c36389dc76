/** Named limits of the memory store: how far their rates are used, and until when they are closed. */
import type { Change } from '../../model/change.ts';
import { noLimitValues, spend, unusedRate, type LimitValues } from '../../model/limit.ts';
import { limitContentOf, limitValuesOf } from '../../model/limit-record.ts';
import {
  admittedPerKey, AskedLimits, limitInUse, limitStateOf, mostUsedKeys, noKey, spentUses, type RateRow,
} from '../limit-use.ts';
import { recordId } from '../record-id.ts';
import type { LimitInUseNow, LimitStates } from '../store.ts';
import { admittedPerGate } from './claim.ts';
import type { Records } from './records.ts';

export class MemoryLimits {
  readonly #records: Records;
  readonly #rows = new Map<string, RateRow>();

  constructor(records: Records) {
    this.#records = records;
  }

  at(now: number): AskedLimits {
    return new AskedLimits(now, (name, key) =>
      limitStateOf(this.#valuesOf(name), this.#row(name, key ?? noKey), this.#row(name, noKey)));
  }

  /** Spends what the jobs that these changes start take of rates. */
  start(changes: readonly Change[], { outdated, now }: AskedLimits): void {
    for (const { name, key, cost } of spentUses(changes, outdated)) this.spend(name, key, cost, now);
  }

  spend(name: string, key: string | null, cost: number, now: number): void {
    const { rate } = this.#valuesOf(name);
    if (rate === null) return;
    const row = this.#row(name, key ?? noKey);
    const { tat, interval } = spend(rate, { ...unusedRate, ...row }, cost, now);
    this.#set({ name, key: key ?? noKey, tat, interval, closed_until: row?.closed_until ?? null });
  }

  close(name: string, key: string | null, until: number): void {
    const row = this.#row(name, key ?? noKey) ?? { name, key: key ?? noKey, tat: 0, interval: 0, closed_until: null };
    this.#set({ ...row, closed_until: Math.max(row.closed_until ?? 0, until) });
  }

  reopen(name: string, key: string | null): void {
    for (const [id, row] of this.#rows) {
      if (row.name === name && (key === null || row.key === key)) this.#rows.delete(id);
    }
  }

  use(name: string, which: Parameters<LimitStates['limitUse']>[1], now: number): LimitInUseNow[] {
    const admitted = admittedPerKey(name, admittedPerGate(this.#records, () => true));
    const rows = [...this.#rows.values()].filter((row) => row.name === name);
    const keys = 'keys' in which ? which.keys.map((key) => key ?? noKey) : mostUsedKeys(admitted, rows, which.count);
    return limitInUse({ values: this.#valuesOf(name), admitted, rows, now }, keys);
  }

  purge(now: number): void {
    for (const [id, { tat, closed_until }] of this.#rows) {
      if (tat <= now && (closed_until ?? 0) <= now) this.#rows.delete(id);
    }
  }

  #valuesOf(name: string): LimitValues {
    const record = this.#records.get(recordId('limit', name));
    return record ? limitValuesOf(limitContentOf(record.input)) : noLimitValues;
  }

  #row(name: string, key: string): RateRow | undefined {
    return this.#rows.get(JSON.stringify([name, key]));
  }

  #set(row: RateRow): void {
    this.#rows.set(JSON.stringify([row.name, row.key]), row);
  }
}
