/** Past ticks: the run of each, how late it was, or why it was skipped. */
import type { JSX } from 'preact';
import type { Answer } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { pageStart, Pager } from '../../components/pager.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { useResource, type Resource } from '../../state/resource.ts';
import { number, duration } from '../../format.ts';
import { useReloadOnVersion } from './reload-on-version.ts';
import { skipReason } from './labels.ts';

export type Tick = Answer<'listTicks'>['items'][number];

const pageSize = 200;
const onTimeMs = 1_000;

export function useTicks(name: string, version: number): Resource<Answer<'listTicks'>> {
  const after = pageStart();
  const query = { limit: pageSize, ...(after === undefined ? {} : { after }) };
  const ticks = useResource((abort) => call('listTicks', { params: { name }, query }, abort), [name, after]);
  return useReloadOnVersion(ticks, version);
}

interface TicksProps {
  readonly ticks: Resource<Answer<'listTicks'>>;
  /** The description of each schedule, by index. */
  readonly schedules: readonly string[];
}

export function Ticks({ ticks, schedules }: TicksProps): JSX.Element {
  if (ticks.error !== null) return <Failure error={ticks.error} onRetry={ticks.reload} />;
  if (ticks.data === null) return <Loading />;
  const { items, next } = ticks.data;
  return (
    <>
      {items.length === 0 && (
        <Empty title={next === null ? 'No ticks yet' : 'No ticks on this page'} icon="clock">
          {next === null
            ? 'Each tick of the schedules appears here, with its run or the reason it was skipped.'
            : 'Older ticks are on the next page.'}
        </Empty>
      )}
      {items.length > 0 && (
        <Table<Tick> label="Past ticks" rows={merged(items)} idOf={idOf} columns={columnsOf(schedules)} />
      )}
      <Pager next={next} count={items.length} />
    </>
  );
}

/** Merges consecutive ticks of one schedule that were skipped for the same reason. The newest tick comes first. */
function merged(ticks: readonly Tick[]): readonly Tick[] {
  const rows: Tick[] = [];
  for (const tick of ticks) {
    const last = rows.at(-1);
    const isSame = tick.skipped !== null && last?.skipped === tick.skipped && last.schedule === tick.schedule;
    if (!isSame) rows.push(tick);
    else rows[rows.length - 1] = { ...tick, to: last.to ?? last.nominal, count: (last.count ?? 1) + (tick.count ?? 1) };
  }
  return rows;
}

const idOf = ({ n, schedule, nominal }: Tick): string => `${n} ${schedule} ${nominal}`;

const columnsOf = (schedules: readonly string[]): readonly Column<Tick>[] => [
  { title: 'Scheduled for', cell: ({ nominal }) => <Time at={nominal} /> },
  {
    title: 'Outcome', cell: ({ run, skipped }) =>
      skipped === null ? <a href={href(`/runs/${run}`)}>run {run}</a> : <Badge status="cancelled" text="skipped" />,
  },
  { title: 'Late by', class: 'number', cell: ({ lateMs }) => <Late ms={lateMs} /> },
  { title: 'Reason', class: 'wide', cell: (tick) => <Reason tick={tick} /> },
  ...(schedules.length < 2 ? [] : [
    { title: 'Schedule', class: 'minor', cell: ({ schedule }: Tick) => schedules[schedule] ?? `${schedule + 1}` },
  ]),
];

function Late({ ms }: { readonly ms: number | null }): JSX.Element {
  if (ms === null) return <span class="faint">–</span>;
  return ms < onTimeMs ? <span class="faint">{duration(ms)}</span> : <b>{duration(ms)}</b>;
}

function Reason({ tick: { skipped, to, count } }: { readonly tick: Tick }): JSX.Element | null {
  if (skipped === null) return null;
  return (
    <>
      {skipReason(skipped)}
      {count !== null && count > 1 && (
        <span class="faint">{' · '}{number(count)} in a row, last <Time at={to} /></span>
      )}
    </>
  );
}
