/** The table: rows with keys j, k, x and Enter, a selection if wanted, and paging by key that the URL remembers. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { go, href, place, queryOf, setQuery } from '../router.ts';
import { useShortcuts, type Shortcut } from '../state/keys.ts';
import type { Selection } from '../state/selection.ts';
import { number } from '../words.ts';
import { Icon } from './icon.tsx';

export interface Column<R> {
  readonly title: string;
  readonly cell: (row: R) => ComponentChildren;
  /** `number`: figures to the right; `wide`: takes the room that is left; `minor`: goes where there is little. */
  readonly class?: string;
}

interface TableProps<R> {
  /** What the rows are, for readers: "Runs". */
  readonly label: string;
  readonly rows: readonly R[];
  readonly columns: readonly Column<R>[];
  readonly idOf: (row: R) => number | string;
  /** Where Enter and a click on the row lead: a path of ours. */
  readonly pathOf?: (row: R) => string;
  /** Only where ids are numbers. */
  readonly selection?: Selection;
}

export function Table<R>({ label, rows, columns, idOf, pathOf, selection }: TableProps<R>): JSX.Element {
  const [active, setActive] = useState(-1);
  const body = useRef<HTMLTableSectionElement>(null);
  const ids = rows.map(idOf);
  useEffect(() => body.current?.rows[active]?.scrollIntoView({ block: 'nearest' }), [active]);
  useShortcuts(keysOf({ active, setActive, rows, pathOf, toggle: () => toggle(active) }, selection !== undefined));

  const toggle = (index: number): void => {
    if (ids[index] !== undefined) selection?.toggle(ids[index] as number);
  };
  const open = (event: MouseEvent, row: R): void => {
    const isOwn = (event.target as Element).closest('a, button, input, label, details') !== null;
    if (pathOf === undefined || isOwn || String(getSelection()) !== '') return;
    go(...split(pathOf(row)));
  };
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {selection && <th class="choice"><PageChoice selection={selection} ids={ids as number[]} /></th>}
            {columns.map(({ title, class: extra }) => <th key={title} scope="col" class={extra}>{title}</th>)}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, index) => (
            <tr
              key={ids[index]} data-active={index === active} data-opens={pathOf !== undefined}
              data-chosen={selection?.isAllMatching || selection?.ids.has(ids[index] as number)}
              onClick={(event) => open(event, row)}
            >
              {selection && (
                <td class="choice">
                  <input
                    type="checkbox" aria-label={`Select ${ids[index]}`} onChange={() => toggle(index)}
                    checked={selection.isAllMatching || selection.ids.has(ids[index] as number)}
                  />
                </td>
              )}
              {columns.map(({ title, cell, class: extra }) => (
                <td key={title} class={extra} data-title={title}>{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Walk<R> {
  readonly active: number;
  readonly setActive: (index: number) => void;
  readonly rows: readonly R[];
  readonly pathOf: ((row: R) => string) | undefined;
  readonly toggle: () => void;
}

function keysOf<R>({ active, setActive, rows, pathOf, toggle }: Walk<R>, hasSelection: boolean): Shortcut[] {
  const move = (by: number): void => setActive(Math.max(0, Math.min(rows.length - 1, active + by)));
  const open = (): void => {
    const row = rows[active];
    if (row !== undefined && pathOf !== undefined) go(...split(pathOf(row)));
  };
  return [
    { keys: 'j', does: 'Next row', run: () => move(1), isOnlyKey: true },
    { keys: 'k', does: 'Row before', run: () => move(-1), isOnlyKey: true },
    ...(pathOf === undefined ? [] : [{ keys: 'Enter', does: 'Open the row', run: open, isOnlyKey: true }]),
    ...(hasSelection ? [{ keys: 'x', does: 'Select the row', run: toggle, isOnlyKey: true }] : []),
  ];
}

const split = (target: string): [string, Record<string, string>] => {
  const [path, query] = target.split('?') as [string, string | undefined];
  return [path, Object.fromEntries(new URLSearchParams(query))];
};

interface PageChoiceProps {
  readonly selection: Selection;
  readonly ids: readonly number[];
}

function PageChoice({ selection, ids }: PageChoiceProps): JSX.Element {
  const isWhole = ids.length > 0 && (selection.isAllMatching || ids.every((id) => selection.ids.has(id)));
  return (
    <input
      type="checkbox" aria-label="Select all on this page" checked={isWhole} disabled={ids.length === 0}
      onChange={() => (selection.isAllMatching ? selection.clear() : selection.togglePage(ids))}
    />
  );
}

interface SelectionBarProps {
  readonly selection: Selection;
  readonly rowCount: number;
  /** Whether there is more than this page. */
  readonly hasMore: boolean;
  /** Buttons. */
  readonly children: ComponentChildren;
}

/** What can be done to the selected; offers all that match once the whole page is selected. */
export function SelectionBar({ selection, rowCount, hasMore, children }: SelectionBarProps): JSX.Element | null {
  const { ids, isAllMatching, chooseAllMatching, clear } = selection;
  if (ids.size === 0 && !isAllMatching) return null;
  return (
    <div class="selection-bar" role="region" aria-label="Selection">
      <strong>{isAllMatching ? 'All that match' : `${number(ids.size)} selected`}</strong>
      {!isAllMatching && (hasMore || ids.size < rowCount) && (
        <button type="button" class="link" onClick={chooseAllMatching}>Select all that match the filter</button>
      )}
      <span class="selection-acts">{children}</span>
      <button type="button" class="plain" aria-label="Clear the selection" onClick={clear}>
        <Icon name="close" />
      </button>
    </div>
  );
}

/** Where the page begins: the last key of those the URL has, each the way to one page further. */
export const pageStart = (): number | undefined => {
  const last = queryOf('after').split(',').at(-1);
  return last ? Number(last) : undefined;
};

const trailMax = 40;

export function Pager({ next, count }: { readonly next: number | null; readonly count: number }): JSX.Element | null {
  const trail = queryOf('after').split(',').filter(Boolean);
  if (next === null && trail.length === 0) return null;
  const to = (after: readonly string[]): string => {
    const rest = Object.fromEntries([...place.value.query].filter(([name]) => name !== 'after'));
    return href(place.value.path, { ...rest, after: after.slice(-trailMax).join(',') });
  };
  return (
    <nav class="pager" aria-label="Pages">
      <PageLink to={trail.length > 0 ? to([]) : null}>First</PageLink>
      <PageLink to={trail.length > 0 ? to(trail.slice(0, -1)) : null}><Icon name="left" /> Back</PageLink>
      <span class="faint">page {trail.length + 1} · {number(count)} rows</span>
      <PageLink to={next === null ? null : to([...trail, String(next)])}>Further <Icon name="right" /></PageLink>
    </nav>
  );
}

const PageLink = ({ to, children }: { readonly to: string | null; children: ComponentChildren }): JSX.Element =>
  to === null
    ? <span class="button" aria-disabled="true">{children}</span>
    : <a class="button" href={to}>{children}</a>;

/** A filter changed: its pages are others. */
export const setFilter = (changes: Parameters<typeof setQuery>[0], isStep?: boolean): void =>
  setQuery({ ...changes, after: null }, isStep);
