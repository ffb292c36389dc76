/** The table. The keys j and k move between rows, x selects one, and Enter opens it. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { go } from '../router.ts';
import { useShortcuts, type Shortcut } from '../state/keys.ts';
import type { Selection } from '../state/selection.ts';
import { useSteadyRows, type SteadyRows } from '../state/steady-rows.ts';

export interface Column<R> {
  readonly title: string;
  readonly cell: (row: R) => ComponentChildren;
  /**
   * `number`: right-aligned; `wide`: takes the remaining width; `minor`: hidden on phones; `spare`: hidden in windows
   * below 1100 px; `actions`: buttons.
   */
  readonly class?: string;
}

interface TableProps<R> {
  /** The name of the rows for screen readers, such as "Runs". */
  readonly label: string;
  readonly rows: readonly R[];
  readonly columns: readonly Column<R>[];
  readonly idOf: (row: R) => number | string;
  /** The name of a row for screen readers. Default: its id. */
  readonly nameOf?: (row: R) => string;
  /** The page that Enter or a click on the row opens. */
  readonly pathOf?: (row: R) => string;
  /** The selected rows; undefined: rows cannot be selected. Requires ids that are numbers. */
  readonly selection?: Selection;
  /** The shown rows, if the page itself uses them, such as for a selection. Default: derived from `rows`. */
  readonly steady?: SteadyRows<R>;
}

export function Table<R>(props: TableProps<R>): JSX.Element {
  const { label, columns, idOf, nameOf = (row) => String(idOf(row)), pathOf, selection } = props;
  const own = useSteadyRows(props.rows, idOf, false);
  const steady = props.steady ?? own;
  const { rows } = steady;
  const [activeId, setActiveId] = useState<number | string | null>(null);
  // Keys can follow each other faster than renderings.
  const newestActive = useRef(activeId);
  const indexOf = (id: number | string | null): number => rows.findIndex((row) => idOf(row) === id);
  const move = (row: R): void => {
    newestActive.current = idOf(row);
    setActiveId(idOf(row));
  };
  const body = useRef<HTMLTableSectionElement>(null);
  const active = indexOf(activeId);
  useEffect(() => body.current?.rows[active]?.scrollIntoView({ block: 'nearest' }), [activeId]);
  useShortcuts(shortcutsOf({ ...props, rows, active: () => indexOf(newestActive.current), onMove: move }));
  return (
    <>
      <div class="table-box" role="region" aria-label={label} tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              {selection && (
                <th class="choice"><PageCheckbox selection={selection} ids={rows.map(idOf) as number[]} /></th>
              )}
              {columns.map(({ title, class: extra }) => <th key={title} scope="col" class={extra}>{title}</th>)}
            </tr>
          </thead>
          <tbody ref={body} onPointerMove={steady.hold} onPointerLeave={steady.release}>
            {rows.map((row, index) => (
              <Row
                key={idOf(row)} {...{ row, columns, pathOf, selection }} id={idOf(row)} name={nameOf(row)} isActive={index === active}
                isMissing={steady.missing.has(idOf(row))}
              />
            ))}
          </tbody>
        </table>
      </div>
      <UpdateBar steady={steady} selection={selection} />
    </>
  );
}

interface RowProps<R> extends Pick<TableProps<R>, 'columns'> {
  readonly row: R;
  readonly id: number | string;
  readonly name: string;
  readonly pathOf: TableProps<R>['pathOf'] | undefined;
  readonly selection: Selection | undefined;
  readonly isActive: boolean;
  readonly isMissing: boolean;
}

