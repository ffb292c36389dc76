/** The tasks of a run: figures, the matrix, the slowest, and a table of those in a state. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Changed, RunDetail, RunView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { RunBadge } from '../../components/badge.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { pageStart, Pager, setFilter, Table, type Column } from '../../components/table.tsx';
import { Lasting, Time } from '../../components/time.tsx';
import { href, queryOf } from '../../router.ts';
import { useAnswer } from '../../state/answer.ts';
import { now } from '../../state/clock.ts';
import { begunAt, standings, type Standing } from '../../state/run-words.ts';
import { number, percent, plural, rate, span } from '../../words.ts';
import { cellsMax, readCells, type Cells, type Counts } from './cells.ts';
import { Matrix } from './matrix.tsx';

export interface LiveCells {
  readonly cells: Cells | null;
  readonly version: number;
  readonly changed: readonly number[] | null;
  readonly error: unknown;
  readonly hear: (changes: readonly Changed[] | null) => void;
  readonly readMore: () => void;
}

type Drawn = Pick<LiveCells, 'cells' | 'version' | 'changed'>;

/** The cells of a run, changed by what the page hears. */
export function useCells(run: number): LiveCells {
  const [state, setState] = useState<Drawn>({ cells: null, version: 0, changed: null });
  const [max, setMax] = useState(cellsMax);
  const answer = useAnswer((abort) => readCells(run, abort, max), [run, max]);
  const current = useRef<Cells | null>(null);
  useEffect(() => {
    if (answer.data === null) return;
    current.current = answer.data;
    setState(({ version }) => ({ cells: answer.data, version: version + 1, changed: null }));
  }, [answer.data]);
  const hear = (changes: readonly Changed[] | null): void => {
    const cells = current.current;
    if (changes === null || cells === null) return answer.reload();
    const { places, hasNew } = cells.apply(changes, run);
    if (places.length > 0) setState(({ version }) => ({ cells, version: version + 1, changed: places }));
    if (hasNew && cells.next === null) answer.reload();
  };
  return { ...state, error: answer.error, hear, readMore: () => setMax(max + cellsMax) };
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
    const why = run.state === 'ended' ? 'It ran as one piece.' : 'They appear here once it has planned them.';
    return <Empty title="It has no tasks" icon="types">{why}</Empty>;
  }
  const counts = cells.counts();
  return (
    <div class="stack">
      <Figures run={run} counts={counts} />
      <section class="card" aria-label="Matrix of tasks">
        <Matrix cells={cells} version={version} changed={changed} label={`Matrix of ${plural(counts.total, 'task')}`} />
        {cells.next !== null && (
          <p class="faint">
            These are the first {number(cells.ids.length)}; there are more.{' '}
            <button type="button" class="link" onClick={readMore}>Read {number(cellsMax)} more</button>
          </p>
        )}
      </section>
      <Slowest cells={cells} />
      <TaskTable run={run.id} version={version} counts={counts} />
    </div>
  );
}

function Figures({ run, counts }: { readonly run: RunDetail; readonly counts: Counts }): JSX.Element {
  const { total, succeeded, failed, cancelled } = counts;
  const settled = succeeded + failed + cancelled;
  const began = begunAt(run) ?? run.createdAt;
  const elapsed = Math.max(1, (run.endedAt ?? now.value) - began);
  const left = total - settled;
  const eta = run.state === 'ended' || settled === 0 || left === 0 ? null : (left * elapsed) / settled;
  return (
    <div class="task-figures">
      <div class="big-bar" role="img" aria-label={`${percent(settled, total)} of ${plural(total, 'task')} are through`}>
        {(['succeeded', 'failed', 'cancelled', 'running', 'held', 'pending'] as const).map((standing) => (
          <i key={standing} data-look={standing} style={{ flexGrow: String(counts[standing]) }} />
        ))}
      </div>
      <dl class="strip">
        <Figure title="Through">{percent(settled, total)} <small>{number(settled)} of {number(total)}</small></Figure>
        <Figure title="Rate">{rate(settled / elapsed)}</Figure>
        <Figure title="Left">{eta === null ? '–' : `about ${span(eta)}`}</Figure>
        {(['succeeded', 'failed', 'cancelled', 'running', 'held', 'pending'] as const).map((standing) => (
          <Figure key={standing} title={standing} look={standing}>{number(counts[standing])}</Figure>
        ))}
      </dl>
    </div>
  );
}

interface FigureProps {
  readonly title: string;
  readonly look?: Standing;
  readonly children: ComponentChildren;
}

function Figure({ title, look, children }: FigureProps): JSX.Element {
  return (
    <div data-look={look}>
      <dt>{look && <Icon name={look} />}{title}</dt>
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
      {slow.map(({ id, ms }) => <a key={id} href={href(`/runs/${id}`)}>{id} <b>{span(ms)}</b></a>)}
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
    title: 'Lasted', class: 'number',
    cell: ({ startedAt, endedAt, state }) => <Lasting from={state === 'pending' ? null : startedAt} to={endedAt} />,
  },
];

interface TaskTableProps {
  readonly run: number;
  readonly version: number;
  readonly counts: Counts;
}

function TaskTable({ run, version, counts }: TaskTableProps): JSX.Element {
  const state = queryOf('state') as Standing | '';
  const after = pageStart();
  const query = { limit: 25, ...(state === '' ? {} : { state: [state] }), ...(after === undefined ? {} : { after }) };
  const list = useAnswer((abort) => call('listTasks', { params: { id: run }, query }, abort), [run, state, after]);
  useEffect(() => {
    if (version > 1) list.reload();
  }, [version]);
  return (
    <section aria-label="Table of tasks">
      <div class="chips" role="group" aria-label="States of tasks">
        {standings.filter((standing) => counts[standing] > 0 || standing === state).map((standing) => (
          <button
            key={standing} type="button" class="state-chip" data-look={standing} aria-pressed={standing === state}
            onClick={() => setFilter({ state: standing === state ? null : standing }, false)}
          >
            <Icon name={standing} /> {standing} <b>{number(counts[standing])}</b>
          </button>
        ))}
      </div>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data?.items.length === 0 && (
        <Empty title="No task is in this state">Choose another, or none for all.</Empty>
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
