/** Runs: the list, with search, filters, and actions on selected or all matching runs. */
import type { JSX } from 'preact';
import type { RunFilter, RunView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager, setFilter } from '../components/pager.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { SelectionBar } from '../components/selection-bar.tsx';
import { startRun } from '../components/start-run.tsx';
import { Table } from '../components/table.tsx';
import type { Page } from '../page.ts';
import { href, queryOf } from '../router.ts';
import { readSearch, runIdOf, withTerm } from '../search.ts';
import { now } from '../state/clock.ts';
import { useShortcuts } from '../state/keys.ts';
import { useChanges } from '../state/live.ts';
import { useResource, type Resource } from '../state/resource.ts';
import { runActions, type RunAction } from '../state/run-actions.ts';
import { useSelection } from '../state/selection.ts';
import { mayOperate, mayProduce } from '../state/session.ts';
import { useSteadyRows } from '../state/steady-rows.ts';
import { actOnAllMatching, actOnSelected } from './runs/bulk.ts';
import { hiddenColumns, runColumns } from './runs/columns.tsx';
import { ColumnMenu, CreatedSelect, ExportMenu, StateButtons, type OpenCounts } from './runs/filters.tsx';

type Order = 'newest' | 'oldest';

const pageSize = 50;

function Runs(): JSX.Element {
  const search = queryOf('search');
  const result = readSearch(search, now.peek());
  return (
    <>
      <header class="page-head">
        <h1>Runs</h1>
        <SavedViews page="runs" />
        <div class="page-actions">
          {mayProduce.value && (
            <button type="button" class="button" data-kind="primary" onClick={() => startRun()}>
              <Icon name="play" /> Start a run
            </button>
          )}
        </div>
      </header>
      <RunByNumber id={runIdOf(search)} />
      {result.error === null
        ? <RunList search={search} filter={result.filter} />
        : <Empty title="Invalid search" icon="search">{result.error}</Empty>}
    </>
  );
}

/** Links to the run with this id, if it exists. A search for a number does not find runs by id. */
function RunByNumber({ id }: { readonly id: number | null }): JSX.Element | null {
  const run = useResource(
    async (abort) => (id === null ? null : call('getRun', { params: { id } }, abort).catch(() => null)), [id],
  );
  if (run.data === null) return null;
  return (
    <p class="filter-note">
      <a href={href(`/runs/${id}`)}>Open run {id}</a> <span class="faint">{run.data.type}, {run.data.standing}</span>
    </p>
  );
}

interface RunListProps {
  readonly search: string;
  readonly filter: RunFilter;
}

function RunList({ search, filter }: RunListProps): JSX.Element {
  const order: Order = queryOf('order') === 'oldest' ? 'oldest' : 'newest';
  const after = pageStart();
  const query = { ...filter, order, after, limit: pageSize, with: ['progress' as const] };
  // The key contains the text of the search instead of the filter, because relative times in the filter change every
  // second.
  const list = useResource((abort) => call('listRuns', { query }, abort), [search, order, after]);
  const selection = useSelection(`${search} ${order} ${after}`);
  const hasSelection = selection.ids.size > 0 || selection.isAllMatching;
  const steady = useSteadyRows(list.data?.items ?? null, idOf, hasSelection);
  const { rows } = steady;
  const open = useOpenCounts(search, filter);
  useChanges({ kind: ['run', 'bedrock'] }, (changes) => {
    const shown = new Set(rows.map(idOf));
    const isFirstPage = after === undefined && order === 'newest';
    if (changes === null || isFirstPage || changes.some(({ job }) => shown.has(job))) list.reload();
    open.reload();
  });
  useShortcuts(mayProduce.value ? [{ keys: 'n', label: 'Start a run', run: () => startRun() }] : []);
  const perform = async (action: RunAction): Promise<void> => {
    const selected = rows.filter(({ id }) => selection.ids.has(id));
    const isDone = await (selection.isAllMatching ? actOnAllMatching(action, filter) : actOnSelected(action, selected));
    if (!isDone) return;
    selection.clear();
    steady.update();
    list.reload();
  };
  return (
    <>
      <FilterBar search={search} filter={filter} order={order} counts={open.data} />
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && <NoRuns search={search} />}
      {rows.length > 0 && (
        <Table<RunView>
          label="Runs" rows={rows} steady={steady} idOf={idOf} pathOf={({ id }) => `/runs/${id}`}
          columns={runColumns.filter(({ title }) => !hiddenColumns().includes(title))}
          {...(mayOperate.value ? { selection } : {})}
        />
      )}
      <SelectionBar
        selection={selection} rows="runs" rowCount={rows.length} hasMore={list.data?.next != null || after !== undefined}
      >
        <ActionButtons onAction={(action) => void perform(action)} />
      </SelectionBar>
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
    </>
  );
}

const idOf = ({ id }: RunView): number => id;

interface FilterBarProps extends RunListProps {
  readonly order: Order;
  readonly counts: OpenCounts | null;
}

function FilterBar({ search, filter, order, counts }: FilterBarProps): JSX.Element {
  return (
    <div class="filters">
      <StateButtons search={search} counts={counts ?? []} />
      <span class="filters-right">
        <CreatedSelect search={search} />
        <button
          type="button" class="button" aria-label={`Order: ${order} first`}
          onClick={() => setFilter({ order: order === 'newest' ? 'oldest' : null })}
        >
          {order === 'newest' ? 'Newest first' : 'Oldest first'}
        </button>
        <ColumnMenu />
        <ExportMenu filter={filter} order={order} />
      </span>
    </div>
  );
}

function ActionButtons({ onAction }: { readonly onAction: (action: RunAction) => void }): JSX.Element {
  return (
    <>
      {runActions.map((action) => (
        <button
          key={action.name} type="button" class="button" data-kind={action.isDanger ? 'danger' : undefined!}
          onClick={() => onAction(action)}
        >
          {action.title}
        </button>
      ))}
    </>
  );
}

function NoRuns({ search }: { readonly search: string }): JSX.Element {
  if (search === '') {
    return (
      <Empty title="No runs yet">
        Start one here, with <code>stint defs run</code>, or from your code.
      </Empty>
    );
  }
  return (
    <Empty title="No matching runs" icon="search">
      Remove a part of the search, or <a href={href('/runs')}>show all runs</a>. To search tasks, add{' '}
      <a href={href('/runs', { search: withTerm(search, 'kind', 'task') })}>kind:task</a>.
    </Empty>
  );
}

/**
 * Counts the open runs that match, by standing. Without a filter, it uses the statistics of the server, which are
 * cached.
 */
function useOpenCounts(search: string, filter: RunFilter): Resource<OpenCounts> {
  return useResource<OpenCounts>(async (signal) => {
    if (Object.keys(filter).length > 0) {
      return (await call('countRuns', { query: { ...filter, state: ['open'] } }, signal)).items;
    }
    const { types } = await call('stats', {}, signal);
    return types.filter(({ kind }) => kind !== 'task');
  }, [search]);
}

export const runsPage: Page = {
  path: '/runs', title: 'Runs', view: Runs, nav: { icon: 'runs', key: 'r', group: 'Work' },
};
