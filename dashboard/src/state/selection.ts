/** The selection in a list: single rows, or all that match the filter. It is cleared when another list is shown. */
import { useEffect, useState } from 'preact/hooks';

export interface Selection {
  readonly ids: ReadonlySet<number>;
  /** Whether all rows that match the filter are selected, including rows on other pages. */
  readonly isAllMatching: boolean;
  readonly toggle: (id: number) => void;
  readonly togglePage: (ids: readonly number[]) => void;
  readonly selectAllMatching: () => void;
  /** Deselects rows that are no longer in the list. */
  readonly remove: (ids: ReadonlySet<number>) => void;
  readonly clear: () => void;
}

const none: ReadonlySet<number> = new Set();

/** `listKey` identifies the list, such as its filter as text. When it changes, the selection is cleared. */
export function useSelection(listKey: string): Selection {
  const [ids, setIds] = useState(none);
  const [isAllMatching, setAll] = useState(false);
  const clear = (): void => {
    setIds(none);
    setAll(false);
  };
  useEffect(clear, [listKey]);
  const select = (next: ReadonlySet<number>): void => {
    setAll(false);
    setIds(next);
  };
  return {
    ids,
    isAllMatching,
    toggle: (id) => select(ids.has(id) ? new Set([...ids].filter((other) => other !== id)) : new Set([...ids, id])),
    togglePage: (page) => select(page.every((id) => ids.has(id)) ? none : new Set([...ids, ...page])),
    selectAllMatching: () => setAll(true),
    remove: (gone) => setIds(new Set([...ids].filter((id) => !gone.has(id)))),
    clear,
  };
}
