/** Operations: bulk actions, who requested them and why, and how far they are. */
import type { JSX } from 'preact';
import type { OperationView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Chip, RunBadge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager } from '../components/pager.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Elapsed, Time } from '../components/time.tsx';
import { withToast } from '../components/toast.tsx';
import { exactText } from '../exact-json.ts';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { useChanges } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { isOpen } from '../state/run-status.ts';
import { mayOperate } from '../state/session.ts';
import { number } from '../format.ts';

const pageSize = 50;

function Operations(): JSX.Element {
  const after = pageStart();
  const query = { limit: pageSize, ...(after === undefined ? {} : { after }) };
  const list = useResource((abort) => call('listOperations', { query }, abort), [after]);
  useChanges({ kind: ['run'] }, list.reload);
  const rows = list.data?.items ?? [];
  return (
    <>
      <header class="page-head"><h1>Operations</h1></header>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && (
        <Empty title="No bulk operations yet" icon="operations">
          Select all matching <a href={href('/runs')}>runs</a>, or act on a group of{' '}
          <a href={href('/failures')}>failures</a>.
        </Empty>
      )}
      {rows.length > 0 && (
        <Table<OperationView>
          label="Operations" rows={rows} columns={columns} idOf={({ run }) => run.id}
          pathOf={({ run }) => `/runs/${run.id}`}
        />
      )}
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
    </>
  );
}

const columns: readonly Column<OperationView>[] = [
  {
    title: 'Operation',
    cell: ({ run, action, only }) => (
      <a class="strong" href={href(`/runs/${run.id}`)}>
        {action}{only === null ? '' : ' failed tasks'} <span class="id">{run.id}</span>
      </a>
    ),
  },
  { title: 'State', cell: ({ run }) => <RunBadge run={run} /> },
  { title: 'Progress', cell: (operation) => <Progress operation={operation} /> },
  { title: 'Filter', cell: ({ query, fingerprint }) => <Filter query={query} fingerprint={fingerprint} /> },
  { title: 'User', cell: ({ by }) => by },
  { title: 'Reason', class: 'wide', cell: ({ why }) => <span title={why ?? ''}>{why}</span> },
  { title: 'Requested', cell: ({ run }) => <Time at={run.createdAt} /> },
  { title: 'Duration', class: 'number minor spare', cell: ({ run }) => <Elapsed from={run.startedAt} to={run.endedAt} /> },
  {
    title: '', class: 'actions',
    cell: ({ run, action }) =>
      mayOperate.value && isOpen(run) && run.cancel === null && <Abort id={run.id} action={action} />,
  },
];

function Progress({ operation }: { readonly operation: OperationView }): JSX.Element {
  const { run, done } = operation;
  if (done !== null) return <span>{number(done)} done<Refused operation={operation} /></span>;
  const stage = run.progress?.stage ?? null;
  if (stage === null) return <span class="faint">not started</span>;
  const total = stage.total ?? operation.total;
  // A cancel skips the remaining items. They do not count.
  const ended = stage.done + stage.failed;
  const far = total === null ? `${number(ended)} so far` : `${number(ended)} of ${number(total)}`;
  return (
    <span class="advance">
      {total !== null && <progress max={Math.max(1, total)} value={ended} aria-label={far} />}
      {' '}{far}
    </span>
  );
}

function Refused({ operation: { refused } }: { readonly operation: OperationView }): JSX.Element | null {
  const codes = Object.entries(refused);
  if (codes.length === 0) return null;
  return (
    <span class="faint" title={codes.map(([code, count]) => `${code}: ${count}`).join('\n')}>
      , {number(codes.reduce((sum, [, count]) => sum + count, 0))} refused
    </span>
  );
}

const fieldNames: Readonly<Record<string, string>> = { types: 'type', standings: 'state', kinds: 'kind' };
const everyKind = ['run', 'bedrock'];

/** Shows the filter of an operation, with the fields of the store's query. */
function Filter({ query, fingerprint }: Pick<OperationView, 'query' | 'fingerprint'>): JSX.Element {
  const shown = Object.entries(query).filter(([name, value]) =>
    name !== 'kinds' || JSON.stringify(value) !== JSON.stringify(everyKind));
  return (
    <span class="chips-row">
      {shown.length === 0 && fingerprint === null && <span class="faint">all runs</span>}
      {shown.map(([name, value]) => (
        <Chip key={name}>{fieldNames[name] ?? name} {text(value)}</Chip>
      ))}
      {fingerprint !== null && <Chip title="One group of failures">failure {fingerprint.slice(0, 8)}</Chip>}
    </span>
  );
}

const text = (value: unknown): string =>
  Array.isArray(value) ? value.map(text).join(', ') : typeof value === 'string' ? value : exactText(value, 0);

function Abort({ id, action }: { readonly id: number; readonly action: string }): JSX.Element {
  const abort = async (): Promise<void> => {
    const text = 'It stops. Jobs that it has already changed stay changed.';
    const body = await confirm({ title: `Abort operation ${id}?`, text, action: 'Abort operation', isDanger: true });
    if (body !== null) {
      await withToast(() => call('cancelRun', { params: { id }, body }), () => `Aborting operation ${id}`);
    }
  };
  return (
    <button
      type="button" class="button" data-kind="danger" aria-label={`Abort ${action} ${id}`} onClick={() => void abort()}
    >
      Abort
    </button>
  );
}

export const operationsPage: Page = {
  path: '/operations', title: 'Operations', view: Operations, nav: { icon: 'operations', key: 'b', group: 'Machine' },
};
