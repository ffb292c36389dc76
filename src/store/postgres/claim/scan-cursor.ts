/**
 * The scan cursor: where the next claim of a request starts reading each lane.
 *
 * Saves (bench/LEDGER.md, "under load a claim continues behind the position of the last one, past dead rows"): a
 * claimed job leaves a dead entry in the index until a vacuum removes it, and an open transaction delays the vacuum.
 * With 50,000 dead entries a full scan took 100 ms, a scan from the cursor 0.5 ms.
 * Applies if all of these hold: the request has claimed at least `claimedMin` jobs; it claimed many of them recently or
 * its full scan was slow; it names no priorities. A cursor expires. The full scan that follows finds jobs that were added
 * before the cursor's position.
 * Without it (`start` returns null) every claim scans its lanes from their beginning, and also finds the jobs that were
 * added before a cursor's position.
 */
import { systemClock, type Clock } from '../../../time/clock.ts';
import type { ClaimRequest } from '../../store.ts';

/** A lane with the due time and id of the last job that was claimed from it. Both are -1 if no job was claimed. */
export interface LaneCursor {
  readonly kind: string;
  readonly type: string;
  readonly type_version: number;
  readonly priority: number;
  readonly due: number;
  readonly id: number;
}

/** Requests with equal kinds and names share a cursor. */
export type CursorRequest = Pick<ClaimRequest, 'kinds' | 'names'>;

/**
 * A cursor is valid for `scanShare` times the duration of its full scan, but at least for `cursorMinMs` and at most for
 * `cursorMaxMs`. Between these bounds, a request spends at most about a twentieth of the elapsed time on full scans.
 */
const scanShare = 20;
const cursorMinMs = 100;
const cursorMaxMs = 2000;
/**
 * How many jobs a request must have claimed before it uses a cursor: fewer claims leave too few dead entries to skip.
 */
const claimedMin = 2000;
/**
 * A request uses a cursor even after a fast full scan if it has claimed at least this many jobs since the full scan
 * before the last one.
 */
const loadMin = 500;
const slowScanMs = 2;
/**
 * If the last full scan took at least this long, a claim from the cursor accepts fewer jobs than requested instead of
 * making another full scan.
 */
const expensiveScanMs = 20;
const cursorsMax = 1000;
const emptyMaxAgeMs = 50;

interface ScanCursor {
  readonly lanes: Map<string, LaneCursor>;
  /**
   * The monotonic time of this process when the full scan was sent; `scanMs` is the duration that the server measured.
   */
  readonly scannedAt: number;
  readonly scanMs: number;
  hasGates: boolean;
  /** Whether the lanes of all priorities were scanned, and no type was left out because it was paused. */
  readonly isWhole: boolean;
  readonly claimedBefore: number;
  readonly claimedEver: number;
  claimed: number;
  /** Whether a claim since the full scan accepted fewer jobs than requested. */
  wasPartial: boolean;
  /**
   * Whether the last claim left no due job: it made a full scan of all priorities, found fewer jobs than requested, and
   * saw no job at a gate.
   */
  hasLeftNothing: boolean;
}

export interface ScanResult {
  readonly lanes: readonly (readonly [kind: string, type: string, typeVersion: number, priority: number])[];
  readonly hasJobsAtGates: boolean;
  /** Whether a type is paused, perhaps one of the request. */
  readonly hasPauses: boolean;
  readonly tookMs: number;
}

export interface LastScan {
  readonly scannedAt: number;
  readonly hasLeftNothing: boolean;
  /** Whether the scan is recent and found no pending job of the request, due or not. */
  readonly isEmpty: boolean;
}

export class ScanCursors {
  readonly #cursors = new Map<string, ScanCursor>();
  readonly #clock: Clock;
  #wroteAt = -Infinity;

  constructor(clock = systemClock) {
    this.#clock = clock;
  }

  /** Returns where to resume each lane; null: a full scan is needed. */
  start(request: ClaimRequest): readonly LaneCursor[] | null {
    const cursor = this.#of(request);
    if (!cursor || request.priorities || cursor.claimedEver + cursor.claimed < claimedMin) return null;
    const isWorthwhile = cursor.claimed + cursor.claimedBefore >= loadMin || cursor.scanMs >= slowScanMs;
    return isWorthwhile && validUntil(cursor) > this.#clock.monotonic() ? [...cursor.lanes.values()] : null;
  }