function Row<R>({ row, id, name, columns, pathOf, selection, isActive, isMissing }: RowProps<R>): JSX.Element {
  const isSelected = selection !== undefined && (selection.isAllMatching || selection.ids.has(id as number));
  const open = (event: MouseEvent): void => {
    const isControl = (event.target as Element).closest('a, button, input, label, details') !== null;
    if (pathOf === undefined || isControl || String(getSelection()) !== '') return;
    go(...split(pathOf(row)));
  };
  return (
    <tr
      data-active={isActive} data-opens={pathOf !== undefined} data-chosen={isSelected} data-missing={isMissing}
      title={isMissing ? 'No longer in this list' : undefined!} onClick={open}
    >
      {selection && (
        <td class="choice">
          <input
            type="checkbox" aria-label={`Select ${name}`} checked={isSelected}
            onChange={() => selection.toggle(id as number)}
          />
        </td>
      )}
      {columns.map(({ title, cell, class: extra }) => (
        <td key={title} class={extra} data-title={title}>{cell(row)}</td>
      ))}
    </tr>
  );
}

interface TableKeys<R> extends Pick<TableProps<R>, 'rows' | 'idOf' | 'pathOf' | 'selection'> {
  /** Returns the index of the active row; -1: none. */
  readonly active: () => number;
  readonly onMove: (row: R) => void;
}

function shortcutsOf<R>({ rows, idOf, pathOf, selection, active, onMove }: TableKeys<R>): Shortcut[] {
  const move = (by: number): void => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, active() + by))];
    if (next !== undefined) onMove(next);
  };
  const open = (): void => {
    const row = rows[active()];
    if (row !== undefined && pathOf !== undefined) go(...split(pathOf(row)));
  };
  const select = (): void => {
    const row = rows[active()];
    if (row !== undefined) selection?.toggle(idOf(row) as number);
  };
  return [
    { keys: 'j', label: 'Next row', run: () => move(1), isKeyOnly: true },
    { keys: 'k', label: 'Previous row', run: () => move(-1), isKeyOnly: true },
    ...(pathOf === undefined ? [] : [{ keys: 'Enter', label: 'Open the row', run: open, isKeyOnly: true }]),
    ...(selection === undefined ? [] : [{ keys: 'x', label: 'Select the row', run: select, isKeyOnly: true }]),
  ];
}

const split = (target: string): [string, Record<string, string>] => {
  const [path, query] = target.split('?') as [string, string | undefined];
  return [path, Object.fromEntries(new URLSearchParams(query))];
};

interface PageCheckboxProps {
  readonly selection: Selection;
  readonly ids: readonly number[];
}

function PageCheckbox({ selection, ids }: PageCheckboxProps): JSX.Element {
  const isWhole = ids.length > 0 && (selection.isAllMatching || ids.every((id) => selection.ids.has(id)));
  return (
    <input
      type="checkbox" aria-label="Select all on this page" checked={isWhole} disabled={ids.length === 0}
      onChange={() => (selection.isAllMatching ? selection.clear() : selection.togglePage(ids))}
    />
  );
}

interface UpdateBarProps<R> {
  readonly steady: SteadyRows<R>;
  readonly selection: Selection | undefined;
}

/**
 * Says which updates are not shown yet, because the pointer is over the table or rows are selected. With a selection, a
 * button shows them.
 */
function UpdateBar<R>({ steady, selection }: UpdateBarProps<R>): JSX.Element | null {
  const { newCount, missing, update } = steady;
  if (newCount === 0 && missing.size === 0) return null;
  const texts = [
    ...(newCount === 0 ? [] : [plural(newCount, 'new row')]),
    ...(missing.size === 0 ? [] : [`${plural(missing.size, 'row')} no longer in this list`]),
  ];
  const show = (): void => {
    selection?.remove(missing as ReadonlySet<number>);
    update();
  };
  const hasSelection = selection !== undefined && (selection.ids.size > 0 || selection.isAllMatching);
  return (
    <p class="update-bar" role="status">
      {texts.join(', ')}
      {hasSelection
        ? <> <button type="button" class="link" onClick={show}>Update the list</button></>
        : '; the list updates when the pointer leaves it'}
    </p>
  );
}
