/**
 * The spread of a resume: lets out the jobs that piled up during a pause evenly over a time. The record of the pause stays
 * in force until the end of the spread, with the positions that divide the waiting jobs into parts of equal size. One part
 * after the other is let out, in the order of due times and ids. A share by due time alone would let out all jobs with the
 * same due time at once. What a claim may take follows from the record and the time: nothing is counted, and no job is
 * rewritten. Jobs that became due after the resume are not held.
 */
export interface Spread {
  readonly by: string;
  readonly why: string | null;
  /** When the first part was let out: the time of the resume. */
  readonly from: number;
  /** When the last part is let out. */
  readonly until: number;
  /** The position of the last job of each part, except of the last part, which is let out when the record ends. */
  readonly bounds: readonly Bound[];
}

type Bound = readonly [due: number, id: number];

/** The place of a job in the order of due times and ids. */
export interface Position {
  readonly due: number;
  readonly id: number;
}

/** What a spread lets through: jobs up to the position `upTo`, and jobs that are due after `from`. */
export interface Passage {
  readonly upTo: Position;
  readonly from: number;
}

/** More parts would be let out more evenly, but every claim during a spread reads the record. */
const partsMax = 256;
const partMinMs = 100;

/** Into how many parts a spread over a time divides the waiting jobs, if there are enough. */
export const partsOver = (ms: number): number => Math.min(partsMax, Math.floor(ms / partMinMs) + 1);

/** Returns a spread from now on; null: there are fewer than two parts, so that nothing has to be held. */
export function spreadOver(
  ms: number,
  lastOfParts: readonly Position[],
  { by, why = null, now }: { readonly by: string; readonly why?: string | null; readonly now: number },
): Spread | null {
  const bounds = lastOfParts.slice(0, -1).map(({ due, id }) => [due, id] as const);
  return bounds.length === 0 || ms <= 0 ? null : { by, why, from: now, until: now + ms, bounds };
}

export function passageAt({ from, until, bounds }: Spread, now: number): Passage {
  const part = Math.floor(((now - from) * bounds.length) / (until - from));
  const [due, id] = bounds[Math.max(0, Math.min(bounds.length - 1, part))]!;
  return { upTo: { due, id }, from };
}

export const isHeldAt = ({ upTo, from }: Passage, { due, id }: Position): boolean =>
  due <= from && (due > upTo.due || (due === upTo.due && id > upTo.id));

/** Returns when the part of a job that was due before the resume is let out. */
export function letOutAt(spread: Spread, { due, id }: Position): number {
  const part = spread.bounds.findIndex((bound) => due < bound[0] || (due === bound[0] && id <= bound[1]));
  return part === -1 ? spread.until : startOf(spread, part);
}

/** Returns when the next part after `now` is let out. */
export function nextPartAt(spread: Spread, now: number): number {
  const { from, until, bounds } = spread;
  return startOf(spread, Math.floor(((now - from) * bounds.length) / (until - from)) + 1);
}

const startOf = ({ from, until, bounds }: Spread, part: number): number =>
  Math.min(until, from + Math.ceil((part * (until - from)) / bounds.length));

/** Divides positions, which are in order, into `count` parts of equal size, and returns the last of each. */
export const lastOfParts = (positions: readonly Position[], count: number): Position[] =>
  positions.filter((_, index) =>
    Math.floor(((index + 1) * count) / positions.length) > Math.floor((index * count) / positions.length));
