/** Audit: the recorded actions on runs and definitions, with actor, time, reason and changed values. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager, setFilter } from '../components/pager.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { Page } from '../page.ts';
import { href, queryOf } from '../router.ts';
import { useChanges } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { differences, type Difference } from './audit/difference.ts';

type AuditEntry = Answer<'audit'>['items'][number];

const pageSize = 100;

function Audit(): JSX.Element {
  const [action, by, job, after] = [queryOf('action'), queryOf('by'), queryOf('job'), pageStart()];
  const query = {
    limit: pageSize,
    ...(action === '' ? {} : { action }),
    ...(by === '' ? {} : { by }),
    ...(/^\d{1,15}$/.test(job) ? { job: Number(job) } : {}),
    ...(after === undefined ? {} : { after }),
  };
  const list = useResource((abort) => call('audit', { query }, abort), [action, by, job, after]);
  useChanges({ kind: ['audit'] }, list.reload);
  const rows = list.data?.items ?? [];
  return (
    <>
      <header class="page-head">
        <h1>Audit</h1>
        <SavedViews page="audit" />
        <div class="page-actions">
          <Filter name="action" label="Action" value={action} />
          <Filter name="by" label="User" value={by} />
          <Filter name="job" label="Run" value={job} />
        </div>
      </header>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && <NoEntries isFiltered={action !== '' || by !== '' || job !== ''} />}
      {rows.length > 0 && <Table<AuditEntry> label="Audit" rows={rows} columns={columns} idOf={({ id }) => id} />}
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
    </>
  );
}

const NoEntries = ({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element => (isFiltered
  ? (
    <Empty title="No matching actions" icon="operations">
      Filters match whole names. <a href={href('/audit')}>Show all actions</a>.
    </Empty>
  )
  : (
    <Empty title="No actions recorded yet" icon="operations">
      Every change to a run or definition appears here, with the user and the reason.
    </Empty>
  ));

interface FilterProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

/**
 * A filter field. It finds exact values only, because the API cannot search for parts of them. What is being typed stays
 * when a new entry renders the page again.
 */
function Filter({ name, label, value }: FilterProps): JSX.Element {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <input
      class="control short" type="search" aria-label={label} placeholder={label} value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onChange={({ currentTarget }) => setFilter({ [name]: currentTarget.value.trim() })}
    />
  );
}

const columns: readonly Column<AuditEntry>[] = [
  { title: 'Time', cell: ({ at }) => <Time at={at} /> },
  { title: 'User', cell: ({ by }) => <a href={href('/audit', { by })}>{by}</a> },
  { title: 'Action', cell: ({ action }) => <a class="strong" href={href('/audit', { action })}>{action}</a> },
  { title: 'Target', cell: (entry) => <Target entry={entry} /> },
  {
    title: 'Reason',
    cell: ({ why }) => (why === null ? <span class="faint">–</span> : <span class="why" title={why}>{why}</span>),
  },
  { title: 'Changes', class: 'wide', cell: ({ before, after }) => <Changes all={differences(before, after)} /> },
];

function Target({ entry: { job, def } }: { readonly entry: AuditEntry }): JSX.Element {
  if (job !== null) return <a href={href(`/runs/${job}`)}>run {job}</a>;
  return def === null ? <span class="faint">–</span> : (
    <a class="name" href={href('/definitions', { name: def })}>{def}</a>
  );
}

const changesShown = 4;

function Changes({ all }: { readonly all: readonly Difference[] }): JSX.Element | null {
  if (all.length === 0) return null;
  const rest = all.length - changesShown;
  return (
    <ul class="changes">
      {all.slice(0, changesShown).map(({ part, before, after }) => (
        <li key={part} title={`${part} ${before ?? 'none'} → ${after ?? 'none'}`.trim()}>
          <span class="faint">{part}</span>{' '}
          {(part !== '' || before !== null) && <><del>{before ?? 'none'}</del> → </>}<ins>{after ?? 'none'}</ins>
        </li>
      ))}
      {rest > 0 && <li class="faint">and {rest} more</li>}
    </ul>
  );
}

export const auditPage: Page = {
  path: '/audit', title: 'Audit', view: Audit, needs: 'operator', nav: { icon: 'edit', key: 'a', group: 'Machine' },
};
