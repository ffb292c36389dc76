/** The calendar of a definition: the runs, skipped ticks and planned ticks of one month. */
import type { JSX } from 'preact';
import type { Answer } from '../../../../src/http/contract.ts';
import { Icon } from '../../components/icon.tsx';
import { href, queryOf, setQuery } from '../../router.ts';
import { now } from '../../state/clock.ts';
import { timeMode } from '../../state/preferences.ts';
import { number, timestamp } from '../../format.ts';
import type { Tick } from './ticks.tsx';
import { skipReason, tickLabel } from './labels.ts';

type Planned = Answer<'previewDef'>['items'][number];

interface CalendarProps {
  readonly past: readonly Tick[];
  readonly planned: readonly Planned[];
  /** How many planned ticks were requested. If this many came, further ticks after the last are unknown. */
  readonly plannedMax: number;
}

interface Entry {
  readonly at: number;
  readonly kind: 'ran' | 'skipped' | 'planned';
  readonly count: number;
  readonly run: number | null;
  readonly title: string;
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const entriesShown = 3;

export function Calendar({ past, planned, plannedMax }: CalendarProps): JSX.Element {
  const zone = timeMode.value === 'UTC' ? 'UTC' : 'local';
  const today = timestamp(now.value, zone).slice(0, 10);
  const month = shownMonth(today);
  const days = Map.groupBy(entriesOf(past, planned), ({ at }) => timestamp(at, zone).slice(0, 10));
  const horizon = planned.length < plannedMax ? null : timestamp(planned.at(-1)!.due, zone).slice(0, 10);
  return (
    <section class="card" aria-label="Calendar">
      <Head month={month} today={today} zone={zone} />
      <table class="calendar">
        <thead><tr>{weekdays.map((day) => <th key={day} scope="col">{day}</th>)}</tr></thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td
                  key={day} data-other={!day.startsWith(month)} data-today={day === today}
                  data-empty={!days.has(day)}
                >
                  <Day
                    day={day} zone={zone} entries={days.get(day) ?? []} isBeyond={horizon !== null && day >= horizon}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function shownMonth(today: string): string {
  const chosen = queryOf('month');
  return /^\d{4}-\d{2}$/.test(chosen) ? chosen : today.slice(0, 7);
}

interface HeadProps {
  readonly month: string;
  readonly today: string;
  readonly zone: 'UTC' | 'local';
}

function Head({ month, today, zone }: HeadProps): JSX.Element {
  const show = (by: number): void => {
    const next = shifted(month, by);
    setQuery({ month: next === today.slice(0, 7) ? null : next }, false);
  };
  return (
    <div class="calendar-head">
      <h2>{monthName(month)}</h2>
      <span class="faint">times in {zone === 'UTC' ? 'UTC' : 'your time zone'}</span>
      <span class="calendar-steps">
        <button type="button" class="plain" aria-label="Previous month" onClick={() => show(-1)}>
          <Icon name="left" />
        </button>
        <button type="button" class="button" onClick={() => setQuery({ month: null }, false)}>Today</button>
        <button type="button" class="plain" aria-label="Next month" onClick={() => show(1)}>
          <Icon name="right" />
        </button>
      </span>
    </div>
  );
}

interface DayProps {
  readonly day: string;
  readonly zone: 'UTC' | 'local';
  readonly entries: readonly Entry[];
  /** Whether the day may have more planned ticks than were requested. */
  readonly isBeyond: boolean;
}

function Day({ day, zone, entries, isBeyond }: DayProps): JSX.Element {
  const total = entries.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <time class="calendar-day" dateTime={day}>
        {Number(day.slice(8))}<span> {monthName(day.slice(0, 7)).split(' ')[0]}</span>
      </time>
      <ul>
        {total <= entriesShown
          ? entries.map((entry) => (
            <li key={`${entry.kind} ${entry.at}`}>
              <Mark entry={entry} text={timestamp(entry.at, zone).slice(11, 16)} />
            </li>
          ))
          : sumsOf(entries).map((entry) => (
            <li key={entry.kind}><Mark entry={entry} text={`${number(entry.count)} ${entry.kind}`} /></li>
          ))}
        {isBeyond && <li class="faint" title="Later ticks are not computed">and more</li>}
      </ul>
    </>
  );
}

const icons = { ran: 'play', skipped: 'cancelled', planned: 'clock' } as const;

interface MarkProps {
  readonly entry: Entry;
  readonly text: string;
}

function Mark({ entry: { kind, run, title, count }, text }: MarkProps): JSX.Element {
  const rest = kind === 'skipped' && count === 1 && <span class="reader-only"> skipped</span>;
  const inner = <><Icon name={icons[kind]} />{text}{rest}</>;
  return run === null
    ? <span class="mark" data-kind={kind} title={title}>{inner}</span>
    : <a class="mark" data-kind={kind} title={title} href={href(`/runs/${run}`)}>{inner}</a>;
}

const entriesOf = (past: readonly Tick[], planned: readonly Planned[]): Entry[] => [
  ...past.toReversed().map(({ nominal, run, skipped, count }): Entry => (skipped === null
    ? { at: nominal, kind: 'ran', count: 1, run, title: `Run ${run}` }
    : { at: nominal, kind: 'skipped', count: count ?? 1, run: null, title: `Skipped: ${skipReason(skipped)}` })),
  ...planned.map(({ due, does, remark }): Entry => ({
    at: due, kind: does === 'is skipped' ? 'skipped' : 'planned', count: 1, run: null,
    title: remark ?? tickLabel(does).text,
  })),
];

function sumsOf(entries: readonly Entry[]): Entry[] {
  const sums = Map.groupBy(entries, ({ kind }) => kind);
  return [...sums].map(([kind, all]) => ({
    ...all[0]!, kind, run: null, count: all.reduce((sum, { count }) => sum + count, 0), title: `${all.length} ${kind}`,
  }));
}

const dayMs = 86_400_000;
const firstOf = (month: string): number => Date.parse(`${month}-01T00:00:00Z`);
const isoDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

function shifted(month: string, by: number): string {
  const date = new Date(firstOf(month));
  date.setUTCMonth(date.getUTCMonth() + by);
  return date.toISOString().slice(0, 7);
}

/** Returns the days of a month by week, each from Monday to Sunday. */
function weeksOf(month: string): string[][] {
  const first = firstOf(month);
  const monday = first - ((new Date(first).getUTCDay() + 6) % 7) * dayMs;
  const weeks: string[][] = [];
  for (let week = monday; week < firstOf(shifted(month, 1)); week += 7 * dayMs) {
    weeks.push(weekdays.map((_, index) => isoDay(week + index * dayMs)));
  }
  return weeks;
}

const monthName = (month: string): string =>
  new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(firstOf(month));
