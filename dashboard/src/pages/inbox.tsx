/** Inbox: the requests that programs have written in SQL, and why those that are refused did not become runs. */
import type { JSX } from 'preact';
import type { Answer } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager } from '../components/pager.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { withToast } from '../components/toast.tsx';
import type { Page } from '../page.ts';
import { useInterval } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { mayOperate } from '../state/session.ts';

type Request = Answer<'listInbox'>['items'][number];

const pageSize = 100;
const reloadMs = 5_000;

function Inbox(): JSX.Element {
  const after = pageStart();
  const query = { limit: pageSize, ...(after === undefined ? {} : { after }) };
  const list = useResource((abort) => call('listInbox', { query }, abort), [after]);
  useInterval(list.reload, reloadMs);
  const rows = list.data?.items ?? [];
  return (
    <>
      <header class="page-head"><h1>Inbox</h1></header>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && (
        <Empty title="The inbox is empty" icon="queues">
          Requests that programs write in SQL with <code>stint.enqueue</code> become runs at once. Those that are refused
          stay here, with the reason.
        </Empty>
      )}
      {rows.length > 0 && (
        <Table<Request> label="Requests" rows={rows} columns={columnsWith(list.reload)} idOf={({ id }) => id} />
      )}
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
    </>
  );
}

const columnsWith = (onChange: () => void): readonly Column<Request>[] => [
  { title: 'Request', cell: ({ id }) => id },
  { title: 'Written', cell: ({ at }) => <Time at={at} /> },
  { title: 'Type', cell: ({ type }) => <span class="name">{type}</span> },
  {
    title: 'Standing',
    cell: ({ refused }) => (refused === null
      ? <Badge status="pending" text="waiting" />
      : <Badge status="failed" text={refused.code} />),
  },
  { title: 'Reason', class: 'wide', cell: ({ refused }) => <span title={refused?.message}>{refused?.message ?? '–'}</span> },
  { title: '', cell: (request) => (mayOperate.value ? <Actions request={request} onChange={onChange} /> : null) },
];

interface ActionsProps {
  readonly request: Request;
  readonly onChange: () => void;
}

function Actions({ request: { id, refused }, onChange }: ActionsProps): JSX.Element {
  return (
    <>
      {refused !== null && (
        <button type="button" class="button" aria-label={`Retry request ${id}`} onClick={() => void retry(id, onChange)}>
          <Icon name="retry" /> Retry
        </button>
      )}{' '}
      <button type="button" class="button" aria-label={`Delete request ${id}`} onClick={() => void remove(id, onChange)}>
        <Icon name="trash" /> Delete
      </button>
    </>
  );
}

async function retry(id: number, onChange: () => void): Promise<void> {
  const params = { id };
  await withToast(() => call('retryInboxRequest', { params, body: {} }), () => `Request ${id} waits again`);
  onChange();
}

async function remove(id: number, onChange: () => void): Promise<void> {
  const text = 'The request is deleted, and no run is created.';
  const query = await confirm({ title: `Delete request ${id}?`, text, action: 'Delete request', isDanger: true });
  if (query === null) return;
  await withToast(() => call('removeInboxRequest', { params: { id }, query }), () => `Deleted request ${id}`);
  onChange();
}

export const inboxPage: Page = {
  path: '/inbox', title: 'Inbox', view: Inbox, nav: { icon: 'export', key: 'x', group: 'Plan' },
};
