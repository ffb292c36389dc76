/** Definitions: templates of runs, with their schedules, next tick and last run. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge, Chip } from '../components/badge.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager, setFilter } from '../components/pager.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { Page } from '../page.ts';
import { href, queryOf } from '../router.ts';
import { useResource } from '../state/resource.ts';
import { useShortcuts } from '../state/keys.ts';
import { useChanges } from '../state/live.ts';
import { mayOperate } from '../state/session.ts';
import { DefPage } from './definitions/detail.tsx';
import { EditDefinition } from './definitions/edit.tsx';
import { LastRun } from './definitions/last-run.tsx';
import { statusOf } from './definitions/labels.ts';
import { ScheduleLoad } from './definitions/schedule-load.tsx';

const pageSize = 100;

function Definitions(): JSX.Element {
  const name = queryOf('name');
  if (queryOf('view') === 'calendar') return <ScheduleLoad />;
  return name === '' ? <DefList /> : <DefPage key={name} name={name} />;
}

function DefList(): JSX.Element {
  const [q, type, after] = [queryOf('q'), queryOf('type'), pageStart()];
  const [isNew, setNew] = useState(false);
  const query = {
    limit: pageSize,
    ...(q === '' ? {} : { q }),
    ...(type === '' ? {} : { type }),
    ...(after === undefined ? {} : { after }),
  };
  const list = useResource((abort) => call('listDefs', { query }, abort), [q, type, after]);
  useChanges({ kind: ['def', 'run'] }, list.reload);
  useShortcuts(mayOperate.value ? [{ keys: 'n', label: 'New definition', run: () => setNew(true) }] : []);
  const rows = list.data?.items ?? [];
  return (
    <>
      <header class="page-head">
        <h1>Definitions</h1>
        <div class="page-actions">
          <input
            class="control" type="search" aria-label="Filter by name" placeholder="Filter by name" value={q}
            onInput={({ currentTarget }) => setFilter({ q: currentTarget.value }, false)}
          />
          <a class="button" href={href('/definitions', { view: 'calendar' })}>Calendar</a>
          {mayOperate.value && (
            <button type="button" class="button" data-kind="primary" onClick={() => setNew(true)}>
              New definition
            </button>
          )}
        </div>
      </header>
      {type !== '' && (
        <p class="filter-note">
          Type <b>{type}</b> only.{' '}
          <button type="button" class="link" onClick={() => setFilter({ type: null })}>Show all types</button>
        </p>
      )}
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && <NoDefinitions isFiltered={q !== '' || type !== ''} />}
      {rows.length > 0 && (
        <Table<DefView>
          label="Definitions" rows={rows} columns={columns} idOf={({ name }) => name}
          pathOf={({ name }) => `/definitions?${new URLSearchParams({ name })}`}
        />
      )}
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
      {isNew && <EditDefinition def={null} onClose={() => setNew(false)} onDone={list.reload} />}
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
    title: 'Schedule', class: 'wide', cell: ({ schedules }) => {
      const texts = schedules.map((schedule) => schedule.words);
      if (texts.length === 0) return <span class="faint">none</span>;
      return <span title={texts.join('\n')}>{texts.join('; ')}</span>;
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
