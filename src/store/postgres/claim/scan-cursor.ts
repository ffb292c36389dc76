/**
 * The front: how far the claims of an ask have come. What was claimed stays in the index until a vacuum can remove it,
 * which may be long if somebody keeps a transaction open: with 50,000 jobs of the past a look at everything then took
 * 100 ms, and going on from the front half a millisecond. Under load claims therefore go on where the last one ended,
 * and look at everything only every so often, to see what came up behind their back.
 */
import { systemClock } from '../../../time/clock.ts';
import type { OpenRow } from '../../row.ts';
import type { ClaimAsk } from '../../store.ts';
import { suits, type Newcomer } from '../write/claim-hint.ts';

/** A lane, and the last job that was taken from it. */
export interface LaneFront {
  readonly kind: string;
  readonly type: string;
  readonly priority: number;
  readonly due: number;
  readonly id: number;
}

/** A look holds good for twenty times as long as it took, within these bounds: it may cost a twentieth of the time. */
const lookShare = 20;
const lookKeptMinMs = 100;
const lookKeptMaxMs = 2000;
/** Whoever took fewer jobs has left no past worth stepping over. */
const takenMin = 2000;
/** As many between two looks are load; a look that takes as long is slow, and one that takes as long is a burden. */
const loadMin = 500;
const slowMs = 2;
const burdenMs = 20;
const frontsMax = 1000;
const emptyKeptMs = 50;

interface Front {
  readonly lanes: Map<string, LaneFront>;
  /** Ours, when we asked for the look; how long the server took for it. */
  readonly lookedAt: number;
  readonly lookMs: number;
  readonly hasGates: boolean;
  /** Whether lanes of all priorities were looked at. */
  readonly isWhole: boolean;
  readonly takenBefore: number;
  readonly takenEver: number;
  taken: number;
  /** Whether a claim made do with less than it was asked for. */
  isCutShort: boolean;
  /** Whether the last claim looked at everything and left nothing that was due; or took a newcomer and did not look. */
  left: 'something' | 'nothing' | 'unseen';
}

interface Heard extends Newcomer {
  readonly at: number;
}

export interface Look {
  readonly lanes: readonly (readonly [kind: string, type: string, priority: number])[];
  readonly isAnyoneAtGates: boolean;
  readonly tookMs: number;
}

export class Fronts {
  readonly #fronts = new Map<string, Front>();
  #wroteAt = -Infinity;
  /** When we last heard of anything but the newcomer. */
  #heardAt = -Infinity;
  #newcomer: Heard | null = null;

  /** How many lanes the ask had when everything was looked at. */
  lanesSeen(ask: ClaimAsk): number {
    return this.#fronts.get(nameOf(ask))?.lanes.size ?? 1;
  }

  /** From where to go on; null: look at everything. */
  of(ask: ClaimAsk): readonly LaneFront[] | null {
    const front = this.#fronts.get(nameOf(ask));
    if (!front || front.hasGates || ask.priorities || front.takenEver + front.taken < takenMin) return null;
    const isWorthwhile = front.taken + front.takenBefore >= loadMin || front.lookMs >= slowMs;
    return isWorthwhile && keptUntil(front) > systemClock.monotonic() ? [...front.lanes.values()] : null;
  }

  /** Whether just now, when everything was looked at, nothing was waiting at all, neither for a claim nor for a time. */
  isEmpty(ask: Pick<ClaimAsk, 'kinds' | 'names'>): boolean {
    const front = this.#fronts.get(nameOf(ask));
    if (!front?.isWhole || front.lanes.size > 0 || front.hasGates) return false;
    return !this.#isNewsTo(front) && systemClock.monotonic() - front.lookedAt < emptyKeptMs;
  }

  /** We wrote jobs that may be waiting now. */
  wrote(): void {
    this.#wroteAt = systemClock.monotonic();
  }

