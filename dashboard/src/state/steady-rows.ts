/**
 * Steady rows: the rows of a table do not move while the pointer is over it or rows are selected, so that no click hits
 * the wrong row. Meanwhile, live updates change rows in place, and new and missing rows are only counted.
 */
import { useRef, useState } from 'preact/hooks';

type RowId = number | string;

export interface SteadyRows<R> {
  /** The rows to show. */
  readonly rows: readonly R[];
  /** How many rows of the newest response are not shown. */
  readonly newCount: number;
  /** The ids of shown rows that the newest response does not contain. */
  readonly missing: ReadonlySet<RowId>;
  /** Keeps the rows in place; called when the pointer enters the table. */
  readonly hold: () => void;
  readonly release: () => void;
  /** Shows the rows of the newest response now, even while rows are selected. */
  readonly update: () => void;
}

/** `latest` has the rows of the newest response; null: another list is loading. */
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

/** Returns the shown rows in their order, each with its newest data if the newest response contains it. */
function merged<R>(before: readonly R[], newest: readonly R[], idOf: (row: R) => RowId): readonly R[] {
  const byId = new Map(newest.map((row) => [idOf(row), row]));
  return before.map((row) => byId.get(idOf(row)) ?? row);
}
