/** The ticks of a range of time: the run of each, why it was skipped, or that it has none. */
import type { JSX } from 'preact';
import type { Answer } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { pageStart, Pager } from '../../components/pager.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { useResource } from '../../state/resource.ts';
import { skipReason } from './labels.ts';
import { useReloadOnVersion } from './reload-on-version.ts';

type RangeTick = Answer<'listPastTicks'>['items'][number];

const pageSize = 100;

interface RangeTicksProps {
  readonly name: string;
  readonly version: number;
  readonly from: string;
  readonly to: string;
}

export function RangeTicks({ name, version, from, to }: RangeTicksProps): JSX.Element {
  const query = {
    limit: pageSize,
    ...(from === '' ? {} : { from }),
    ...(to === '' ? {} : { to }),
    // The next page ends where this one began.
    ...(pageStart() === undefined ? {} : { to: pageStart()! }),
  };
  const ticks = useReloadOnVersion(
    useResource((abort) => call('listPastTicks', { params: { name }, query }, abort), [name, from, to, pageStart()]), version,
  );
  if (ticks.error !== null) return <Failure error={ticks.error} onRetry={ticks.reload} />;
  if (ticks.data === null) return <Loading />;
  const { items, next } = ticks.data;
  if (items.length === 0) {
    return <Empty title="No ticks in this range" icon="clock">Its schedules have no tick here, and none is recorded.</Empty>;
  }
  return (
    <>
      <Table<RangeTick> label="Ticks of the range" rows={items} idOf={idOf} columns={columns} />
      <Pager next={next} count={items.length} />
    </>
  );
}

const idOf = ({ schedule, nominal, run }: RangeTick): string => `${schedule} ${nominal} ${run}`;

const columns: readonly Column<RangeTick>[] = [
  { title: 'In its zone', cell: ({ shown }) => <span class="id">{shown}</span> },
  { title: 'Scheduled for', class: 'minor', cell: ({ nominal }) => <Time at={nominal} /> },
  { title: 'Outcome', cell: (tick) => <Outcome tick={tick} /> },
  { title: 'Run', cell: ({ run }) => run !== null && <a href={href(`/runs/${run}`)}>run {run}</a> },
  { title: 'Note', class: 'wide', cell: (tick) => <Note tick={tick} /> },
];

function Outcome({ tick: { outcome, standing } }: { readonly tick: RangeTick }): JSX.Element {
  if (outcome === 'missing') return <Badge status="failed" text="missing" />;
  if (outcome === 'due') return <Badge status="pending" text="due" />;
  if (outcome === 'skipped') return <Badge status="cancelled" text="skipped" />;
  return standing === null ? <span class="faint">run deleted</span> : <Badge status={standing} />;
}

function Note({ tick: { skipped, backfill, remark } }: { readonly tick: RangeTick }): JSX.Element {
  return (
    <>
      {skipped !== null && <span>{skipReason(skipped)} </span>}
      {backfill !== null && <span><a href={href(`/runs/${backfill}`)}>backfill {backfill}</a> </span>}
      {remark}
    </>
  );
}
