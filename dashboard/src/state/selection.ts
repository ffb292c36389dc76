/** A selection of rows, one by one or all that match; it ends when the list is about something else. */
import { useEffect, useState } from 'preact/hooks';

export interface Selection {
  readonly ids: ReadonlySet<number>;
  /** Also those on other pages. */
  readonly isAllMatching: boolean;
  readonly toggle: (id: number) => void;
  readonly togglePage: (ids: readonly number[]) => void;
  readonly chooseAllMatching: () => void;
  readonly clear: () => void;
}

const none: ReadonlySet<number> = new Set();

/** `about`: what the list shows, such as its filter as text. */
export function useSelection(about: string): Selection {
  const [ids, setIds] = useState(none);
  const [isAllMatching, setAll] = useState(false);
  const clear = (): void => {
    setIds(none);
    setAll(false);
  };
  useEffect(clear, [about]);
  const choose = (next: ReadonlySet<number>): void => {
    setAll(false);
    setIds(next);
  };
  return {
    ids,
    isAllMatching,
    toggle: (id) => choose(ids.has(id) ? new Set([...ids].filter((other) => other !== id)) : new Set([...ids, id])),
    togglePage: (page) => choose(page.every((id) => ids.has(id)) ? none : new Set([...ids, ...page])),
    chooseAllMatching: () => setAll(true),
    clear,
  };
}
