/** Audit: who did what to which run or definition, when and why, and what it changed. */
import type { JSX } from 'preact';
import type { Answer } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { pageStart, Pager, setFilter, Table, type Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { Page } from '../page.ts';
import { href, queryOf } from '../router.ts';
import { useAnswer } from '../state/answer.ts';
import { useChanges } from '../state/live.ts';
import { differences, type Difference } from './audit/difference.ts';

type Deed = Answer<'audit'>['items'][number];

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
  const list = useAnswer((abort) => call('audit', { query }, abort), [action, by, job, after]);
  useChanges({ kind: ['audit'] }, list.reload);
  const rows = list.data?.items ?? [];
  const isFiltered = action !== '' || by !== '' || job !== '';
  return (
    <>
      <header class="page-head">
        <h1>Audit</h1>
        <div class="page-acts">
          <Filter name="action" label="Deed" value={action} />
          <Filter name="by" label="Who" value={by} />
          <Filter name="job" label="Run" value={job} />
        </div>
      </header>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && rows.length === 0 && (
        <Empty title={isFiltered ? 'Nobody did that' : 'Nobody has done anything yet'} icon="operations">
          {isFiltered
            ? <a href={href('/audit')}>Show all</a>
            : 'What people do to runs and definitions is kept here, with their name and reason.'}
        </Empty>
      )}
      {rows.length > 0 && <Table<Deed> label="Audit" rows={rows} columns={columns} idOf={({ id }) => id} />}
      {list.data !== null && <Pager next={list.data.next} count={rows.length} />}
    </>
  );
}

interface FilterProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
}

/** Exact, since that is how it is found. */
const Filter = ({ name, label, value }: FilterProps): JSX.Element => (
  <input
    class="control short" type="search" aria-label={label} placeholder={label} value={value}
    onChange={({ currentTarget }) => setFilter({ [name]: currentTarget.value.trim() })}
  />
);

const columns: readonly Column<Deed>[] = [
  { title: 'When', cell: ({ at }) => <Time at={at} /> },
  { title: 'Who', cell: ({ by }) => <a href={href('/audit', { by })}>{by}</a> },
  { title: 'Deed', cell: ({ action }) => <a class="strong" href={href('/audit', { action })}>{action}</a> },
  { title: 'To', cell: (deed) => <Whom deed={deed} /> },
  {
    title: 'Why',
    cell: ({ why }) => (why === null ? <span class="faint">–</span> : <span class="why" title={why}>{why}</span>),
  },
  { title: 'What changed', class: 'wide', cell: ({ before, after }) => <Changes all={differences(before, after)} /> },
];

function Whom({ deed: { job, def } }: { readonly deed: Deed }): JSX.Element {
  if (job !== null) return <a href={href(`/runs/${job}`)}>run {job}</a>;
  return def === null ? <span class="faint">–</span> : <a href={href('/definitions', { name: def })}>{def}</a>;
}

const changesShown = 4;

function Changes({ all }: { readonly all: readonly Difference[] }): JSX.Element | null {
  if (all.length === 0) return null;
  const rest = all.length - changesShown;
  return (
    <ul class="changes">
      {all.slice(0, changesShown).map(({ part, before, after }) => (
        <li key={part}>
          <span class="faint">{part}</span> <del>{before ?? 'nothing'}</del> → <ins>{after ?? 'nothing'}</ins>
        </li>
      ))}
      {rest > 0 && <li class="faint">and {rest} more</li>}
    </ul>
  );
}

export const auditPage: Page = {
  path: '/audit', title: 'Audit', view: Audit, needs: 'operator', nav: { icon: 'edit', key: 'a', group: 'Machine' },
};