  /**
   * Whether a claim that found `found` jobs from the cursor may accept them, though it requested more, because a full
   * scan is expensive. If so, the instance claims again after `nextScanIn`.
   */
  acceptsPartial(request: ClaimRequest, found: number): boolean {
    const cursor = this.#of(request);
    if (!cursor || cursor.scanMs < expensiveScanMs || (found === 0 && this.#hasWrittenSince(cursor))) return false;
    cursor.wasPartial = true;
    return true;
  }

  /** Returns how many lanes the last full scan found; 1 if no full scan is recorded. */
  lanesFound(request: ClaimRequest): number {
    return this.#of(request)?.lanes.size ?? 1;
  }

  recordScan(request: ClaimRequest, { lanes, hasJobsAtGates, hasPauses, tookMs }: ScanResult, scannedAt: number): void {
    if (this.#cursors.size === cursorsMax) this.#cursors.clear();
    const { claimed: claimedBefore = 0, claimedEver = 0 } = this.#of(request) ?? {};
    const starts = lanes.map(([kind, type, type_version, priority]) =>
      ({ kind, type, type_version, priority, due: -1, id: -1 }));
    this.#cursors.set(cursorName(request), {
      lanes: new Map(starts.map((lane) => [laneName(lane), lane])),
      scannedAt,
      scanMs: tookMs,
      hasGates: hasJobsAtGates,
      isWhole: request.priorities === undefined && !hasPauses,
      claimedBefore,
      claimedEver: claimedEver + claimedBefore,
      claimed: 0,
      wasPartial: false,
      hasLeftNothing: false,
    });
  }

  /** Whether the last full scan saw jobs at gates, or did not look for them; false if no full scan is recorded. */
  expectsGates(request: CursorRequest): boolean {
    return this.#of(request)?.hasGates ?? false;
  }

  /** Records that a search at gates that was sent at `at` found no job waiting, due or not. A later full scan counts more. */
  recordNoGates(request: ClaimRequest, at: number): void {
    const cursor = this.#of(request);
    if (cursor?.isWhole && !request.priorities && cursor.scannedAt <= at) cursor.hasGates = false;
  }

  /**
   * Deletes the cursor of a request. Called if the claim searches in a way that uses no cursor, or not at all. A cursor
   * that nobody uses would expire and demand a full scan again and again (`nextScanIn`).
   */
  forget(request: CursorRequest): void {
    this.#cursors.delete(cursorName(request));
  }

  /**
   * Moves the cursor past the rows that a claim takes. `rows` were read, those of each lane in claim order. In each lane
   * the cursor stays before the first row that the claim leaves.
   */
  recordClaim(request: ClaimRequest, rows: readonly LaneCursor[], isTaken: (row: LaneCursor) => boolean): void {
    const cursor = this.#of(request);
    if (!cursor) return;
    const passed = rows.every(isTaken) ? rows : beforeFirstLeft(rows, isTaken);
    cursor.claimed += passed.length;
    cursor.hasLeftNothing = passed.length < request.limit && cursor.isWhole && !cursor.hasGates && !cursor.wasPartial;
    passed.forEach((row, index) => {
      if (!isSameLane(row, passed[index + 1])) cursor.lanes.set(laneName(row), cursorOf(row));
    });
  }

  /** Records that this process has written jobs that may be pending. */
  recordWrite(): void {
    this.#wroteAt = this.#clock.monotonic();
  }

  /**
   * Returns the milliseconds until the cursor expires. The full scan after that may find jobs that a partial claim
   * missed. Null: no claim since the last full scan was partial.
   */
  nextScanIn(request: CursorRequest): number | null {
    const cursor = this.#of(request);
    return cursor?.wasPartial ? Math.max(0, validUntil(cursor) - this.#clock.monotonic()) : null;
  }

  /**
   * Returns the last full scan of the request; null: none is recorded, or this process may have written pending jobs
   * since the scan.
   */
  lastScan(request: CursorRequest): LastScan | null {
    const cursor = this.#of(request);
    if (!cursor || this.#hasWrittenSince(cursor)) return null;
    const { scannedAt, hasLeftNothing, isWhole, hasGates, lanes } = cursor;
    const isRecent = this.#clock.monotonic() - scannedAt < emptyMaxAgeMs;
    return { scannedAt, hasLeftNothing, isEmpty: isRecent && isWhole && !hasGates && lanes.size === 0 };
  }

  #of(request: CursorRequest): ScanCursor | undefined {
    return this.#cursors.get(cursorName(request));
  }

  #hasWrittenSince(cursor: ScanCursor): boolean {
    return this.#wroteAt >= cursor.scannedAt;
  }
}

/**
 * Searches behind the cursors of a request. Searches the lanes from their beginning if there are no cursors, or this
 * finds fewer jobs than requested and `acceptsPartial` is false.
 */
export async function fromCursorOn<Found extends { readonly rows: readonly object[] }>(
  cursors: ScanCursors,
  request: ClaimRequest,
  search: { readonly behind: (cursor: readonly LaneCursor[]) => Promise<Found>; readonly all: () => Promise<Found> },
): Promise<Found> {
  const cursor = cursors.start(request);
  const found = cursor && (await search.behind(cursor));
  const count = found?.rows.length ?? 0;
  const isEnough = found && (count === request.limit || cursors.acceptsPartial(request, count));
  return isEnough ? found : search.all();
}

const validUntil = ({ scannedAt, scanMs }: ScanCursor): number =>
  scannedAt + scanMs + Math.min(cursorMaxMs, Math.max(cursorMinMs, scanShare * scanMs));

export const cursorName = ({ kinds, names }: CursorRequest): string =>
  JSON.stringify('exact' in names ? [kinds, names.exact, names.versions] : [kinds, names.glob]);

const laneName = ({ kind, type, type_version, priority }: Omit<LaneCursor, 'due' | 'id'>): string =>
  `${priority} ${kind} ${type_version} ${type}`;

function beforeFirstLeft(rows: readonly LaneCursor[], isTaken: (row: LaneCursor) => boolean): LaneCursor[] {
  const stopped = new Set<string>();
  return rows.filter((row) => {
    const lane = laneName(row);
    if (!isTaken(row)) stopped.add(lane);
    return !stopped.has(lane);
  });
}

const isSameLane = (row: LaneCursor, next: LaneCursor | undefined): boolean =>
  next !== undefined && row.kind === next.kind && row.type === next.type && row.type_version === next.type_version &&
  row.priority === next.priority;

const cursorOf = ({ kind, type, type_version, priority, due, id }: LaneCursor): LaneCursor =>
  ({ kind, type, type_version, priority, due, id });
