/**
 * A walk over jobs by their ids, in strides of so many rows as can be looked at in a short time. So no look is long,
 * however many jobs there are and however few are meant: others get their turn in between, and whoever asked need not
 * wait for the end. Every id is passed once; each job is found as it was at some moment of the walk.
 */
import { turn, type Clock } from '../time/clock.ts';

export interface WalkAsk {
  readonly order: 'newest' | 'oldest';
  /** Beyond this id in the order; left out: from its beginning. */
  readonly after?: number | undefined;
  /** How long a look should take. */
  readonly lookMs: number;
  /** After so long the walk ends before its end. */
  readonly patienceMs?: number | undefined;
  /** Measures both. In a simulation it is virtual: how fast the machine is must not change what is found. */
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Ids from one to the other, both included. */
export interface Span {
  readonly low: number;
  readonly high: number;
}

export interface Path {
  /** How far so many rows go from one end of the span, in the order of the walk; null: not so many are left. */
  stride(span: Span, rows: number): number | null | Promise<number | null>;
  /** Looks at a span; true: enough has been found. */
  look(span: Span): boolean | Promise<boolean>;
}

const rowsFirst = 1024;
const rowsMin = 64;
const rowsMax = 65_536;

/** Null: it came to the end or has found enough; else the id after which to go on. */
export async function walk(
  { order, after, lookMs, patienceMs = Infinity, clock }: WalkAsk,
  path: Path,
): Promise<number | null> {
  const isNewest = order === 'newest';
  let span = spanAfter(order, after);
  let rows = rowsFirst;
  const start = clock.monotonic();
  for (let rested = start; ;) {
    const begun = clock.monotonic();
    const end = await path.stride(span, rows);
    const isEnough = await path.look(
      end === null ? span : isNewest ? { low: end, high: span.high } : { low: span.low, high: end },
    );
    if (isEnough || end === null) return null;
    const now = clock.monotonic();
    if (now - start >= patienceMs) return end;
    span = isNewest ? { low: span.low, high: end - 1 } : { low: end + 1, high: span.high };
    rows = rowsAfter(rows, now - begun, lookMs);
    if (now - rested < lookMs) continue;
    await turn();
    rested = clock.monotonic();
  }
}

function spanAfter(order: WalkAsk['order'], after: number | undefined): Span {
  const all = { low: 0, high: Number.MAX_SAFE_INTEGER };
  if (after === undefined) return all;
  return order === 'newest' ? { ...all, high: after - 1 } : { ...all, low: after + 1 };
}

function rowsAfter(rows: number, tookMs: number, lookMs: number): number {
  if (tookMs < lookMs / 2) return Math.min(rows * 2, rowsMax);
  return tookMs > lookMs * 2 ? Math.max(rowsMin, Math.floor(rows / 2)) : rows;
}
