/** Job types: their open jobs, limits and instances. */
import type { JSX } from 'preact';
import type { TypeView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { PauseBanners, PauseButton, PauseMarks } from '../components/pause.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { startRun } from '../components/start-run.tsx';
import { Table, type Column } from '../components/table.tsx';
import type { Page } from '../page.ts';
import { href, queryOf, setQuery } from '../router.ts';
import { textOf } from '../search.ts';
import { useResource } from '../state/resource.ts';
import { useChanges } from '../state/live.ts';
import { usePauses, type Pauses } from '../state/pauses.ts';
import { mayProduce } from '../state/session.ts';
import { number, compact } from '../format.ts';
import { TypePage } from './types/detail.tsx';
import { Traits } from './types/traits.tsx';

function Types(): JSX.Element {
  const name = queryOf('name');
  return name === '' ? <TypeList /> : <TypePage key={name} name={name} />;
}

function TypeList(): JSX.Element {
  const list = useResource((abort) => call('listTypes', {}, abort), []);
  const pauses = usePauses();
  useChanges({ kind: ['run', 'task', 'bedrock', 'pause'] }, (changes) => {
    list.reload();
    pauses.apply(changes);
  });
  const filter = queryOf('q');
  const rows = (list.data?.items ?? []).filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <header class="page-head">
        <h1>Job types</h1>
        <SavedViews page="types" />
        <div class="page-actions">
          <input
            class="control" type="search" aria-label="Filter by name" placeholder="Filter by name" value={filter}
            onInput={({ currentTarget }) => setQuery({ q: currentTarget.value }, false)}
          />
        </div>
      </header>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && <PauseBanners pauses={unlisted(pauses, list.data.items)} onDone={pauses.reload} />}
      {list.data !== null && rows.length === 0 && (
        <Empty title={filter === '' ? 'No job types' : 'No matching job types'} icon="types">
          {filter === ''
            ? 'Start an instance with your job types: stint serve --jobs FILE.'
            : 'Shorten or clear the filter.'}
        </Empty>
      )}
      {rows.length > 0 && (
        <Table<TypeView>
          label="Job types" rows={rows} columns={columnsOf(pauses)} idOf={({ name }) => name}
          pathOf={({ name }) => `/types?${new URLSearchParams({ name })}`}
        />
      )}
    </>
  );
}

/** Pauses of types that no instance has registered yet: they have no row. */
function unlisted({ all }: Pauses, types: readonly TypeView[]): Pauses['all'] {
  const listed = new Set(types.map(({ name }) => name));
  return all.filter(({ type }) => !listed.has(type));
}

const columnsOf = (pauses: Pauses): readonly Column<TypeView>[] => [
  {
    title: 'Type', class: 'wide', cell: (type) => (
      <>
        <a class="strong" href={href('/types', { name: type.name })}>{type.name}</a> <Traits type={type} />
        <PauseMarks type={type.name} pauses={pauses} />
      </>
    ),
  },
  { title: 'Running', class: 'number', cell: (type) => <Count type={type} standing="running" /> },
  { title: 'Waiting', class: 'number', cell: (type) => <Count type={type} standing="pending" /> },
  { title: 'Held', class: 'number', cell: (type) => <Count type={type} standing="held" /> },
  {
    title: 'Limit', class: 'number',
    cell: ({ concurrency, onePerType }) => (
      onePerType ? '1' : concurrency === null ? <span class="faint">none</span> : number(concurrency)
    ),
  },
  {
    title: 'Instances', class: 'number', cell: ({ instances }) =>
      instances.length > 0 ? number(instances.length)
        : <Badge status="failed" text="no worker" title="No running instance has this type" />,
  },
  {
    title: '', class: 'actions', cell: ({ name }) => !isBuiltIn(name) && (
      <>
        <PauseButton type={name} pauses={pauses} />{' '}
        {mayProduce.value && (
          <button type="button" class="button" aria-label={`Start ${name}`} onClick={() => startRun({ type: name })}>
            <Icon name="play" /> Start
          </button>
        )}
      </>
    ),
  },
];

/** Whether the type is internal to Stint. Stint creates its runs, so there is no button to start or pause them. */
export const isBuiltIn = (name: string): boolean => name.startsWith('stint.');

type Open = 'running' | 'pending' | 'held';

function Count({ type, standing }: { readonly type: TypeView; readonly standing: Open }): JSX.Element {
  const count = type.counts[standing] ?? 0;
  if (count === 0) return <span class="faint">0</span>;
  const search = textOf([{ name: 'type', value: type.name }, { name: 'state', value: standing }]);
  return <a href={href('/runs', { search })} title={number(count)}>{compact(count)}</a>;
}

export const typesPage: Page = {
  path: '/types', title: 'Job types', view: Types, nav: { icon: 'types', key: 't', group: 'Plan' },
};
