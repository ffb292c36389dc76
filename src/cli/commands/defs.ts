/** `stint defs`: lists, creates, enables, disables, runs and deletes definitions. */
import type { Command } from 'commander';
import type { KnownDefinition } from '../../jobs/define.ts';
import { parseJson } from '../../model/json.ts';
import { describeSchedule } from '../../time/describe.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { attribution, addActionFlags, actor, addStoreFlags, withEngine, type CommonFlags } from '../session.ts';
import { addScheduleFlags, scheduleOf, type ScheduleFlags } from '../schedule-flags.ts';
import { printEvents } from './runs.ts';

interface CreateDefFlags extends CommonFlags, ScheduleFlags {
  readonly type: string;
  readonly params?: string;
}

const eventsShownMax = 20;

export function defsCommand(program: Command): void {
  const defs = program.command('defs').description('manage definitions');
  addStoreFlags(defs.command('ls').description('list definitions')).action(list);
  addStoreFlags(defs.command('show <name>').description('show a definition and its newest events')).action(show);
  addScheduleFlags(addStoreFlags(
    defs.command('create <name>').description('create a definition of a job type, with or without a schedule'),
  ))
    .requiredOption('--type <type>', 'job type of its runs')
    .option('--params <json>', 'input of its runs')
    .action(create);
  addActionFlags(defs.command('delete <name>').description('delete a definition; its runs stay')).action(remove);
  addActionFlags(
    defs.command('reset <name>').description('remove the override; the declared settings apply again'),
  ).action(reset);
  addActionFlags(defs.command('enable <name>').description('resume its schedules')).action(enable);
  addActionFlags(defs.command('disable <name>').description('suspend its schedules')).action(disable);
  addActionFlags(defs.command('run <name>').description('create a run now'))
    .option('--input <json>', 'input to use instead of its parameters')
    .action(run);
}

const list = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const all = await engine.definitions();
    if (options.json) return printJson(all);
    printTable(
      ['NAME', 'TYPE', 'ENABLED', 'NEXT', 'SCHEDULES'],
      all.map((def) => [
        def.name,
        def.spec.type,
        def.isEnabled ? 'yes' : 'no',
        timeCell(def.nextDue),
        schedulesOf(def),
      ]),
    );
  });

const show = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const def = await engine.definition(name);
    if (options.json) return printJson(def);
    printLine(`${styled('bold', def.name)}  ${def.isEnabled ? 'enabled' : 'disabled'}  ${def.spec.type}`);
    printLine(`  schedules  ${schedulesOf(def) || 'none'}`);
    printLine(`  next       ${timeCell(def.nextDue) ?? 'never'}`);
    printLine(`  overlap    ${def.spec.overlap}, misfire ${def.spec.misfire.policy}`);
    if (def.override) printLine(`  override   ${JSON.stringify(def.override)}`);
    return printEvents((await engine.history(def.job.id)).slice(-eventsShownMax));
  });

const create = (name: string, options: CreateDefFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const schedule = scheduleOf(options);
    const params = options.params === undefined ? {} : { params: parseJson(options.params) };
    await engine.define(
      name,
      options.type,
      { ...params, ...(schedule ? { schedules: schedule } : {}) },
      { by: actor() },
    );
    return printResult({ name }, `Created definition ${name}. Show it: stint defs show '${name}'`, options);
  });

const remove = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.undefine(name, attribution(options));
    return printResult({ name }, `Deleted definition ${name}`, options);
  });

const reset = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.override(name, null, attribution(options));
    return printResult({ name, override: null }, `Removed the override of definition ${name}`, options);
  });

const enable = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.enable(name, attribution(options));
    return printResult({ name, isEnabled: true }, `Enabled definition ${name}`, options);
  });

const disable = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.disable(name, attribution(options));
    return printResult({ name, isEnabled: false }, `Disabled definition ${name}`, options);
  });

const run = (name: string, options: CommonFlags & { readonly input?: string }): Promise<void> =>
  withEngine(options, async (engine) => {
    const input = options.input === undefined ? {} : { input: parseJson(options.input) };
    const { id } = await engine.createNamed({ def: name }, input, actor());
    return printResult({ id }, `Created run ${id} (${name}). Follow it: stint runs watch ${id}`, options);
  });

const schedulesOf = ({ spec }: KnownDefinition): string => spec.schedules.map(describeSchedule).join('; ');

function printResult(value: unknown, sentence: string, { json }: CommonFlags): void {
  if (json) printJson(value);
  else printLine(sentence);
}
