/** One flow: its graph, its runs and what each of them follows, and the actions on all of them. */
import type { JSX } from 'preact';
import type { Answer } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { BackLink } from '../components/back-link.tsx';
import { RunBadge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager } from '../components/pager.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { withToast } from '../components/toast.tsx';
import { plural } from '../format.ts';
import type { Page, PageProps } from '../page.ts';
import { href } from '../router.ts';
import { useShortcuts } from '../state/keys.ts';
import { useChanges } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { isDueWhenAnswered, isOpen } from '../state/run-status.ts';
import { mayOperate } from '../state/session.ts';
import { Graph } from './flow/graph.tsx';
import { Counts } from './flows.tsx';

type Runs = Answer<'getFlow'>;
type Row = Runs['runs'][number];

const pageSize = 50;
const followedShown = 5;

function Flow({ params }: PageProps): JSX.Element {
  const id = Number(params['id']);
  const after = pageStart();
  const graph = useResource((abort) => call('getFlowGraph', { params: { id } }, abort), [id]);
  const query = { limit: pageSize, ...(after === undefined ? {} : { after }) };
  const runs = useResource((abort) => call('getFlow', { params: { id }, query }, abort), [id, after]);
  const reload = (): void => {
    graph.reload();
    runs.reload();
  };
  useChanges({ kind: ['run'] }, reload);
  const error = graph.error ?? runs.error;
  return (
    <>
      <BackLink path="/flows" title="Flows" />
      {error !== null && <Failure error={error} onRetry={reload} />}
      {error === null && (graph.data === null || runs.data === null) && <Loading />}
      {graph.data !== null && <Head id={id} graph={graph.data} onDone={reload} />}
      {graph.data !== null && <Graph graph={graph.data} />}
      {runs.data !== null && (
        <section class="flow-runs">
          <h2>Runs</h2>
          <Table<Row>
            label="Runs of the flow" rows={runs.data.runs} columns={columns} idOf={({ run }) => run.id}
            pathOf={({ run }) => `/runs/${run.id}`}
          />
          <Pager next={runs.data.next} count={runs.data.runs.length} />
        </section>
      )}
    </>
  );
}

const columns: readonly Column<Row>[] = [
  { title: 'Run', cell: ({ run }) => <a class="strong mono" href={href(`/runs/${run.id}`)}>{run.id}</a> },
  { title: 'State', cell: ({ run }) => <RunBadge run={run} /> },
  { title: 'Definition or type', class: 'wide', cell: ({ run }) => run.def ?? run.type },
  { title: 'Starts', cell: ({ after }) => <Followed after={after} /> },
  { title: 'Due', class: 'minor', cell: ({ run }) => <Due run={run} /> },
];

/** A run that has ended is not due again. */
function Due({ run }: Pick<Row, 'run'>): JSX.Element {
  if (!isOpen(run)) return <>–</>;
  return isDueWhenAnswered(run) ? <>when answered</> : <Time at={run.dueAt} />;
}

function Followed({ after }: Pick<Row, 'after'>): JSX.Element | null {
  if (after.length === 0) return null;
  return (
    <span class="mono">
      <span class="faint">after </span>
      {after.slice(0, followedShown).map(({ id }, index) => (
        <span key={id}>{index > 0 && ', '}<a href={href(`/runs/${id}`)}>{id}</a></span>
      ))}
      {after.length > followedShown && <span class="faint"> and {after.length - followedShown} more</span>}
    </span>
  );
}

interface HeadProps {
  readonly id: number;
  readonly graph: Answer<'getFlowGraph'>;
  readonly onDone: () => void;
}

interface FlowAction {
  readonly name: 'retryFlow' | 'cancelFlow' | 'stopFlow';
  readonly title: string;
  readonly done: string;
  readonly text: string;
  readonly icon: IconName;
  readonly keys: string;
  readonly isDanger: boolean;
}

const actions: readonly FlowAction[] = [
  {
    name: 'retryFlow', title: 'Retry failed runs', done: 'Retried', icon: 'retry', keys: 'r', isDanger: false,
    text: 'Runs that failed start again. Those that were cancelled because of them wait for them again.',
  },
  {
    name: 'cancelFlow', title: 'Cancel flow', done: 'Cancelled', icon: 'cancelled', keys: 'c', isDanger: true,
    text: 'Its open runs are cancelled. Their handlers can clean up.',
  },
  {
    name: 'stopFlow', title: 'Stop flow', done: 'Stopped', icon: 'stop', keys: 'k', isDanger: true,
    text: 'Its open runs end at once, whatever their handlers do.',
  },
];

function Head({ id, graph: { counts, isCut }, onDone }: HeadProps): JSX.Element {
  const isOpen = ['pending', 'held', 'running'].some((standing) => counts[standing as 'held'] !== undefined);
  const hasFailed = counts.failed !== undefined || counts.cancelled !== undefined;
  const offered = actions.filter(({ name }) => mayOperate.value && (name === 'retryFlow' ? hasFailed : isOpen));
  const perform = async ({ name, title, text, done, isDanger }: FlowAction): Promise<void> => {
    const body = await confirm({ title: `${title} of flow ${id}?`, text, action: title, isDanger });
    if (body === null) return;
    await withToast(() => call(name, { params: { id }, body }), ({ runs }) => `${done} ${plural(runs, 'run')} of flow ${id}`);
    onDone();
  };
  useShortcuts(offered.map((action) => ({ keys: action.keys, label: action.title, run: () => void perform(action) })));
  return (
    <header class="page-head">
      <h1>Flow <span class="run-id">{id}</span></h1>
      <Counts counts={counts} isCut={isCut} />
      <div class="page-actions">
        {offered.map((action) => (
          <button
            key={action.name} type="button" class="button" data-kind={action.isDanger ? 'danger' : undefined!}
            onClick={() => void perform(action)}
          >
            <Icon name={action.icon} /> {action.title}
          </button>
        ))}
      </div>
    </header>
  );
}

export const flowPage: Page = { path: '/flows/:id', title: 'Flow', view: Flow };
