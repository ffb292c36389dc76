/**
 * Rows that do not move while they are in use. Live updates change rows in place; new and missing rows are only
 * counted while the pointer is over the table or rows are selected, so that no click hits another row.
 */
import { useRef, useState } from 'preact/hooks';

type RowId = number | string;

export interface SteadyRows<R> {
  /** The rows to show. */
  readonly rows: readonly R[];
  /** How many rows of the newest answer are not shown. */
  readonly newCount: number;
  /** Shown rows that the newest answer does not have. */
  readonly missing: ReadonlySet<RowId>;
  /** The pointer is over the rows. */
  readonly hold: () => void;
  readonly release: () => void;
  /** Shows the newest answer now, also while rows are selected. */
  readonly update: () => void;
}

/** `latest`: the rows of the newest answer; null while another list is loading. */
export function useSteadyRows<R>(
  latest: readonly R[] | null, idOf: (row: R) => RowId, hasSelection: boolean,
): SteadyRows<R> {
  const [isPointed, setPointed] = useState(false);
  const [, setRound] = useState(0);
  const shown = useRef<readonly R[]>([]);
  const newest = latest ?? [];
  const isHeld = latest !== null && shown.current.length > 0 && (isPointed || hasSelection);
  shown.current = isHeld ? merged(shown.current, newest, idOf) : newest;
  const [shownIds, newestIds] = [new Set(shown.current.map(idOf)), new Set(newest.map(idOf))];
  return {
    rows: shown.current,
    newCount: newest.filter((row) => !shownIds.has(idOf(row))).length,
    missing: new Set([...shownIds].filter((id) => !newestIds.has(id))),
    hold: () => setPointed(true),
    release: () => setPointed(false),
    update: () => {
      shown.current = newest;
      setPointed(false);
      setRound((round) => round + 1);
    },
  };
}

/** The rows in their old order, with the data of the newest answer where it has them. */
function merged<R>(before: readonly R[], newest: readonly R[], idOf: (row: R) => RowId): readonly R[] {
  const byId = new Map(newest.map((row) => [idOf(row), row]));
  return before.map((row) => byId.get(idOf(row)) ?? row);
}
