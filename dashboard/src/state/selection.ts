/** A selection of rows: single ones, or all that match the filter. It is cleared when the list changes. */
import { useEffect, useState } from 'preact/hooks';

export interface Selection {
  readonly ids: ReadonlySet<number>;
  /** Includes rows on other pages. */
  readonly isAllMatching: boolean;
  readonly toggle: (id: number) => void;
  readonly togglePage: (ids: readonly number[]) => void;
  readonly selectAllMatching: () => void;
  /** Drops rows that are no longer in the list. */
  readonly remove: (ids: ReadonlySet<number>) => void;
  readonly clear: () => void;
}

const none: ReadonlySet<number> = new Set();

/** `listKey` identifies the list, such as its filter as text; another key clears the selection. */
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
