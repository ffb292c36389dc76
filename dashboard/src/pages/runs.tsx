/** Runs: the list, searched and filtered, with deeds to one, many or all that match. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RunFilter, RunView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { TickField } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import { Menu } from '../components/menu.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { startRun } from '../components/start-run.tsx';
import { pageStart, Pager, SelectionBar, setFilter, Table } from '../components/table.tsx';
import { attempt, say } from '../components/toast.tsx';
import type { Page } from '../page.ts';
import { href, queryOf, setQuery } from '../router.ts';
import { readSearch, termsOf, valueOf, withTerm } from '../search.ts';
import { useAnswer } from '../state/answer.ts';
import { now } from '../state/clock.ts';
import { useShortcuts } from '../state/keys.ts';
import { useChanges } from '../state/live.ts';
import { deeds, type Deed } from '../state/run-deeds.ts';
import { standings, type Standing } from '../state/run-words.ts';
import { forgetView, savedViews, saveView } from '../state/saved-views.ts';
import { useSelection } from '../state/selection.ts';
import { mayOperate, mayProduce } from '../state/session.ts';
import { number, plural, short } from '../words.ts';
import { toAllMatching, toSelected } from './runs/bulk.ts';
import { minorColumns, runColumns } from './runs/columns.tsx';
import { exportRuns, type Format } from './runs/export.ts';

const pageSize = 50;

function Runs(): JSX.Element {
  const search = queryOf('search');
  const read = readSearch(search, now.peek());
  return (
    <>
      <header class="page-head">
        <h1>Runs</h1>
        <SavedViews search={search} />
        <div class="page-acts">
          {mayProduce.value && (
            <button type="button" class="button" data-kind="primary" onClick={() => startRun()}>
              <Icon name="play" /> Start a run
            </button>
          )}
        </div>
      </header>
      {read.mistake === null
        ? <RunList search={search} filter={read.filter} />
        : <Empty title="This search cannot be read" icon="search">{read.mistake}</Empty>}
    </>
  );
}

function RunList({ search, filter }: { readonly search: string; readonly filter: RunFilter }): JSX.Element {
  const order = queryOf('order') === 'oldest' ? ('oldest' as const) : ('newest' as const);
  const after = pageStart();
  const query = { ...filter, order, after, limit: pageSize, with: ['progress' as const] };
  const about = `${search} ${order}`;
  // Times within the search go with the clock: what is asked follows from its text, not from the second.
  const list = useAnswer((abort) => call('listRuns', { query }, abort), [about, after]);
  const open = useAnswer((abort) => countOpen(filter, abort), [search]);
  const selection = useSelection(about);
  const rows = list.data?.items ?? [];
  useChanges({ kind: ['run', 'bedrock'] }, (changes) => {
    const shown = new Set(rows.map(({ id }) => id));
    const isFirst = after === undefined && order === 'newest';
    if (changes === null || isFirst || changes.some(({ job }) => shown.has(job))) list.reload();
    open.reload();
  });
  useShortcuts(mayProduce.value ? [{ keys: 'n', does: 'Start a run', run: () => startRun() }] : []);

  const perform = async (deed: Deed): Promise<void> => {
    const chosen = rows.filter(({ id }) => selection.ids.has(id));
    const isDone = await (selection.isAllMatching ? toAllMatching(deed, filter) : toSelected(deed, chosen));
    if (!isDone) return;
    selection.clear();
    list.reload();
  };
  const hidden = hiddenColumns();
  return (
    <>
      <div class="filters">
        <StateChips search={search} counts={countsOf(open.data ?? [])} />
        <span class="filters-right">
          <TimeChoice search={search} />
          <button
            type="button" class="button" aria-label={`Order: ${order} first`}
            onClick={() => setFilter({ order: order === 'newest' ? 'oldest' : null })}
          >
            {order === 'newest' ? 'Newest first' : 'Oldest first'}
          </button>
          <ColumnChoice hidden={hidden} />
          <ExportChoice filter={filter} order={order} />
        </span>
      </div>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && <NoRuns search={search} />}
      {rows.length > 0 && (
        <Table<RunView>
          label="Runs" rows={rows} idOf={({ id }) => id} pathOf={({ id }) => `/runs/${id}`}
          columns={runColumns.filter(({ title }) => !hidden.includes(title))}
          {...(mayOperate.value ? { selection } : {})}
        />
      )}
      <SelectionBar
        selection={selection} rowCount={rows.length} hasMore={list.data?.next != null || after !== undefined}
      >
        {deeds.map((deed) => (
          <button
            key={deed.name} type="button" class="button" data-kind={deed.isDanger ? 'danger' : undefined!}
            onClick={() => void perform(deed)}
          >
            {deed.title}
          </button>
        ))}
      </SelectionBar>
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
    </>
  );
}

function NoRuns({ search }: { readonly search: string }): JSX.Element {
  if (search === '') {
    return (
      <Empty title="There are no runs yet">
        Start one here, by <code>stint defs run</code>, or from your code. It is listed as soon as it is created.
      </Empty>
    );
  }
  return (
    <Empty title="No run fits this search" icon="search">
      <a href={href('/runs')}>Show all runs</a>, or take a part of the search away. Tasks are listed with{' '}
      <a href={href('/runs', { search: withTerm(search, 'kind', 'task') })}>kind:task</a>.
    </Empty>
  );
}

/** Of all runs, the server has the numbers at hand. */
async function countOpen(filter: RunFilter, signal: AbortSignal): Promise<Tallies> {
  if (Object.keys(filter).length > 0) {
    return (await call('countRuns', { query: { ...filter, state: ['open'] } }, signal)).items;
  }
  const { types } = await call('stats', {}, signal);
  return types.filter(({ kind }) => kind !== 'task');
}

