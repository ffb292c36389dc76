/**
 * Scans jobs by id in short steps, whatever the number of jobs and of matches. The number of rows per step adapts to
 * the time that the last step took. The event loop runs between steps, and a scan can stop early. Every id is passed
 * once; a job is found as it was at some time during the scan.
 */
import { turn, type Clock } from '../time/clock.ts';

export interface IdScanRequest {
  readonly order: 'newest' | 'oldest';
  /** Start beyond this id, in the given order. Default: at the first. */
  readonly after?: number | undefined;
  /** How long a step should take. */
  readonly stepMs: number;
  /** After this time the scan stops early. */
  readonly patienceMs?: number | undefined;
  /** Measures both. It is virtual in a simulation, where the speed of the machine must not change the result. */
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** A range of ids, bounds included. */
export interface IdRange {
  readonly low: number;
  readonly high: number;
}

export interface IdScan {
  /** The id that is `rows` rows from the start of the range, in scan order; null: the range has fewer rows. */
  stepEnd(range: IdRange, rows: number): number | null | Promise<number | null>;
  /** Reads a range; true: enough has been found. */
  scan(range: IdRange): boolean | Promise<boolean>;
}

const rowsFirst = 1024;
const rowsMin = 64;
const rowsMax = 65_536;

/** Null: the scan is complete or `scan` returned true. Otherwise the id after which to continue. */
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
