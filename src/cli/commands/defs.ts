/** `stint defs`: list and look at definitions, switch them on and off, run them now. */
import type { Command } from 'commander';
import type { KnownDefinition } from '../../jobs/define.ts';
import { draftOf } from '../../jobs/tick.ts';
import { parseJson } from '../../model/json.ts';
import { describeSchedule } from '../../time/describe.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { acted, acting, actor, asking, withEngine, type CommonFlags } from '../session.ts';
import { scheduled, scheduleOf, type ScheduleFlags } from '../schedule-flags.ts';
import { printEvents } from './runs.ts';

interface CreateDefFlags extends CommonFlags, ScheduleFlags {
  readonly type: string;
  readonly params?: string;
}

export function defsCommand(program: Command): void {
  const defs = program.command('defs').description('list, look at and switch definitions');
  asking(defs.command('ls').description('all definitions')).action(list);
  asking(defs.command('show <name>').description('one definition, with its history of ticks')).action(show);
  scheduled(asking(defs.command('create <name>').description('define runs of a job type, with a schedule or by hand')))
    .requiredOption('--type <type>', 'the job type')
    .option('--params <json>', 'the input of its runs')
    .action(create);
  acting(defs.command('delete <name>').description('end a definition; its runs stay')).action(remove);
  acting(defs.command('reset <name>').description("take an operator's word back: what the code says counts")).action(reset);
  acting(defs.command('enable <name>').description('let its schedules start runs')).action(enable);
  acting(defs.command('disable <name>').description('let its schedules start no runs')).action(disable);
  acting(defs.command('run <name>').description('start a run now'))
    .option('--input <json>', 'instead of its parameters')
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
    return printEvents((await engine.history(def.job.id)).slice(-20));
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
    return printResult({ name }, `${name} is defined: stint defs show '${name}'`, options);
  });

const remove = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.undefine(name, acted(options));
    return printResult({ name }, `${name} is ended`, options);
  });

const reset = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.override(name, null, acted(options));
    return printResult({ name, override: null }, `${name} is as the code says`, options);
  });

const enable = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.enable(name, acted(options));
    return printResult({ name, isEnabled: true }, `${name} is enabled`, options);
  });

const disable = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.disable(name, acted(options));
    return printResult({ name, isEnabled: false }, `${name} is disabled`, options);
  });

const run = (name: string, options: CommonFlags & { readonly input?: string }): Promise<void> =>
  withEngine(options, async (engine) => {
    const { spec } = await engine.definition(name);
    const input = options.input === undefined ? spec.params : parseJson(options.input);
    const { id } = await engine.jobs.create({ ...draftOf(name, spec), input }, actor());
    return printResult({ id }, `run ${id} of ${name} is created`, options);
  });

const schedulesOf = ({ spec }: KnownDefinition): string => spec.schedules.map(describeSchedule).join('; ');

function printResult(value: unknown, sentence: string, { json }: CommonFlags): void {
  if (json) printJson(value);
  else printLine(sentence);
}