type Tallies = readonly { readonly standing: Standing; readonly count: number }[];
type Counts = Partial<Record<Standing, number>>;

function countsOf(tallies: Tallies): Counts {
  const counts: Counts = {};
  for (const { standing, count } of tallies) counts[standing] = (counts[standing] ?? 0) + count;
  return counts;
}

function StateChips({ search, counts }: { readonly search: string; readonly counts: Counts }): JSX.Element {
  const chosen = valueOf(search, 'state')?.split(',') ?? [];
  const toggle = (standing: Standing): string | null => {
    const next = chosen.includes(standing) ? chosen.filter((one) => one !== standing) : [...chosen, standing];
    return next.length === 0 ? null : next.join(',');
  };
  return (
    <div class="chips" role="group" aria-label="States">
      {standings.map((standing) => (
        <button
          key={standing} type="button" class="state-chip" data-look={standing} aria-pressed={chosen.includes(standing)}
          onClick={() => setFilter({ search: withTerm(search, 'state', toggle(standing)) })}
        >
          <Icon name={standing} />
          {standing}
          {counts[standing] !== undefined && <b title={number(counts[standing])}>{short(counts[standing])}</b>}
        </button>
      ))}
    </div>
  );
}

const times = [
  ['', 'Any time'], ['<15m', 'Last 15 min'], ['<1h', 'Last hour'], ['<24h', 'Last day'], ['<7d', 'Last week'],
] as const;

function TimeChoice({ search }: { readonly search: string }): JSX.Element {
  const value = valueOf(search, 'created') ?? '';
  const isOther = !times.some(([one]) => one === value);
  return (
    <select
      class="control" aria-label="Created" value={value}
      onChange={({ currentTarget }) => setFilter({ search: withTerm(search, 'created', currentTarget.value || null) })}
    >
      {times.map(([one, says]) => <option key={one} value={one}>{says}</option>)}
      {isOther && <option value={value}>{value}</option>}
    </select>
  );
}

function hiddenColumns(): readonly string[] {
  const said = queryOf('hide');
  return said === '' ? minorColumns : said.split(',');
}

function ColumnChoice({ hidden }: { readonly hidden: readonly string[] }): JSX.Element {
  const toggle = (title: string): void => {
    const next = hidden.includes(title) ? hidden.filter((one) => one !== title) : [...hidden, title];
    setQuery({ hide: next.length === 0 ? 'none' : next.join(',') }, false);
  };
  return (
    <Menu title="Columns" label="Choose columns">
      {runColumns.slice(2).map(({ title }) => (
        <TickField key={title} label={title} isOn={!hidden.includes(title)} onChange={() => toggle(title)} />
      ))}
    </Menu>
  );
}

interface ExportChoiceProps {
  readonly filter: RunFilter;
  readonly order: 'newest' | 'oldest';
}

function ExportChoice({ filter, order }: ExportChoiceProps): JSX.Element {
  const save = async (format: Format): Promise<void> => {
    const outcome = await attempt(() => exportRuns(filter, order, format));
    if (outcome === null) return;
    const rest = outcome.isCut ? ': there are more, which the command line can list' : '';
    say(`${plural(outcome.count, 'run')} exported${rest}`);
  };
  return (
    <Menu title={<><Icon name="export" /> Export</>} label="Export what the filter matches">
      <button type="button" class="menu-item" onClick={() => void save('csv')}>CSV, for spreadsheets</button>
      <button type="button" class="menu-item" onClick={() => void save('json')}>JSON lines, for programs</button>
    </Menu>
  );
}

function SavedViews({ search }: { readonly search: string }): JSX.Element {
  const [name, setName] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const isNaming = name !== null;
  useLayoutEffect(() => field.current?.focus(), [isNaming]);
  const save = (): void => {
    if (name !== null && name.trim() !== '') saveView({ name: name.trim(), search });
    setName(null);
  };
  const isSaved = savedViews.value.some((view) => view.search === search);
  return (
    <div class="views">
      {savedViews.value.map((view) => (
        <span class="view-chip" key={view.name} data-here={view.search === search}>
          <a href={href('/runs', { search: view.search })}>{view.name}</a>
          <button type="button" aria-label={`Forget the view ${view.name}`} onClick={() => forgetView(view.name)}>
            <Icon name="close" />
          </button>
        </span>
      ))}
      {termsOf(search).length > 0 && !isSaved && !isNaming && (
        <button type="button" class="link" onClick={() => setName('')}>Save this view</button>
      )}
      {isNaming && (
        <form
          class="view-name"
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <input
            ref={field} class="control" aria-label="Name of the view" placeholder="Name, then Enter"
            value={name} maxLength={40}
            onInput={({ currentTarget }) => setName(currentTarget.value)} onBlur={save}
          />
        </form>
      )}
    </div>
  );
}

export const runsPage: Page = {
  path: '/runs', title: 'Runs', view: Runs, nav: { icon: 'runs', key: 'r', group: 'Work' },
};
