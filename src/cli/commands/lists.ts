/** `stint types`, `instances`, `events` and `schedule`: read-only lists and previews. */
import type { Command } from 'commander';
import { instanceView } from '../../http/views.ts';
import { Refusal } from '../../refusal.ts';
import { preview } from '../../time/preview.ts';
import { systemClock } from '../../time/clock.ts';
import { isOutputClosed, printJson, printLine, printTable, timeCell } from '../print.ts';
import { addScheduleFlags, scheduleOf, type ScheduleFlags } from '../schedule-flags.ts';
import { addStoreFlags, withEngine, type CommonFlags } from '../session.ts';
import { showType } from './show-type.ts';

interface PreviewFlags extends CommonFlags, ScheduleFlags {
  readonly count: string;
}

export function listCommands(program: Command): void {
  const types = program.command('types').description('list and show job types');
  addStoreFlags(types.command('ls').description('list job types with the instances that run them')).action(listTypes);
  addStoreFlags(types.command('show <name>').description('show the settings of a job type and the schema of its input'))
    .action(showType);
  const instances = program.command('instances').description('list running engines');
  addStoreFlags(
    instances.command('ls').description('list instances with the age of their heartbeat'),
  ).action(listInstances);
  const events = program.command('events').description('follow events');
  addStoreFlags(events.command('tail').description('print every event as it happens')).action(tail);
  const schedule = program.command('schedule').description('preview schedules');
  addScheduleFlags(
    schedule.command('preview').description('show the next ticks and the effect of daylight saving on them'),
  )
    .option('--count <n>', 'number of ticks', '10')
    .option('--json', 'print JSON')
    .action(previewTicks);
}

const listTypes = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const now = engine.now();
    const alive = (await engine.instances()).filter(({ leaseUntil }) => leaseUntil > now);
    const names = [...new Set(alive.flatMap(({ about }) => about.types))].sort();
    const types = names.map((name) => ({
      name,
      instances: alive.filter(({ about }) => about.types.includes(name)).map(({ id }) => id),
    }));
    if (options.json) return printJson({ items: types });
    printTable(
      ['TYPE', 'INSTANCES'],
      types.map(({ name, instances }) => [name, instances.join(', ')]),
    );
  });

const listInstances = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const now = engine.now();
    const all = await engine.instances();
    if (options.json) return printJson({ items: all.map((instance) => instanceView(instance, now, engine.instance)) });
    printTable(
      ['ID', 'ALIVE', 'LEADS', 'HEARTBEAT', 'BUSY', 'SLOTS', 'VERSION', 'TYPES'],
      all.map(({ id, beatAt, leaseUntil, about }) => [
        id,
        leaseUntil > now ? 'yes' : 'no',
        leaseUntil > now && about.leads === true ? 'yes' : null,
        `${Math.round((now - beatAt) / 1000)}s ago`,
        about.busy,
        about.slots,
        about.version,
        about.types.join(', '),
      ]),
    );
  });

const tail = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    for await (const { job, type, event } of engine.events()) {
      if (isOutputClosed()) return;
      if (options.json) printLine(JSON.stringify({ job, type, event }));
      else printLine(`${timeCell(event.at)} ${String(job).padStart(6)} ${type} ${event.kind} by ${event.by}`);
    }
  });

function previewTicks(options: PreviewFlags): void {
  const ticks = preview(scheduleOf(options) ?? noSchedule(), { from: systemClock.now(), count: Number(options.count) });
  if (options.json) return printJson(ticks);
  printTable(
    ['DUE (UTC)', 'LOCAL TIME', 'REMARK'],
    ticks.map(({ due, shown, remark }) => [timeCell(due), shown, remark ?? null]),
  );
}

function noSchedule(): never {
  throw new Refusal('malformed.schedule', 'specify a schedule with --cron, --every, --repeat or --at', {});
}
