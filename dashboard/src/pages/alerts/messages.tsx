/** The dialog with the messages of an alert: those that were sent, and those that are to be sent. */
import type { JSX } from 'preact';
import type { SentAlertView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useInterval } from '../../state/live.ts';
import { useResource } from '../../state/resource.ts';

const reloadMs = 2_000;
const shown = 50;

interface SentProps {
  readonly alert: string;
  readonly onClose: () => void;
}

export function SentMessages({ alert, onClose }: SentProps): JSX.Element {
  const list = useResource(
    (abort) => call('listAlertMessages', { params: { name: alert }, query: { limit: shown } }, abort), [alert]);
  useInterval(list.reload, reloadMs);
  const rows = list.data?.items ?? [];
  return (
    <Dialog title={`Messages of the alert ${alert}`} onClose={onClose}>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && <Empty title="Nothing was sent yet" icon="runs">Test sends a message.</Empty>}
      {rows.length > 0 && (
        <Table<SentAlertView> label="Messages" rows={rows} columns={columns} idOf={({ run }) => run} pathOf={({ run }) => `/runs/${run}`} />
      )}
    </Dialog>
  );
}

const columns: readonly Column<SentAlertView>[] = [
  { title: 'Run', cell: ({ run }) => <a href={`/runs/${run}`}>{run}</a> },
  { title: 'At', cell: ({ at }) => <Time at={at} /> },
  { title: 'State', cell: ({ standing, error }) => <Badge status={standing} title={error ?? undefined!} /> },
  { title: 'About', class: 'wide', cell: ({ message }) => <span>{aboutText(message)}</span> },
];

function aboutText({ isTest, failing, recovered, changes }: SentAlertView['message']): string {
  if (isTest) return 'a test';
  const names = changes.map(({ subject, isFailing }) => `${subject} ${isFailing ? 'is failing' : 'has recovered'}`);
  const others = failing + recovered - changes.length;
  return [...names, ...(others > 0 ? [`${others} more`] : [])].join(', ');
}
