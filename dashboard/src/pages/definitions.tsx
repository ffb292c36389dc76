/** Definitions: templates of runs, with their schedules, next tick and last run. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge, Chip } from '../components/badge.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager, setFilter } from '../components/pager.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { SelectionBar } from '../components/selection-bar.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { Page } from '../page.ts';
import { href, queryOf } from '../router.ts';
import { useResource } from '../state/resource.ts';
import { useShortcuts } from '../state/keys.ts';
import { useChanges } from '../state/live.ts';
import { useSelection } from '../state/selection.ts';
import { mayOperate, me } from '../state/session.ts';
import { useSteadyRows } from '../state/steady-rows.ts';
import { DefPage } from './definitions/detail.tsx';
import { ApplyDocument, exportDefinitions } from './definitions/documents.tsx';
import { EditDefinition } from './definitions/edit.tsx';
import { currentFilter, DefFilters, type DefListFilter } from './definitions/filters.tsx';
import { LastRun } from './definitions/last-run.tsx';
import { scheduleText, statusOf } from './definitions/labels.ts';
import { ScheduleLoad } from './definitions/schedule-load.tsx';
import { switchMatching } from './definitions/switch.ts';

const pageSize = 50;

function Definitions(): JSX.Element {
  const name = queryOf('name');
  if (queryOf('view') === 'calendar') return <ScheduleLoad />;
  return name === '' ? <DefList /> : <DefPage key={name} name={name} />;
}

/** The dialog that is open. */
type Open = 'new' | 'apply';

function DefList(): JSX.Element {
  const [filter, after] = [currentFilter(), pageStart()];
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const key = JSON.stringify(filter);
  const list = useResource((abort) => call('listDefs', { query: { ...filter, limit: pageSize, after } }, abort), [key, after]);
  const selection = useSelection(`${key} ${after}`);
  const steady = useSteadyRows(list.data?.items ?? null, idOf, selection.ids.size > 0 || selection.isAllMatching);
  const { rows } = steady;
  useChanges({ kind: ['def', 'run'] }, list.reload);
  useShortcuts(mayOperate.value ? [{ keys: 'n', label: 'New definition', run: () => setOpen('new') }] : []);
  const perform = async (enabled: boolean): Promise<void> => {
    const names = rows.filter(({ id }) => selection.ids.has(id)).map(({ name }) => name);
    if (!await switchMatching(selection.isAllMatching ? filter : { names }, enabled)) return;
    selection.clear();
    steady.update();
    list.reload();
  };
  return (
    <>
      <Head onOpen={setOpen} />
      <FilterBar filter={filter} onOpen={setOpen} />
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && <NoDefinitions isFiltered={Object.keys(filter).length > 0} />}
      {rows.length > 0 && (
        <Table<DefView>
          label="Definitions" rows={rows} steady={steady} columns={columns} idOf={idOf} nameOf={({ name }) => name}
          pathOf={({ name }) => `/definitions?${new URLSearchParams({ name })}`}
          {...(mayOperate.value ? { selection } : {})}
        />
      )}
      <SelectionBar
        selection={selection} rows="definitions" rowCount={rows.length}
        hasMore={list.data?.next != null || after !== undefined}
      >
        <button type="button" class="button" onClick={() => void perform(true)}>Enable</button>
        <button type="button" class="button" onClick={() => void perform(false)}>Disable</button>
      </SelectionBar>
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
      {open === 'new' && <EditDefinition def={null} onClose={close} onDone={list.reload} />}
      {open === 'apply' && <ApplyDocument onClose={close} onDone={list.reload} />}
    </>
  );
}

const idOf = ({ id }: DefView): number => id;

interface OpenProps {
  readonly onOpen: (open: Open) => void;
}

const Head = ({ onOpen }: OpenProps): JSX.Element => (
  <header class="page-head">
    <h1>Definitions</h1>
    <SavedViews page="definitions" />
    <div class="page-actions">
      <a class="button" href={href('/definitions', { view: 'calendar' })}>Calendar</a>
      {mayOperate.value && (
        <button type="button" class="button" data-kind="primary" onClick={() => onOpen('new')}>New definition</button>
      )}
    </div>
  </header>
);

function FilterBar({ filter, onOpen }: OpenProps & { readonly filter: DefListFilter }): JSX.Element {
  return (
    <>
      <div class="filters">
        <DefFilters />
        {mayOperate.value && (
          <span class="filters-right">
            {me.value?.seesPayloads === true && (
              <button type="button" class="button" onClick={() => void exportDefinitions(filter)}>
                <Icon name="export" /> Export
              </button>
            )}
            <button type="button" class="button" onClick={() => onOpen('apply')}>Apply a document</button>
          </span>
        )}
      </div>
      {filter.type !== undefined && (
        <p class="filter-note">
          Type <b>{filter.type}</b> only.{' '}
          <button type="button" class="link" onClick={() => setFilter({ type: null })}>Show all types</button>
        </p>
      )}
    </>
  );
}

const NoDefinitions = ({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element => (isFiltered
  ? (
    <Empty title="No matching definitions" icon="schedules">
      Shorten the filter, or <a href={href('/definitions')}>show all definitions</a>.
    </Empty>
  )
  : (
    <Empty title="No definitions yet" icon="schedules">
      Declare one in code with <code>jobDef</code>, or create one here.
    </Empty>
  ));

const columns: readonly Column<DefView>[] = [
  {
    title: 'Definition', cell: ({ name, override, inMemory, undeclared }) => (
      <>
        <a class="strong name" href={href('/definitions', { name })}>{name}</a>{' '}
        {override !== null && <Chip title="An operator changed some settings">overridden</Chip>}{' '}
        {inMemory && <Chip title="Stored in this process only; lost when it stops">in memory</Chip>}{' '}
        {undeclared && <Chip title="No running instance declares it any more">undeclared</Chip>}
      </>
    ),
  },
  { title: 'Status', cell: (def) => <Badge {...statusOf(def)} /> },
  {
    title: 'Schedule', class: 'wide', cell: (def) => {
      const text = scheduleText(def);
      return text === null ? <span class="faint">none</span> : <span title={text}>{text}</span>;
    },
  },
  {
    title: 'Next',
    cell: ({ nextExecutionTime, enabled }) =>
      <span class="titled"><i>next </i><Time at={enabled ? nextExecutionTime : null} /></span>,
  },
  { title: 'Last', cell: (def) => <span class="titled"><i>last </i><LastRun def={def} /></span> },
  { title: 'Type', class: 'minor spare', cell: ({ type }) => <a class="name" href={href('/types', { name: type })}>{type}</a> },
];

export const definitionsPage: Page = {
  path: '/definitions', title: 'Definitions', view: Definitions, nav: { icon: 'schedules', key: 'd', group: 'Plan' },
};
