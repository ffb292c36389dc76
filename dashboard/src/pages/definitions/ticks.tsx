/** Past ticks: what became of each occurrence, how late it was, and why it was skipped. */
import type { JSX } from 'preact';
import type { Answer } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { pageStart, Pager, Table, type Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { useAnswer, type Held } from '../../state/answer.ts';
import { number, span } from '../../words.ts';
import { useFresh } from './fresh.ts';
import { skipReason } from './words.ts';

export type Tick = Answer<'listTicks'>['items'][number];

const pageSize = 200;
const onTimeMs = 1_000;

export function useTicks(name: string, version: number): Held<Answer<'listTicks'>> {
  const after = pageStart();
  const query = { limit: pageSize, ...(after === undefined ? {} : { after }) };
  return useFresh(useAnswer((abort) => call('listTicks', { params: { name }, query }, abort), [name, after]), version);
}

interface TicksProps {
  readonly ticks: Held<Answer<'listTicks'>>;
  /** Of each schedule. */
  readonly words: readonly string[];
}

export function Ticks({ ticks, words }: TicksProps): JSX.Element {
  if (ticks.error !== null) return <Failure error={ticks.error} onRetry={ticks.reload} />;
  if (ticks.data === null) return <Loading />;
  const { items, next } = ticks.data;
  return (
    <>
      {items.length === 0 && (
        <Empty title={next === null ? 'It has not ticked yet' : 'No ticks among these events'} icon="clock">
          {next === null
            ? 'Each occurrence of its schedules will be told here, with its run or why it was skipped.'
            : 'Go further to see older ones.'}
        </Empty>
      )}
      {items.length > 0 && (
        <Table<Tick> label="Past ticks" rows={folded(items)} idOf={idOf} columns={columnsOf(words)} />
      )}
      <Pager next={next} count={items.length} />
    </>
  );
}

/** Skips in a row, for the same reason, are one: newest first, as they are listed. */
function folded(ticks: readonly Tick[]): readonly Tick[] {
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

const columnsOf = (words: readonly string[]): readonly Column<Tick>[] => [
  { title: 'Was due', cell: ({ nominal }) => <Time at={nominal} /> },
  {
    title: 'Outcome', cell: ({ run, skipped }) =>
      skipped === null ? <a href={href(`/runs/${run}`)}>run {run}</a> : <Badge look="cancelled" word="skipped" />,
  },
  { title: 'Late by', class: 'number', cell: ({ lateMs }) => <Late ms={lateMs} /> },
  { title: 'Why', class: 'wide', cell: (tick) => <Why tick={tick} /> },
  ...(words.length < 2 ? [] : [
    { title: 'Schedule', class: 'minor', cell: ({ schedule }: Tick) => words[schedule] ?? `${schedule + 1}` },
  ]),
];

function Late({ ms }: { readonly ms: number | null }): JSX.Element {
  if (ms === null) return <span class="faint">–</span>;
  return ms < onTimeMs ? <span class="faint">{span(ms)}</span> : <b>{span(ms)}</b>;
}

function Why({ tick: { skipped, to, count } }: { readonly tick: Tick }): JSX.Element | null {
  if (skipped === null) return null;
  return (
    <>
      {skipReason(skipped)}
      {count !== null && count > 1 && (
        <span class="faint">{' · '}{number(count)} in a row, the last <Time at={to} /></span>
      )}
    </>
  );
}
