/** `stint defs`: lists, creates, enables, disables, runs and deletes definitions; `def-documents.ts` has the rest. */
import type { Command } from 'commander';
import type { KnownDefinition } from '../../jobs/define.ts';
import { describeSchedule } from '../../time/describe.ts';
import { createdRun } from '../../http/created-run.ts';
import { definitionView } from '../../http/views.ts';
import type { Engine } from '../../open.ts';
import { Refusal } from '../../refusal.ts';
import { addDefFlags, defOptionsOf, type DefFlags } from '../def-flags.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import {
  actor, addActionFlags, addNamedActionFlags, addStoreFlags, attribution, withEngine, type CommonFlags,
} from '../session.ts';
import { addRunFlags, runRequestOf, type RunFlags } from '../run-flags.ts';
import {
  addFilterFlags, defDocumentCommands, filterOf, switchMatching, type FilterFlags, type SwitchFlags,
} from './def-documents.ts';
import { defTicksCommands } from './def-ticks.ts';
import { printCreated, printEvents } from './runs.ts';

interface CreateDefFlags extends CommonFlags, DefFlags {
  readonly type: string;
}

const eventsShownMax = 20;

export function defsCommand(program: Command): void {
  const defs = program.command('defs').description('manage definitions');
  addFilterFlags(addStoreFlags(defs.command('ls').description('list definitions'))).action(list);
  addStoreFlags(defs.command('show <name>').description('show a definition and its newest events')).action(show);
  addDefFlags(addStoreFlags(
    defs.command('create <name>').description('create a definition of a job type, with or without a schedule'),
  ))
    .requiredOption('--type <type>', 'job type of its runs')
    .action(create);
  addDefFlags(addActionFlags(
    defs.command('edit <name>').description('override settings; in --settings, null takes one back'),
  )).action(edit);
  addActionFlags(defs.command('delete <name>').description('delete a definition; its runs stay')).action(remove);
  addActionFlags(
    defs.command('reset <name>').description('remove the override; the declared settings apply again'),
  ).action(reset);
  addSwitchFlags(defs.command('enable [name]').description('resume the schedules of one or all matching')).action(enable);
  addSwitchFlags(defs.command('disable [name]').description('suspend the schedules of one or all matching'))
    .action(disable);
  addRunFlags(addActionFlags(
    defs.command('run <name>').description('create a run now, with its parameters or with another input'),
  )).action(run);
  defTicksCommands(defs);
  defDocumentCommands(defs);
}

const addSwitchFlags = (command: Command): Command =>
  addFilterFlags(addNamedActionFlags(command)).option('--dry-run', 'only show which definitions would change');

const list = (options: CommonFlags & FilterFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const all = await engine.definitions(filterOf(options));
    if (options.json) {
      const items = await Promise.all(all.map((def) => definitionView(engine, def, 'full')));
      return printJson({ items, next: null });
    }
    printTable(
      ['NAME', 'TYPE', 'ENABLED', 'NEXT', 'SCHEDULES', 'NOTE'],
      all.map((def) => [
        def.name,
        def.spec.type,
        def.isEnabled ? 'yes' : 'no',
        timeCell(def.nextDue),
        schedulesOf(def),
        def.isUndeclared ? 'not declared by a running instance' : null,
      ]),
    );
  });

const show = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const def = await engine.definition(name);
    if (options.json) return printJson(await definitionView(engine, def, 'full'));
    printLine(`${styled('bold', def.name)}  ${def.isEnabled ? 'enabled' : 'disabled'}  ${def.spec.type}`);
    printLine(`  schedules  ${schedulesOf(def) || 'none'}`);
    printLine(`  next       ${timeCell(def.nextDue) ?? 'never'}`);
    printLine(`  overlap    ${def.spec.overlap}, misfire ${def.spec.misfire.policy}`);
    if (def.isUndeclared) printLine('  declared   by no running instance: its code is gone, or not running');
    if (def.override) printLine(`  override   ${JSON.stringify(def.override)}`);
    return printEvents((await engine.history(def.job.id)).slice(-eventsShownMax));
  });

const create = (name: string, options: CreateDefFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.define(name, options.type, await defOptionsOf(options), { by: actor() });
    return printDefinition(engine, name, `Created definition ${name}. Show it: stint defs show '${name}'`, options);
  });

const edit = (name: string, options: CommonFlags & DefFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.override(name, changeOf(await defOptionsOf(options)), attribution(options));
    return printDefinition(engine, name, `Changed definition ${name}. Show it: stint defs show '${name}'`, options);
  });

function changeOf<T extends object>(settings: T): T {
  if (Object.keys(settings).length > 0) return settings;
  throw new Refusal('malformed.option', 'nothing to change: give an option, such as --priority, or --settings', {});
}

const remove = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.undefine(name, attribution(options));
    return printResult({ name }, `Deleted definition ${name}`, options);
  });

const reset = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.override(name, null, attribution(options));
    return printDefinition(engine, name, `Removed the override of definition ${name}`, options);
  });

const enable = (name: string | undefined, options: SwitchFlags): Promise<void> =>
  (isOne(name, options) ? enableOne(name, options) : switchMatching(options, true));

const enableOne = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.enable(name, attribution(options));
    return printDefinition(engine, name, `Enabled definition ${name}`, options);
  });

const disable = (name: string | undefined, options: SwitchFlags): Promise<void> =>
  (isOne(name, options) ? disableOne(name, options) : switchMatching(options, false));

const disableOne = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.disable(name, attribution(options));
    return printDefinition(engine, name, `Disabled definition ${name}`, options);
  });

/** Whether the command is about one definition by name. Refuses a name together with flags for many definitions. */
function isOne(name: string | undefined, options: SwitchFlags): name is string {
  if (name === undefined || (Object.keys(filterOf(options)).length === 0 && !options.dryRun)) return name !== undefined;
  throw new Refusal('malformed.option', 'give either a name or options such as --match, not both', {});
}

const run = (name: string, options: CommonFlags & RunFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const handle = await engine.createNamed({ def: name }, runRequestOf(options), actor());
    return printCreated(await createdRun(engine, handle, 'full'), name, options);
  });

const schedulesOf = ({ spec }: KnownDefinition): string => spec.schedules.map(describeSchedule).join('; ');

async function printDefinition(engine: Engine, name: string, sentence: string, { json }: CommonFlags): Promise<void> {
  if (json) printJson(await definitionView(engine, await engine.definition(name), 'full'));
  else printLine(sentence);
}

function printResult(value: unknown, sentence: string, { json }: CommonFlags): void {
  if (json) printJson(value);
  else printLine(sentence);
}
