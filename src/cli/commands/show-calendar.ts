/** `stint schedule calendar`: how many ticks all definitions have in each hour. */
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable } from '../print.ts';
import type { CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';
import { formatDuration } from '../../time/duration.ts';

export interface CalendarFlags extends CommonFlags {
  readonly from?: string;
  readonly hours: string;
  readonly zone?: string;
}

export const showCalendar = ({ from, hours, zone, ...options }: CalendarFlags): Promise<void> =>
  withApi(options, async (api) => {
    const calendar = await api.call('calendar', {
      query: {
        hours: wholeNumber('--hours', hours),
        ...(from === undefined ? {} : { from }),
        ...(zone === undefined ? {} : { zone }),
      },
    });
    if (options.json) return printJson(calendar);
    printTable(
      [`HOUR (${calendar.zone})`, 'TICKS', 'DEFINITIONS', 'RUNS AT A TIME', 'MOST TICKS'],
      calendar.hours.map(({ shown, ticks, definitions, load, most }) =>
        [shown.slice(0, 16), ticks, definitions, load === null ? null : load.toFixed(2), namesOf(most)]),
    );
    for (const { name, lastRunMs, overlapsItself } of calendar.busiest) {
      if (overlapsItself) printLine(`${name}: its last run took ${formatDuration(lastRunMs!)}, longer than the time between its ticks`);
    }
    if (calendar.unknown > 0) printLine(`Not counted: ${calendar.unknown} whose ticks count from their runs`);
  });

const namesOf = (most: readonly { readonly name: string; readonly ticks: number }[]): string | null =>
  most.map(({ name, ticks }) => `${name} ${ticks}`).join(', ') || null;
