/** The bar below a list with a selection: how many rows are selected, and the actions on them. */
import type { ComponentChildren, JSX } from 'preact';
import { number } from '../format.ts';
import type { Selection } from '../state/selection.ts';
import { Icon } from './icon.tsx';

interface SelectionBarProps {
  readonly selection: Selection;
  /** What the rows are. */
  readonly rows: 'runs' | 'definitions';
  readonly rowCount: number;
  /** Whether there are more rows than this page shows. */
  readonly hasMore: boolean;
  /** The buttons of the actions. */
  readonly children: ComponentChildren;
}

export function SelectionBar({ selection, rows, rowCount, hasMore, children }: SelectionBarProps): JSX.Element | null {
  const { ids, isAllMatching, selectAllMatching, clear } = selection;
  if (ids.size === 0 && !isAllMatching) return null;
  return (
    <div class="selection-bar" role="region" aria-label="Selection">
      <strong>{isAllMatching ? `All matching ${rows} selected` : `${number(ids.size)} selected`}</strong>
      {!isAllMatching && (hasMore || ids.size < rowCount) && (
        <button type="button" class="link" onClick={selectAllMatching}>Select all matching {rows}</button>
      )}
      <span class="selection-actions">{children}</span>
      <button type="button" class="plain" aria-label="Clear the selection" onClick={clear}>
        <Icon name="close" />
      </button>
    </div>
  );
}