  /** Others wrote something: this one new job, or who knows what. */
  heard(newcomer: Newcomer | null): void {
    const at = systemClock.monotonic();
    if (newcomer === null) this.#heardAt = at;
    else if (this.#newcomer !== null) this.#heardAt = this.#newcomer.at;
    this.#newcomer = newcomer && { ...newcomer, at };
  }

  /** A new job that is all that can be waiting for this ask, as far as we know. It is told once. */
  takeNewcomer(ask: ClaimAsk): Newcomer | null {
    const front = this.#fronts.get(nameOf(ask));
    const newcomer = this.#newcomer;
    if (!newcomer || front?.left !== 'nothing' || !suits(newcomer, ask)) return null;
    const isAllThatIsNew = front.lookedAt > Math.max(this.#wroteAt, this.#heardAt) && newcomer.at > front.lookedAt;
    if (!isAllThatIsNew) return null;
    this.#newcomer = null;
    front.left = 'unseen';
    return newcomer;
  }

  /** Whether the last claim took a newcomer, and has yet to look. */
  tookNewcomer(ask: Pick<ClaimAsk, 'kinds' | 'names'>): boolean {
    return this.#fronts.get(nameOf(ask))?.left === 'unseen';
  }

  /**
   * Makes do with so few, less than was asked for, if a look at everything is a burden. Whoever gets less shall come back
   * when it is time for the next look.
   */
  makesDo(ask: ClaimAsk, found: number): boolean {
    const front = this.#fronts.get(nameOf(ask));
    if (!front || front.lookMs < burdenMs || (found === 0 && this.#isNewsTo(front))) return false;
    front.isCutShort = true;
    return true;
  }

  /** How long until the next look, which may find what a claim that made do did not see; null: there was none. */
  untilLookMs(ask: Pick<ClaimAsk, 'kinds' | 'names'>): number | null {
    const front = this.#fronts.get(nameOf(ask));
    return front?.isCutShort ? Math.max(0, keptUntil(front) - systemClock.monotonic()) : null;
  }

  /** Everything was looked at. */
  looked(ask: ClaimAsk, { lanes, isAnyoneAtGates: hasGates, tookMs: lookMs }: Look, lookedAt: number): void {
    if (this.#fronts.size === frontsMax) this.#fronts.clear();
    const name = nameOf(ask);
    const { taken: takenBefore = 0, takenEver = 0 } = this.#fronts.get(name) ?? {};
    const starts = lanes.map(([kind, type, priority]) => ({ kind, type, priority, due: -1, id: -1 }));
    this.#fronts.set(name, {
      lanes: new Map(starts.map((lane) => [laneName(lane), lane])),
      lookedAt,
      lookMs,
      hasGates,
      isWhole: ask.priorities === undefined,
      takenBefore,
      takenEver: takenEver + takenBefore,
      taken: 0,
      isCutShort: false,
      left: 'something',
    });
  }

  /** These were taken, best first. */
  took(ask: ClaimAsk, rows: readonly OpenRow[]): void {
    const front = this.#fronts.get(nameOf(ask));
    if (!front) return;
    front.taken += rows.length;
    const isAll = rows.length < ask.limit && front.isWhole && !front.hasGates && !front.isCutShort;
    front.left = isAll ? 'nothing' : 'something';
    rows.forEach((row, index) => {
      if (!isSameLane(row, rows[index + 1])) front.lanes.set(laneName(row), frontOf(row));
    });
  }

  /** Whether we have written since, or while it was looked. */
  #isNewsTo(front: Front): boolean {
    return this.#wroteAt >= front.lookedAt;
  }
}

const keptUntil = ({ lookedAt, lookMs }: Front): number =>
  lookedAt + lookMs + Math.min(lookKeptMaxMs, Math.max(lookKeptMinMs, lookShare * lookMs));

const nameOf = ({ kinds, names }: Pick<ClaimAsk, 'kinds' | 'names'>): string =>
  JSON.stringify([kinds, 'exact' in names ? names.exact : names.glob]);

const laneName = ({ kind, type, priority }: Pick<LaneFront, 'kind' | 'type' | 'priority'>): string =>
  `${priority} ${kind} ${type}`;

const isSameLane = (row: OpenRow, next: OpenRow | undefined): boolean =>
  next !== undefined && row.kind === next.kind && row.type === next.type && row.priority === next.priority;

const frontOf = ({ kind, type, priority, due, id }: OpenRow): LaneFront => ({ kind, type, priority, due, id });
