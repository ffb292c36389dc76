/** Flows: runs that were created together and of which some follow others, newest first. */
import type { JSX } from 'preact';
import type { Answer } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager } from '../components/pager.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { number } from '../format.ts';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { useChanges } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { standings } from '../state/run-status.ts';

type Flow = Answer<'listFlows'>['items'][number];

const pageSize = 50;

function Flows(): JSX.Element {
  const after = pageStart();
  const query = { limit: pageSize, ...(after === undefined ? {} : { after }) };
  const list = useResource((abort) => call('listFlows', { query }, abort), [after]);
  useChanges({ kind: ['run'] }, list.reload);
  const rows = list.data?.items ?? [];
  return (
    <>
      <header class="page-head"><h1>Flows</h1></header>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && (
        <Empty title="No flows yet" icon="flows">
          Create runs that follow each other with <code>createFlow</code>, or let a{' '}
          <a href={href('/definitions')}>definition</a> follow another one.
        </Empty>
      )}
      {rows.length > 0 && (
        <Table<Flow> label="Flows" rows={rows} columns={columns} idOf={({ id }) => id} pathOf={({ id }) => `/flows/${id}`} />
      )}
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
    </>
  );
}

const columns: readonly Column<Flow>[] = [
  { title: 'Flow', cell: ({ id }) => <a class="strong mono" href={href(`/flows/${id}`)}>{id}</a> },
  { title: 'Runs', cell: ({ counts, isCut }) => <Counts counts={counts} isCut={isCut} /> },
  { title: 'Types', class: 'wide', cell: ({ types }) => types.join(', ') },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

interface CountsProps {
  readonly counts: Flow['counts'];
  readonly isCut: boolean;
}

/** How many runs of a flow have each state. */
export function Counts({ counts, isCut }: CountsProps): JSX.Element {
  return (
    <span class="chips-row">
      {standings.map((standing) => counts[standing] !== undefined && (
        <Badge key={standing} status={standing} text={`${number(counts[standing])} ${standing}`} />
      ))}
      {isCut && <span class="faint">and more</span>}
    </span>
  );
}

export const flowsPage: Page = {
  path: '/flows', title: 'Flows', view: Flows, nav: { icon: 'flows', key: 'n', group: 'Work' },
};
