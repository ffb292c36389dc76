/**
 * The use of named limits, for all stores: which rates a claim spends, the state of a limit from its rows, and the use
 * of a limit by key.
 */
import type { Change } from '../model/change.ts';
import { parseGate, type LimitsNow } from '../model/gate.ts';
import {
  isOutdated, opensAt, unusedRate, type LimitState, type LimitUse, type LimitValues, type RateUse,
} from '../model/limit.ts';
import type { LimitInUseNow } from './store.ts';

/** A row of table `rate`. `key` is empty if the limit has no keys; if it has keys, such a row closes it for all keys. */
export interface RateRow {
  readonly name: string;
  readonly key: string;
  readonly tat: number;
  readonly interval: number;
  readonly closed_until: number | null;
}

export const noKey = '';

/** Of how many rows of a limit `limitUse` chooses the keys that started last. */
export const rateRowsMax = 10_000;

/**
 * Returns what a claim takes of named limits: for each limit and key the sum of the costs of the jobs that these changes
 * start. `outdated` are uses of cost 0: they have to be written because the rate of their limit was changed.
 */
export function spentUses(changes: readonly Change[], outdated: readonly LimitUse[]): LimitUse[] {
  const perGate = Map.groupBy(changes.filter(isStart), ({ before }) => before!.gate!);
  const started = [...perGate].flatMap(([gate, { length }]) =>
    (parseGate(gate).uses ?? []).map((use) => ({ ...use, cost: use.cost * length })));
  const sums = new Map<string, LimitUse>();
  for (const use of [...started, ...outdated]) {
    const name = JSON.stringify([use.name, use.key]);
    sums.set(name, { ...use, cost: use.cost + (sums.get(name)?.cost ?? 0) });
  }
  return [...sums.values()];
}

/** Whether the change starts a job that waited at its gate. */
const isStart = ({ before, after }: Change): boolean =>
  before?.state === 'pending' && !before.admitted && before.gate !== null && after?.state === 'running';

/** The limits that a claim has asked for at `now`. */
export class AskedLimits implements LimitsNow {
  now: number;
  /** Uses of cost 0 of the limits whose rate was changed since their use was written. */
  readonly outdated: LimitUse[] = [];
  readonly #read: LimitsNow['stateOf'];

  constructor(now: number, read: LimitsNow['stateOf']) {
    this.now = now;
    this.#read = read;
  }

  stateOf(name: string, key: string | null): LimitState {
    const state = this.#read(name, key);
    if (isOutdated(state, this.now)) this.outdated.push({ name, key, cost: 0 });
    return state;
  }
}

/** Returns the state of a limit under a key. `all` is the row without a key, which closes the limit for all keys. */
export function limitStateOf(values: LimitValues, row: RateRow | undefined, all: RateRow | undefined): LimitState {
  const use = row === undefined ? unusedRate : rateUseOf(row);
  const closedUntil = Math.max(use.closedUntil ?? 0, all?.closed_until ?? 0, values.pausedUntil ?? 0);
  return { values, ...use, closedUntil: closedUntil === 0 ? null : closedUntil };
}

const rateUseOf = ({ tat, interval, closed_until }: RateRow): RateUse => ({ tat, interval, closedUntil: closed_until });

/** Returns the keys of a limit with their admitted jobs, from the number of admitted jobs per gate. */
export function admittedPerKey(name: string, admitted: ReadonlyMap<string, number>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [gate, count] of admitted) {
    for (const use of parseGate(gate).uses ?? []) {
      if (use.name === name) counts.set(use.key ?? noKey, (counts.get(use.key ?? noKey) ?? 0) + count);
    }
  }
  return counts;
}

/** Returns up to `count` keys: those with the most admitted jobs, then those of `rows`, the latest start first. */
export function mostUsedKeys(
  admitted: ReadonlyMap<string, number>,
  rows: readonly Pick<RateRow, 'key' | 'tat'>[],
  count: number,
): string[] {
  const running = [...admitted].sort((a, b) => b[1] - a[1]).map(([key]) => key);
  const started = [...rows].sort((a, b) => b.tat - a.tat).map(({ key }) => key);
  return [...new Set([...running, ...started])].slice(0, count);
}

/** Returns the use of a limit under each of these keys, without its pause. `rows` must have the rows of these keys and that without one. */
export function limitInUse(
  { values: given, admitted, rows, now }: {
    readonly values: LimitValues;
    readonly admitted: ReadonlyMap<string, number>;
    readonly rows: readonly RateRow[];
    readonly now: number;
  },
  keys: readonly string[],
): LimitInUseNow[] {
  const { pausedUntil: _, ...values } = given;
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.map((key) => {
    const state = limitStateOf(values, byKey.get(key), byKey.get(noKey));
    const closedUntil = state.closedUntil !== null && state.closedUntil > now ? state.closedUntil : null;
    const rateOpensAt = values.rate === null ? now : opensAt(values.rate, state, 1, now);
    return {
      key: key === noKey ? null : key,
      admitted: admitted.get(key) ?? 0,
      opensAt: Math.max(rateOpensAt, closedUntil ?? rateOpensAt),
      closedUntil,
    };
  });
}
