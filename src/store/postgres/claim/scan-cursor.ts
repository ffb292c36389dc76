/**
 * The scan cursor: how far the claims of a request have come. A claimed job stays in the index until a vacuum removes
 * it, which an open transaction can delay: with 50,000 dead entries a full scan took 100 ms, and a scan from the cursor
 * half a millisecond. Under load claims therefore resume where the last one ended, and scan everything only at times,
 * to find jobs that were added before the cursor.
 */
import { systemClock } from '../../../time/clock.ts';
import type { OpenRow } from '../../row.ts';
import type { ClaimRequest } from '../../store.ts';
import { matchesRequest, type ClaimHint } from '../write/claim-hint.ts';

/** A lane, and the last job that was claimed from it. */
export interface LaneCursor {
  readonly kind: string;
  readonly type: string;
  readonly priority: number;
  readonly due: number;
  readonly id: number;
}

/** A scan stays valid for twenty times as long as it took, within these bounds: scans cost a twentieth of the time. */
const scanShare = 20;
const cursorMinMs = 100;
const cursorMaxMs = 2000;
/** Fewer claims than this leave too few dead entries to skip. */
const claimedMin = 2000;
/** So many claims between two scans are load; the times from which a scan is slow, and is expensive. */
const loadMin = 500;
const slowScanMs = 2;
const expensiveScanMs = 20;
const cursorsMax = 1000;
const emptyMaxAgeMs = 50;

interface ScanCursor {
  readonly lanes: Map<string, LaneCursor>;
  /** Our clock when the scan was sent; how long the server took for it. */
  readonly scannedAt: number;
  readonly scanMs: number;
  readonly hasGates: boolean;
  /** Whether lanes of all priorities were scanned. */
  readonly isWhole: boolean;
  readonly claimedBefore: number;
  readonly claimedEver: number;
  claimed: number;
  /** Whether a claim accepted fewer jobs than requested. */
  wasPartial: boolean;
  /** What the last claim left: `nothing` (a full scan found fewer than asked), `unscanned` (it claimed from a hint). */
  left: 'something' | 'nothing' | 'unscanned';
}

interface ReceivedHint extends ClaimHint {
  readonly at: number;
}

export interface ScanResult {
  readonly lanes: readonly (readonly [kind: string, type: string, priority: number])[];
  readonly isAnyoneAtGates: boolean;
  readonly tookMs: number;
}

export class ScanCursors {
  readonly #cursors = new Map<string, ScanCursor>();
  #wroteAt = -Infinity;
  /** When the last hint arrived other than the one that is kept. */
  #otherHintAt = -Infinity;
  #hint: ReceivedHint | null = null;

  /** How many lanes the last full scan found for the request. */
  lanesFound(request: ClaimRequest): number {
    return this.#cursors.get(cursorName(request))?.lanes.size ?? 1;
  }

  /** Where to resume; null: scan everything. */
  resumeAt(request: ClaimRequest): readonly LaneCursor[] | null {
    const cursor = this.#cursors.get(cursorName(request));
    if (!cursor || cursor.hasGates || request.priorities || cursor.claimedEver + cursor.claimed < claimedMin) return null;
    const isWorthwhile = cursor.claimed + cursor.claimedBefore >= loadMin || cursor.scanMs >= slowScanMs;
    return isWorthwhile && validUntil(cursor) > systemClock.monotonic() ? [...cursor.lanes.values()] : null;
  }

  /** Whether a recent full scan found no waiting job at all, due or not. */
  isEmpty(request: Pick<ClaimRequest, 'kinds' | 'names'>): boolean {
    const cursor = this.#cursors.get(cursorName(request));
    if (!cursor?.isWhole || cursor.lanes.size > 0 || cursor.hasGates) return false;
    return !this.#hasWrittenSince(cursor) && systemClock.monotonic() - cursor.scannedAt < emptyMaxAgeMs;
  }

  /** We wrote jobs that may be waiting now. */
  noteWrite(): void {
    this.#wroteAt = systemClock.monotonic();
  }

