/**
 * Scans jobs in the order of their ids, in steps that stay short however many jobs are stored or match. The number of
 * rows per step adapts to the duration of the last step. The event loop runs about every `stepMs`, and a scan can stop
 * early. The scan passes every id once. If a job changes during the scan, the scan finds the job as it was when its row
 * was read.
 */
import { turn, type Clock } from '../time/clock.ts';

export interface IdScanRequest {
  readonly order: 'newest' | 'oldest';
  /** The scan starts after this id, in the order `order`. Default: it starts with the first job in this order. */
  readonly after?: number | undefined;
  /** How long a step should take. The number of rows per step is adapted to it. */
  readonly stepMs: number;
  /** The scan stops early after the step in which this time has passed. Default: no limit. */
  readonly patienceMs?: number | undefined;
  /**
   * Measures `stepMs` and `patienceMs`. It is virtual in a simulation, where the speed of the machine must not change
   * the result.
   */
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** A range of ids, bounds included. */
export interface IdRange {
  readonly low: number;
  readonly high: number;
}

export interface IdScan {
  /**
   * Returns the id at which a step of about `rows` rows ends, counted from the start of the range in scan order; null:
   * the range has fewer rows.
   */
  stepEnd(range: IdRange, rows: number): number | null | Promise<number | null>;
  /** Reads the rows of a range. Returns true if enough has been found, which ends the scan. */
  scan(range: IdRange): boolean | Promise<boolean>;
}

const rowsFirst = 1024;
const rowsMin = 64;
const rowsMax = 65_536;

/**
 * Scans until the end, or until `scan` returns true or `patienceMs` has passed. If the scan stopped because of
 * `patienceMs`, returns the id after which another scan can continue; otherwise null.
 */
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
