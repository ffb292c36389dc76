/** The calendar over all definitions: the ticks of each hour, how much work they are, and which definitions have the most. */
import type { JSX } from 'preact';
import type { Answer } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Badge } from '../../components/badge.tsx';
import { SelectField } from '../../components/field.tsx';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { duration, number } from '../../format.ts';
import { href, queryOf, setQuery } from '../../router.ts';
import { timeMode } from '../../state/preferences.ts';
import { useResource } from '../../state/resource.ts';

type Calendar = Answer<'calendar'>;
type Hour = Calendar['hours'][number];
type Busy = Calendar['busiest'][number];

const spans = [{ value: '24', label: 'next 24 hours' }, { value: '168', label: 'next 7 days' }];

export function ScheduleLoad(): JSX.Element {
  const hours = queryOf('hours') === '168' ? 168 : 24;
  const zone = timeMode.value === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const calendar = useResource((abort) => call('calendar', { query: { hours, zone } }, abort), [hours, zone]);
  return (
    <>
      <BackLink path="/definitions" title="Definitions" />
      <header class="page-head">
        <h1>Calendar</h1>
        <div class="page-actions">
          <SelectField
            label="Range" value={String(hours)} options={spans} onChange={(value) => setQuery({ hours: value }, false)}
          />
        </div>
      </header>
      {calendar.error !== null && <Failure error={calendar.error} onRetry={calendar.reload} />}
      {calendar.data === null && calendar.error === null && <Loading />}
      {calendar.data !== null && <Load calendar={calendar.data} />}
    </>
  );
}

function Load({ calendar: { hours, busiest, definitions, unknown, zone } }: { readonly calendar: Calendar }): JSX.Element {
  const most = Math.max(1, ...hours.map(({ ticks }) => ticks));
  if (definitions === 0) return <Empty title="No ticks in these hours" icon="clock">No enabled definition is scheduled.</Empty>;
  return (
    <div class="stack">
      <p class="note">
        {number(definitions)} definitions have ticks in these hours; times in {zone}.
        {unknown > 0 && ` Of ${number(unknown)} more the ticks are not known, because they count from their runs.`}
      </p>
      <Table<Hour> label="Ticks per hour" rows={hours} idOf={({ at }) => String(at)} columns={hourColumns(most)} />
      <h2>Definitions with the most ticks</h2>
      <Table<Busy> label="Definitions with the most ticks" rows={busiest} idOf={({ name }) => name} columns={busyColumns} />
    </div>
  );
}

const linkOf = (name: string): JSX.Element => <a href={href('/definitions', { name })}>{name}</a>;

const hourColumns = (most: number): readonly Column<Hour>[] => [
  { title: 'Hour', cell: ({ shown }) => <span class="id">{shown.slice(0, 16)}</span> },
  { title: 'Ticks', class: 'number', cell: ({ ticks }) => number(ticks) },
  { title: 'Share', class: 'minor', cell: ({ ticks, shown }) => <progress max={most} value={ticks} aria-label={`${ticks} ticks at ${shown}`} /> },
  { title: 'Definitions', class: 'number', cell: ({ definitions }) => number(definitions) },
  { title: 'Runs at a time', class: 'number', cell: ({ load }) => (load === null ? <span class="faint">–</span> : load.toFixed(2)) },
  {
    title: 'Most ticks', class: 'wide',
    cell: ({ most: names }) => names.map(({ name, ticks }) => <span key={name}>{linkOf(name)} {number(ticks)} </span>),
  },
];

const busyColumns: readonly Column<Busy>[] = [
  { title: 'Definition', cell: ({ name }) => linkOf(name) },
  { title: 'Ticks', class: 'number', cell: ({ ticks }) => number(ticks) },
  { title: 'Last run took', class: 'number', cell: ({ lastRunMs }) => (lastRunMs === null ? <span class="faint">–</span> : duration(lastRunMs)) },
  { title: 'Note', class: 'wide', cell: ({ overlapsItself }) => overlapsItself && <Badge status="held" text="longer than the time between its ticks" /> },
];
