/** The controls above the list of runs: states, creation time, columns and export. */
import type { JSX } from 'preact';
import type { RunFilter } from '../../../../src/http/contract.ts';
import { CheckField } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Menu } from '../../components/menu.tsx';
import { setFilter } from '../../components/pager.tsx';
import { showToast, withToast } from '../../components/toast.tsx';
import { compact, number, plural } from '../../format.ts';
import { setQuery } from '../../router.ts';
import { valueOf, withTerm } from '../../search.ts';
import { standings, type Standing } from '../../state/run-status.ts';
import { hiddenColumns, runColumns } from './columns.tsx';
import { exportRuns, type ExportFormat } from './export.ts';

/** The number of open runs by standing. A standing can occur several times, once for each type. */
export type OpenCounts = readonly { readonly standing: Standing; readonly count: number }[];

interface StateButtonsProps {
  readonly search: string;
  readonly counts: OpenCounts;
}

export function StateButtons({ search, counts }: StateButtonsProps): JSX.Element {
  const chosen = valueOf(search, 'state')?.split(',') ?? [];
  const sums = Map.groupBy(counts, ({ standing }) => standing);
  const toggled = (standing: Standing): string | null => {
    const next = chosen.includes(standing) ? chosen.filter((one) => one !== standing) : [...chosen, standing];
    return next.length === 0 ? null : next.join(',');
  };
  return (
    <div class="chips" role="group" aria-label="States">
      {standings.map((standing) => (
        <button
          key={standing} type="button" class="state-chip" data-status={standing}
          aria-pressed={chosen.includes(standing)}
          onClick={() => setFilter({ search: withTerm(search, 'state', toggled(standing)) })}
        >
          <Icon name={standing} />
          {standing}
          {sums.has(standing) && <Sum counts={sums.get(standing)!} />}
        </button>
      ))}
    </div>
  );
}

function Sum({ counts }: { readonly counts: OpenCounts }): JSX.Element {
  const sum = counts.reduce((all, { count }) => all + count, 0);
  return <b title={number(sum)}>{compact(sum)}</b>;
}

const periods = [
  ['', 'Any time'], ['<15m', 'Last 15 min'], ['<1h', 'Last hour'], ['<24h', 'Last day'], ['<7d', 'Last week'],
] as const;

export function CreatedSelect({ search }: { readonly search: string }): JSX.Element {
  const value = valueOf(search, 'created') ?? '';
  const isOther = !periods.some(([one]) => one === value);
  return (
    <select
      class="control" aria-label="Created" value={value}
      onChange={({ currentTarget }) => setFilter({ search: withTerm(search, 'created', currentTarget.value || null) })}
    >
      {periods.map(([one, label]) => <option key={one} value={one}>{label}</option>)}
      {isOther && <option value={value}>{value}</option>}
    </select>
  );
}

export function ColumnMenu(): JSX.Element {
  const hidden = hiddenColumns();
  const toggle = (title: string): void => {
    const next = hidden.includes(title) ? hidden.filter((one) => one !== title) : [...hidden, title];
    setQuery({ hide: next.length === 0 ? 'none' : next.join(',') }, false);
  };
  return (
    <Menu title="Columns" label="Choose columns">
      {runColumns.slice(2).map(({ title }) => (
        <CheckField key={title} label={title} isOn={!hidden.includes(title)} onChange={() => toggle(title)} />
      ))}
    </Menu>
  );
}

interface ExportMenuProps {
  readonly filter: RunFilter;
  readonly order: 'newest' | 'oldest';
}

export function ExportMenu({ filter, order }: ExportMenuProps): JSX.Element {
  const save = async (format: ExportFormat): Promise<void> => {
    const outcome = await withToast(() => exportRuns(filter, order, format));
    if (outcome === null) return;
    const rest = outcome.isCut ? ', the maximum. Use stint runs ls to export more' : '';
    showToast(`Exported ${plural(outcome.count, 'run')}${rest}`);
  };
  return (
    <Menu title={<><Icon name="export" /> Export</>} label="Export matching runs">
      <button type="button" class="menu-item" onClick={() => void save('csv')}>CSV, for spreadsheets</button>
      <button type="button" class="menu-item" onClick={() => void save('json')}>JSON lines, for programs</button>
    </Menu>
  );
}
