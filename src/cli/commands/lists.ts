/** What can be looked at beside runs and definitions: types, instances, events, schedules to come. */
import type { Command } from 'commander';
import { Refusal } from '../../refusal.ts';
import { preview } from '../../time/preview.ts';
import { systemClock } from '../../time/clock.ts';
import { printJson, printLine, printTable, timeCell } from '../print.ts';
import { scheduled, scheduleOf, type ScheduleFlags } from '../schedule-flags.ts';
import { asking, withEngine, type CommonFlags } from '../session.ts';

interface PreviewFlags extends CommonFlags, ScheduleFlags {
  readonly count: string;
}

export function listCommands(program: Command): void {
  const types = program.command('types').description('job types that instances know');
  asking(types.command('ls').description('each with the instances that can run it')).action(listTypes);
  const instances = program.command('instances').description('running engines');
  asking(instances.command('ls').description('with the age of their heartbeat')).action(listInstances);
  const events = program.command('events').description('what happens to jobs');
  asking(events.command('tail').description('every event as it happens')).action(tail);
  const schedule = program.command('schedule').description('schedules to come');
  scheduled(schedule.command('preview').description('the next ticks, with what daylight saving does to them'))
    .option('--count <n>', 'how many', '10')
    .option('--json', 'as JSON')
    .action(previewTicks);
}

const listTypes = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const now = engine.now();
    const living = (await engine.instances()).filter(({ leaseUntil }) => leaseUntil > now);
    const names = [...new Set(living.flatMap(({ about }) => about.types))].sort();
    const types = names.map((name) => ({
      name,
      instances: living.filter(({ about }) => about.types.includes(name)).map(({ id }) => id),
    }));
    if (options.json) return printJson(types);
    printTable(
      ['TYPE', 'INSTANCES'],
      types.map(({ name, instances }) => [name, instances.join(', ')]),
    );
  });

const listInstances = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const now = engine.now();
    const all = await engine.instances();
    if (options.json) return printJson(all);
    printTable(
      ['ID', 'ALIVE', 'BEAT', 'BUSY', 'SLOTS', 'VERSION', 'TYPES'],
      all.map(({ id, beatAt, leaseUntil, about }) => [
        id,
        leaseUntil > now ? 'yes' : 'no',
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
      if (options.json) printLine(JSON.stringify({ job, type, event }));
      else printLine(`${timeCell(event.at)} ${String(job).padStart(6)} ${type} ${event.kind} by ${event.by}`);
    }
  });

function previewTicks(options: PreviewFlags): void {
  const ticks = preview(scheduleOf(options) ?? noSchedule(), { from: systemClock.now(), count: Number(options.count) });
  if (options.json) return printJson(ticks);
  printTable(
    ['DUE (UTC)', 'SHOWN', 'REMARK'],
    ticks.map(({ due, shown, remark }) => [timeCell(due), shown, remark ?? null]),
  );
}

function noSchedule(): never {
  throw new Refusal('malformed.schedule', 'say which schedule: --cron, --every, --repeat or --at', {});
}
