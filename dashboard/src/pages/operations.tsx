/** Operations: what was done to many jobs at once, by whom and why, and how far it is. */
import type { JSX } from 'preact';
import type { OperationView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Chip, RunBadge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager, Table, type Column } from '../components/table.tsx';
import { Lasting, Time } from '../components/time.tsx';
import { attempt } from '../components/toast.tsx';
import { exactText } from '../exact-json.ts';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { useAnswer } from '../state/answer.ts';
import { useChanges } from '../state/live.ts';
import { isOpen } from '../state/run-words.ts';
import { mayOperate } from '../state/session.ts';
import { number } from '../words.ts';

const pageSize = 50;

function Operations(): JSX.Element {
  const after = pageStart();
  const query = { limit: pageSize, ...(after === undefined ? {} : { after }) };
  const list = useAnswer((abort) => call('listOperations', { query }, abort), [after]);
  useChanges({ kind: ['run'] }, list.reload);
  const rows = list.data?.items ?? [];
  return (
    <>
      <header class="page-head"><h1>Operations</h1></header>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && (
        <Empty title="No bulk operations yet" icon="operations">
          Choose runs by a filter, then <a href={href('/runs')}>all that match</a>; or a group of{' '}
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
  { title: 'Progress', cell: (operation) => <Advance operation={operation} /> },
  { title: 'Of which', cell: ({ query, fingerprint }) => <Filter query={query} fingerprint={fingerprint} /> },
  { title: 'By', cell: ({ by }) => by },
  { title: 'Why', class: 'wide', cell: ({ why }) => <span title={why ?? ''}>{why}</span> },
  { title: 'Asked', cell: ({ run }) => <Time at={run.createdAt} /> },
  { title: 'Took', class: 'number minor', cell: ({ run }) => <Lasting from={run.startedAt} to={run.endedAt} /> },
  {
    title: '', class: 'acts',
    cell: ({ run, action }) =>
      mayOperate.value && isOpen(run) && run.cancel === null && <Abort id={run.id} action={action} />,
  },
];

function Advance({ operation: { run, done, refused } }: { readonly operation: OperationView }): JSX.Element {
  const not = Object.entries(refused);
  if (done !== null) {
    return (
      <span>
        {number(done)} done
        {not.length > 0 && (
          <span class="faint" title={not.map(([code, count]) => `${code}: ${count}`).join('\n')}>
            , {number(not.reduce((sum, [, count]) => sum + count, 0))} refused
          </span>
        )}
      </span>
    );
  }
  const stage = run.progress?.stage ?? null;
  if (stage === null) return <span class="faint">not begun</span>;
  const says = `${number(stage.settled)} of ${stage.total === null ? '?' : number(stage.total)}`;
  return (
    <span class="advance">
      {stage.total !== null && <progress max={Math.max(1, stage.total)} value={stage.settled} aria-label={says} />}
      {' '}{says}
    </span>
  );
}

const fieldWords: Readonly<Record<string, string>> = { types: 'type', standings: 'state', kinds: 'kind' };
const everyKind = ['run', 'bedrock'];

/** What was meant, as the store was asked. */
function Filter({ query, fingerprint }: Pick<OperationView, 'query' | 'fingerprint'>): JSX.Element {
  const shown = Object.entries(query).filter(([name, value]) =>
    name !== 'kinds' || JSON.stringify(value) !== JSON.stringify(everyKind));
  return (
    <span class="chips-row">
      {shown.length === 0 && fingerprint === null && <span class="faint">everything</span>}
      {shown.map(([name, value]) => (
        <Chip key={name}>{fieldWords[name] ?? name} {told(value)}</Chip>
      ))}
      {fingerprint !== null && <Chip title="One group of failures">failure {fingerprint.slice(0, 8)}</Chip>}
    </span>
  );
}

const told = (value: unknown): string =>
  Array.isArray(value) ? value.map(told).join(', ') : typeof value === 'string' ? value : exactText(value, 0);

function Abort({ id, action }: { readonly id: number; readonly action: string }): JSX.Element {
  const abort = async (): Promise<void> => {
    const says = 'What it has done stays done; the rest is left as it is.';
    const body = await confirm({ title: `Abort operation ${id}?`, says, verb: 'Abort', isDanger: true });
    if (body !== null) {
      await attempt(() => call('cancelRun', { params: { id }, body }), () => `Operation ${id} was asked to give up`);
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
