/** The selection in a list: single rows, or all that match the filter. It is cleared when another list is shown. */
import { useLayoutEffect, useState } from 'preact/hooks';

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
  // Before the next event: a later effect would clear what was selected meanwhile.
  useLayoutEffect(clear, [listKey]);
  const select = (next: (before: ReadonlySet<number>) => ReadonlySet<number>): void => {
    setAll(false);
    setIds(next);
  };
  return {
    ids,
    isAllMatching,
    toggle: (id) => select((before) => (before.has(id) ? without(before, (other) => other === id) : new Set([...before, id]))),
    togglePage: (page) => select((before) => (page.every((id) => before.has(id)) ? none : new Set([...before, ...page]))),
    selectAllMatching: () => setAll(true),
    remove: (gone) => setIds((before) => without(before, (id) => gone.has(id))),
    clear,
  };
}

const without = (ids: ReadonlySet<number>, isGone: (id: number) => boolean): ReadonlySet<number> =>
  new Set([...ids].filter((id) => !isGone(id)));