  /** Another process wrote: this one new job, or (null) anything. */
  noteHint(hint: ClaimHint | null): void {
    const at = systemClock.monotonic();
    if (hint === null) this.#otherHintAt = at;
    else if (this.#hint !== null) this.#otherHintAt = this.#hint.at;
    this.#hint = hint && { ...hint, at };
  }

  /** The hinted job, if as far as we know nothing else waits for this request. It is returned once. */
  takeHint(request: ClaimRequest): ClaimHint | null {
    const cursor = this.#cursors.get(cursorName(request));
    const hint = this.#hint;
    if (!hint || cursor?.left !== 'nothing' || !matchesRequest(hint, request)) return null;
    const isAllThatIsNew = cursor.scannedAt > Math.max(this.#wroteAt, this.#otherHintAt) && hint.at > cursor.scannedAt;
    if (!isAllThatIsNew) return null;
    this.#hint = null;
    cursor.left = 'unscanned';
    return hint;
  }

  /** Whether the last claim took a hint, and a scan is still due. */
  tookHint(request: Pick<ClaimRequest, 'kinds' | 'names'>): boolean {
    return this.#cursors.get(cursorName(request))?.left === 'unscanned';
  }

  /**
   * Accepts fewer jobs than requested when a full scan is expensive; the caller then asks again after `msUntilScan`.
   */
  acceptsPartial(request: ClaimRequest, found: number): boolean {
    const cursor = this.#cursors.get(cursorName(request));
    if (!cursor || cursor.scanMs < expensiveScanMs || (found === 0 && this.#hasWrittenSince(cursor))) return false;
    cursor.wasPartial = true;
    return true;
  }

  /** Time until the next full scan, which may find what a partial claim did not see; null: the last claim was full. */
  msUntilScan(request: Pick<ClaimRequest, 'kinds' | 'names'>): number | null {
    const cursor = this.#cursors.get(cursorName(request));
    return cursor?.wasPartial ? Math.max(0, validUntil(cursor) - systemClock.monotonic()) : null;
  }

  /** A full scan has ended. */
  recordScan(
    request: ClaimRequest,
    { lanes, isAnyoneAtGates: hasGates, tookMs: scanMs }: ScanResult,
    scannedAt: number,
  ): void {
    if (this.#cursors.size === cursorsMax) this.#cursors.clear();
    const name = cursorName(request);
    const { claimed: claimedBefore = 0, claimedEver = 0 } = this.#cursors.get(name) ?? {};
    const starts = lanes.map(([kind, type, priority]) => ({ kind, type, priority, due: -1, id: -1 }));
    this.#cursors.set(name, {
      lanes: new Map(starts.map((lane) => [laneName(lane), lane])),
      scannedAt,
      scanMs,
      hasGates,
      isWhole: request.priorities === undefined,
      claimedBefore,
      claimedEver: claimedEver + claimedBefore,
      claimed: 0,
      wasPartial: false,
      left: 'something',
    });
  }

  /** These were claimed, best first. */
  recordClaim(request: ClaimRequest, rows: readonly OpenRow[]): void {
    const cursor = this.#cursors.get(cursorName(request));
    if (!cursor) return;
    cursor.claimed += rows.length;
    const isAll = rows.length < request.limit && cursor.isWhole && !cursor.hasGates && !cursor.wasPartial;
    cursor.left = isAll ? 'nothing' : 'something';
    rows.forEach((row, index) => {
      if (!isSameLane(row, rows[index + 1])) cursor.lanes.set(laneName(row), cursorOf(row));
    });
  }

  /** Whether we have written since the scan was sent. */
  #hasWrittenSince(cursor: ScanCursor): boolean {
    return this.#wroteAt >= cursor.scannedAt;
  }
}

const validUntil = ({ scannedAt, scanMs }: ScanCursor): number =>
  scannedAt + scanMs + Math.min(cursorMaxMs, Math.max(cursorMinMs, scanShare * scanMs));

const cursorName = ({ kinds, names }: Pick<ClaimRequest, 'kinds' | 'names'>): string =>
  JSON.stringify([kinds, 'exact' in names ? names.exact : names.glob]);

const laneName = ({ kind, type, priority }: Pick<LaneCursor, 'kind' | 'type' | 'priority'>): string =>
  `${priority} ${kind} ${type}`;

const isSameLane = (row: OpenRow, next: OpenRow | undefined): boolean =>
  next !== undefined && row.kind === next.kind && row.type === next.type && row.priority === next.priority;

const cursorOf = ({ kind, type, priority, due, id }: OpenRow): LaneCursor => ({ kind, type, priority, due, id });
