/**
 * Scans jobs by id, in steps of as many rows as can be read in a short time. So no step is long, however many jobs there
 * are and however few match: the event loop runs in between, and the caller need not wait for the end. Every id is
 * passed once; each job is found as it was at some moment of the scan.
 */
import { turn, type Clock } from '../time/clock.ts';

export interface IdScanRequest {
  readonly order: 'newest' | 'oldest';
  /** Beyond this id in the order; left out: from its beginning. */
  readonly after?: number | undefined;
  /** How long a step should take. */
  readonly stepMs: number;
  /** After this time the scan stops early. */
  readonly patienceMs?: number | undefined;
  /** Measures both. In a simulation it is virtual: how fast the machine is must not change what is found. */
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Ids from one to the other, both included. */
export interface IdRange {
  readonly low: number;
  readonly high: number;
}

export interface IdScan {
  /** How far so many rows go from one end of the range, in the order of the scan; null: not so many are left. */
  stepEnd(range: IdRange, rows: number): number | null | Promise<number | null>;
  /** Reads a range; true: enough has been found. */
  scan(range: IdRange): boolean | Promise<boolean>;
}

const rowsFirst = 1024;
const rowsMin = 64;
const rowsMax = 65_536;

/** Null: it came to the end or has found enough; else the id after which to go on. */
export async function scanIds(
  { order, after, stepMs, patienceMs = Infinity, clock }: IdScanRequest,
  scan: IdScan,
): Promise<number | null> {
  const isNewest = order === 'newest';
  let range = rangeAfter(order, after);
  let rows = rowsFirst;
  const start = clock.monotonic();
  for (let yieldedAt = start; ;) {
    const begun = clock.monotonic();
    const end = await scan.stepEnd(range, rows);
    const isEnough = await scan.scan(
      end === null ? range : isNewest ? { low: end, high: range.high } : { low: range.low, high: end },
    );
    if (isEnough || end === null) return null;
    const now = clock.monotonic();
    if (now - start >= patienceMs) return end;
    range = isNewest ? { low: range.low, high: end - 1 } : { low: end + 1, high: range.high };
    rows = rowsAfter(rows, now - begun, stepMs);
    if (now - yieldedAt < stepMs) continue;
    await turn();
    yieldedAt = clock.monotonic();
  }
}

function rangeAfter(order: IdScanRequest['order'], after: number | undefined): IdRange {
  const all = { low: 0, high: Number.MAX_SAFE_INTEGER };
  if (after === undefined) return all;
  return order === 'newest' ? { ...all, high: after - 1 } : { ...all, low: after + 1 };
}

function rowsAfter(rows: number, tookMs: number, stepMs: number): number {
  if (tookMs < stepMs / 2) return Math.min(rows * 2, rowsMax);
  return tookMs > stepMs * 2 ? Math.max(rowsMin, Math.floor(rows / 2)) : rows;
}
