/** `stint defs`: lists, creates, enables, disables, runs and deletes definitions; `def-documents.ts` has the rest. */
import type { Command } from 'commander';
import type { DefView, RequestArguments } from '../../http/contract.ts';
import { Refusal } from '../../refusal.ts';
import { allPages } from '../api.ts';
import { addDefFlags, defOptionsOf, type DefFlags } from '../def-flags.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { addActionFlags, addApiFlags, addNamedActionFlags, reasonOf, type CommonFlags } from '../session.ts';
import { addAloneFlag, addRunFlags, runRequestOf, type RunFlags } from '../run-flags.ts';
import { withApi } from '../with-api.ts';
import {
  addFilterFlags, defDocumentCommands, filterOf, switchMatching, type FilterFlags, type SwitchFlags,
} from './def-documents.ts';
import { defTicksCommands } from './def-ticks.ts';
import { eventsOf, printCreated, printEvents } from './runs.ts';

interface CreateDefFlags extends CommonFlags, DefFlags {
  readonly type: string;
}

const eventsShownMax = 20;

export function defsCommand(program: Command): void {
  const defs = program.command('defs').description('manage definitions');
  addFilterFlags(addApiFlags(defs.command('ls').description('list definitions'))).action(list);
  addApiFlags(defs.command('show <name>').description('show a definition and its newest events')).action(show);
  addDefFlags(addApiFlags(
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
  addAloneFlag(addRunFlags(addActionFlags(
    defs.command('run <name>').description('create a run now, with its parameters or with another input'),
  ))).action(run);
  defTicksCommands(defs);
  defDocumentCommands(defs);
}

const addSwitchFlags = (command: Command): Command =>
  addFilterFlags(addNamedActionFlags(command)).option('--dry-run', 'only show which definitions would change');

/** The most that the server gives at once. */
const pageMax = 1000;

const list = (options: CommonFlags & FilterFlags): Promise<void> =>
  withApi(options, async (api) => {
    const filter = filterOf(options);
    const items = await allPages((after) =>
      api.call('listDefs', { query: { ...filter, limit: pageMax, ...(after === undefined ? {} : { after }) } }));
    if (options.json) return printJson({ items, next: null });
    printTable(
      ['NAME', 'TYPE', 'ENABLED', 'NEXT', 'SCHEDULES', 'NOTE'],
      items.map((def) => [
        def.name,
        def.type,
        def.enabled ? 'yes' : 'no',
        timeCell(def.nextExecutionTime),
        schedulesOf(def),
        def.undeclared ? 'not declared by a running instance' : null,
      ]),
    );
  });

const show = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const def = await api.call('getDef', { params: { name } });
    if (options.json) return printJson(def);
    printLine(`${styled('bold', def.name)}  ${def.enabled ? 'enabled' : 'disabled'}  ${def.type}`);
    printLine(`  schedules  ${schedulesOf(def) || 'none'}`);
    if (def.followers.length > 0) printLine(`  followers  ${def.followers.join(', ')}`);
    printLine(`  next       ${timeCell(def.nextExecutionTime) ?? 'never'}`);
    printLine(`  overlap    ${def.spec.overlap}, misfire ${def.spec.misfire.policy}`);
    if (def.undeclared) printLine('  declared   by no running instance: its code is gone, or not running');
    if (def.override) printLine(`  override   ${JSON.stringify(def.override)}`);
    return printEvents(await eventsOf(api, def.id, Math.max(1, def.version - eventsShownMax + 1)));
  });

const create = (name: string, options: CreateDefFlags): Promise<void> =>
  withApi(options, async (api) => {
    const settings = (await defOptionsOf(options)) as unknown as DefSettingsBody;
    const def = await api.call('createDef', { body: { ...settings, name, type: options.type } });
    return printDefinition(def, `Created definition ${name}. Show it: stint defs show '${name}'`, options);
  });

type DefSettingsBody = RequestArguments<'overrideDef'>['body'] & RequestArguments<'createDef'>['body'];

const edit = (name: string, options: CommonFlags & DefFlags): Promise<void> =>
  withApi(options, async (api) => {
    const changes = changeOf(await defOptionsOf(options)) as unknown as DefSettingsBody;
    const def = await api.call('overrideDef', { params: { name }, body: { ...changes, ...reasonOf(options) } });
    return printDefinition(def, `Changed definition ${name}. Show it: stint defs show '${name}'`, options);
  });

function changeOf<T extends object>(settings: T): T {
  if (Object.keys(settings).length > 0) return settings;
  throw new Refusal('malformed.option', 'nothing to change: give an option, such as --priority, or --settings', {});
}

const remove = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    await api.call('deleteDef', { params: { name }, query: reasonOf(options) });
    if (options.json) printJson({ name });
    else printLine(`Deleted definition ${name}`);
  });

const reset = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const def = await api.call('resetDef', { params: { name }, query: reasonOf(options) });
    return printDefinition(def, `Removed the override of definition ${name}`, options);
  });

const enable = (name: string | undefined, options: SwitchFlags): Promise<void> =>
  (isOne(name, options) ? switchOne('enableDef', name, 'Enabled', options) : switchMatching(options, true));

const disable = (name: string | undefined, options: SwitchFlags): Promise<void> =>
  (isOne(name, options) ? switchOne('disableDef', name, 'Disabled', options) : switchMatching(options, false));

const switchOne = (route: 'enableDef' | 'disableDef', name: string, done: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const def = await api.call(route, { params: { name }, body: reasonOf(options) });
    return printDefinition(def, `${done} definition ${name}`, options);
  });

/** Whether the command is about one definition by name. Refuses a name together with flags for many definitions. */
function isOne(name: string | undefined, options: SwitchFlags): name is string {
  if (name === undefined || (Object.keys(filterOf(options)).length === 0 && !options.dryRun)) return name !== undefined;
  throw new Refusal('malformed.option', 'give either a name or options such as --match, not both', {});
}

const run = (name: string, options: CommonFlags & RunFlags): Promise<void> =>
  withApi(options, async (api) => {
    const body = runRequestOf(options) as RequestArguments<'runDef'>['body'];
    return printCreated(await api.call('runDef', { params: { name }, body }), name, options);
  });

/** Returns what starts the runs of a definition: its schedules, or the definitions that it follows. */
const schedulesOf = ({ schedules, spec: { after } }: DefView): string =>
  (after === undefined ? schedules.map(({ words }) => words).join('; ') : `after ${after.join(', ')}`);

function printDefinition(def: DefView, sentence: string, { json }: CommonFlags): void {
  if (json) printJson(def);
  else printLine(sentence);
}
