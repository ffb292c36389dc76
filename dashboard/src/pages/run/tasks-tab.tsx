/** The tasks of a run: figures, the matrix, the slowest tasks, and a table by state. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Changed, RunDetail, RunView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { RunBadge } from '../../components/badge.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { pageStart, Pager, setFilter } from '../../components/pager.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Elapsed, Time } from '../../components/time.tsx';
import { href, queryOf } from '../../router.ts';
import { useResource } from '../../state/resource.ts';
import { now } from '../../state/clock.ts';
import { firstStartOf, standings, type Standing } from '../../state/run-status.ts';
import { number, percent, plural, rate, duration } from '../../format.ts';
import { cellsMax, readCells, type Cells, type CellCounts } from './cells.ts';
import { Matrix } from './matrix.tsx';

export interface LiveCells {
  readonly cells: Cells | null;
  readonly version: number;
  readonly changed: readonly number[] | null;
  readonly error: unknown;
  readonly apply: (changes: readonly Changed[] | null) => void;
  readonly readMore: () => void;
}

type DrawnCells = Pick<LiveCells, 'cells' | 'version' | 'changed'>;

/** Reads the cells of a run, and updates them with the changes that the page receives. */
export function useCells(run: number): LiveCells {
  const [state, setState] = useState<DrawnCells>({ cells: null, version: 0, changed: null });
  const [max, setMax] = useState(cellsMax);
  const read = useResource((abort) => readCells(run, abort, max), [run, max]);
  const current = useRef<Cells | null>(null);
  useEffect(() => {
    if (read.data === null) return;
    current.current = read.data;
    setState(({ version }) => ({ cells: read.data, version: version + 1, changed: null }));
  }, [read.data]);
  const apply = (changes: readonly Changed[] | null): void => {
    const cells = current.current;
    if (changes === null || cells === null) return read.reload();
    const { changed, hasNew } = cells.apply(changes, run);
    if (changed.length > 0) setState(({ version }) => ({ cells, version: version + 1, changed }));
    if (hasNew && cells.next === null) read.reload();
  };
  return { ...state, error: read.error, apply, readMore: () => setMax(max + cellsMax) };
}

interface TasksTabProps {
  readonly run: RunDetail;
  readonly live: LiveCells;
}

export function TasksTab({ run, live }: TasksTabProps): JSX.Element {
  const { cells, version, changed, error, readMore } = live;
  if (error !== null) return <Failure error={error} />;
  if (cells === null) return <Loading />;
  if (cells.ids.length === 0) {
    const isEnded = run.state === 'ended';
    const text = isEnded ? 'This run was not split into tasks.' : 'They appear once the run has planned them.';
    return <Empty title="No tasks" icon="types">{text}</Empty>;
  }
  const counts = cells.counts();
  return (
    <div class="stack">
      <Figures run={run} counts={counts} />
      <section class="card" aria-label="Task matrix">
        <Matrix cells={cells} version={version} changed={changed} label={`Matrix of ${plural(counts.total, 'task')}`} />
        {cells.next !== null && (
          <p class="faint">
            Only the first {number(cells.ids.length)} tasks are shown.{' '}
            <button type="button" class="link" onClick={readMore}>Show {number(cellsMax)} more</button>
          </p>
        )}
      </section>
      <Slowest cells={cells} />
      <TaskTable run={run.id} version={version} counts={counts} />
    </div>
  );
}

/**
 * Shows figures about the tasks. "Done" counts succeeded tasks only, so 100 % means that no task failed or was
 * cancelled.
 */
