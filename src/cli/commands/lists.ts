/** `stint types`, `events` and `schedule`: lists and previews, and the pauses of types. */
import type { Command } from 'commander';
import { previewView } from '../../http/views.ts';
import { Refusal } from '../../refusal.ts';
import { describeSchedule } from '../../time/describe.ts';
import { preview } from '../../time/preview.ts';
import { systemClock } from '../../time/clock.ts';
import { wholeNumber } from '../number-flag.ts';
import { outputClosed, printJson, printLine, printTable, timeCell } from '../print.ts';
import { addScheduleFlags, scheduleOf, type ScheduleFlags } from '../schedule-flags.ts';
import { addApiFlags, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';
import { pauseCommands } from './pause-types.ts';
import { showCalendar } from './show-calendar.ts';
import { showType } from './show-type.ts';

interface PreviewFlags extends CommonFlags, ScheduleFlags {
  readonly count: string;
}

export function listCommands(program: Command): void {
  const types = program.command('types').description('list, show, pause and resume job types');
  addApiFlags(types.command('ls').description('list job types with the instances that run them')).action(listTypes);
  addApiFlags(types.command('show <name>').description('show the settings of a job type and the schema of its input'))
    .action(showType);
  pauseCommands(types);
  const events = program.command('events').description('follow events');
  addApiFlags(events.command('tail').description('print every event as it happens')).action(tail);
  const schedule = program.command('schedule').description('preview schedules, and count the ticks of all definitions');
  addScheduleFlags(
    schedule.command('preview').description('show the next ticks and the effect of daylight saving on them'),
  )
    .option('--count <n>', 'number of ticks', '10')
    .option('--json', 'print JSON')
    .action(previewTicks);
  addApiFlags(schedule.command('calendar').description('count the ticks of all enabled definitions in each hour'))
    .option('--from <time>', 'begin with the hour of this time, in ISO 8601 with a zone (default: now)')
    .option('--hours <n>', 'number of hours, at most 168', '24')
    .option('--zone <name>', 'IANA time zone of the hours (default: UTC)')
    .action(showCalendar);
}

const listTypes = (options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items } = await api.call('listTypes');
    if (options.json) return printJson({ items });
    const { items: pauses } = await api.call('listPauses');
    const paused = new Set(pauses.filter(({ key }) => key === null).map(({ type }) => type));
    printTable(
      ['TYPE', 'PENDING', 'HELD', 'RUNNING', 'PAUSED', 'INSTANCES'],
      items.map(({ name, counts: { pending = 0, held = 0, running = 0 }, instances }) =>
        [name, pending, held, running, paused.has(name) ? 'yes' : null, instances.length === 0 ? null : instances.join(', ')]),
    );
  });

const tail = (options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    for await (const change of api.changes(outputClosed)) {
      const { job, type, event } = change;
      if (options.json) printLine(JSON.stringify(change));
      else printLine(`${timeCell(event.at)} ${String(job).padStart(6)} ${type} ${event.kind} by ${event.by}`);
    }
  });

function previewTicks(options: PreviewFlags): void {
  const schedule = scheduleOf(options) ?? noSchedule();
  const ticks = preview(schedule, { from: systemClock.now(), count: wholeNumber('--count', options.count) });
  if (options.json) return printJson({ words: describeSchedule(schedule), ticks: ticks.map(previewView) });
  printTable(
    ['DUE (UTC)', 'LOCAL TIME', 'REMARK'],
    ticks.map(({ due, shown, remark }) => [timeCell(due), shown, remark ?? null]),
  );
}

function noSchedule(): never {
  throw new Refusal('malformed.schedule', 'specify a schedule with --cron, --every, --repeat or --at', {});
}
