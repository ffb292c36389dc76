/** The rates of `stint top`: how many jobs of each type ended per second, by fate. */
import { workKinds, type Fate } from '../model/state.ts';
import type { Changed } from '../http/contract.ts';

/** By type: how many jobs have ended with each fate. */
export type EndingCounts = Map<string, Record<Fate, number>>;

/** Counts the event if it ended a job of `workKinds`. Jobs of other kinds, such as definitions, are not counted. */
export function countEnding(counts: EndingCounts, { type, kind, event: { kind: ending } }: Changed): void {
  if (!workKinds.includes(kind)) return;
  if (ending !== 'succeeded' && ending !== 'failed' && ending !== 'cancelled') return;
  const count = counts.get(type) ?? { succeeded: 0, failed: 0, cancelled: 0 };
  count[ending] += 1;
  counts.set(type, count);
}

/** Returns `counts` divided by `seconds`, and sets `counts` to 0. */
export function takePerSecond(counts: EndingCounts, seconds: number): EndingCounts {
  const span = Math.max(seconds, 0.001);
  const rates: EndingCounts = new Map();
  for (const [type, { succeeded, failed, cancelled }] of counts) {
    rates.set(type, { succeeded: succeeded / span, failed: failed / span, cancelled: cancelled / span });
    counts.set(type, { succeeded: 0, failed: 0, cancelled: 0 });
  }
  return rates;
}
