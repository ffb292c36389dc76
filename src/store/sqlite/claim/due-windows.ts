/**
 * The due windows of a lane: the ranges of due times and ids from which a claim takes jobs. A lane has one, and three while
 * the resume of its type is spread: two up to the last position that is let out, and one of the jobs that became due after
 * the resume. The jobs between are not read. SQLite does not seek to a pair of a due time and an id, so that the pair is two
 * windows.
 */
import type { Passage } from '../../../model/spread.ts';

export interface DueWindow {
  /** A condition on `due` and `id`, with the values of its parameters. */
  readonly where: string;
  readonly values: readonly number[];
}

/** The windows are in claim order. `passage`: null if nothing is held back. */
export function dueWindows(passage: Passage | null, now: number): readonly DueWindow[] {
  if (passage === null) return [{ where: 'due <= ?', values: [now] }];
  const { upTo, from } = passage;
  return [
    { where: 'due < ?', values: [upTo.due] },
    { where: 'due = ? AND id <= ?', values: [upTo.due, upTo.id] },
    { where: 'due > ? AND due <= ?', values: [from, now] },
  ];
}