function Figures({ run, counts }: { readonly run: RunDetail; readonly counts: CellCounts }): JSX.Element {
  const { total, succeeded, failed, cancelled } = counts;
  const settled = succeeded + failed + cancelled;
  const startedAt = firstStartOf(run) ?? run.createdAt;
  const elapsed = Math.max(1, (run.endedAt ?? now.value) - startedAt);
  const open = total - settled;
  const eta = run.state === 'ended' || settled === 0 || open === 0 ? null : (open * elapsed) / settled;
  return (
    <div class="task-figures">
      <div class="big-bar" role="img" aria-label={`${percent(succeeded, total)} of ${plural(total, 'task')} done`}>
        {(['succeeded', 'failed', 'cancelled', 'running', 'held', 'pending'] as const).map((standing) => (
          <i key={standing} data-status={standing} style={{ flexGrow: String(counts[standing]) }} />
        ))}
      </div>
      <dl class="strip">
        <Figure title="Done">{percent(succeeded, total)} <small>{number(succeeded)} of {number(total)}</small></Figure>
        <Figure title="Rate">{rate(settled / elapsed)}</Figure>
        <Figure title="Remaining">{eta === null ? '–' : `about ${duration(eta)}`}</Figure>
        {(['succeeded', 'failed', 'cancelled', 'running', 'held', 'pending'] as const).map((standing) => (
          <Figure key={standing} title={standing} status={standing}>{number(counts[standing])}</Figure>
        ))}
      </dl>
    </div>
  );
}

interface FigureProps {
  readonly title: string;
  readonly status?: Standing;
  readonly children: ComponentChildren;
}

function Figure({ title, status, children }: FigureProps): JSX.Element {
  return (
    <div data-status={status}>
      <dt>{status && <Icon name={status} />}{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Slowest({ cells }: { readonly cells: Cells }): JSX.Element | null {
  const slow = cells.slowest(5);
  if (slow.length === 0) return null;
  return (
    <p class="slowest">
      <span class="faint">Slowest</span>
      {slow.map(({ id, ms }) => <a key={id} href={href(`/runs/${id}`)}>{id} <b>{duration(ms)}</b></a>)}
    </p>
  );
}

const columns: readonly Column<RunView>[] = [
  { title: 'State', cell: (task) => <RunBadge run={task} /> },
  { title: 'Task', class: 'id', cell: ({ id }) => <a href={href(`/runs/${id}`)}>{id}</a> },
  { title: 'Key', class: 'minor', cell: ({ key }) => key ?? <span class="faint">–</span> },
  {
    title: 'Error', class: 'wide',
    cell: ({ error }) => error && <span class="error-text" title={error.message}>{error.message}</span>,
  },
  { title: 'Attempts', class: 'number', cell: ({ attempt }) => attempt },
  { title: 'Worker', class: 'minor', cell: ({ lease }) => lease?.holder ?? <span class="faint">–</span> },
  { title: 'Changed', class: 'number', cell: ({ changedAt }) => <Time at={changedAt} /> },
  {
    title: 'Duration', class: 'number',
    cell: ({ startedAt, endedAt, state }) => <Elapsed from={state === 'pending' ? null : startedAt} to={endedAt} />,
  },
];

interface TaskTableProps {
  readonly run: number;
  readonly version: number;
  readonly counts: CellCounts;
}

function TaskTable({ run, version, counts }: TaskTableProps): JSX.Element {
  const state = queryOf('state') as Standing | '';
  const after = pageStart();
  const query = { limit: 25, ...(state === '' ? {} : { state: [state] }), ...(after === undefined ? {} : { after }) };
  const list = useResource((abort) => call('listTasks', { params: { id: run }, query }, abort), [run, state, after]);
  useEffect(() => {
    if (version > 1) list.reload();
  }, [version]);
  return (
    <section aria-label="Task table">
      <div class="chips" role="group" aria-label="Task states">
        {standings.filter((standing) => counts[standing] > 0 || standing === state).map((standing) => (
          <button
            key={standing} type="button" class="state-chip" data-status={standing} aria-pressed={standing === state}
            onClick={() => setFilter({ state: standing === state ? null : standing }, false)}
          >
            <Icon name={standing} /> {standing} <b>{number(counts[standing])}</b>
          </button>
        ))}
      </div>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data?.items.length === 0 && (
        <Empty title="No tasks in this state">Choose another state, or clear the filter.</Empty>
      )}
      {list.data !== null && list.data.items.length > 0 && (
        <Table
          label="Tasks" rows={list.data.items} columns={columns} idOf={({ id }) => id}
          pathOf={({ id }) => `/runs/${id}`}
        />
      )}
      {list.data !== null && <Pager next={list.data.next} count={list.data.items.length} />}
    </section>
  );
}
