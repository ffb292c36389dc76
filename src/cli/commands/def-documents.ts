/** `stint defs export`, `diff`, `apply`, `clone` and `rename`, and the bulk form of `enable` and `disable`. */
import type { Command } from 'commander';
import type { Answer, RequestArguments } from '../../http/contract.ts';
import { Refusal } from '../../refusal.ts';
import type { CommandApi } from '../api.ts';
import { confirm } from '../confirm.ts';
import { definitionText, readDefinitionFile, type DefinitionFile } from '../definition-file.ts';
import { changes, printPlan } from '../definition-plan.ts';
import { counted, printJson, printLine, print, printable } from '../print.ts';
import { addApiFlags, addNamedActionFlags, reasonOf, type CommonFlags } from '../session.ts';
import { tagPairsOf } from '../tag-flag.ts';
import { withApi } from '../with-api.ts';

export interface FilterFlags {
  readonly match?: string;
  readonly q?: string;
  readonly type?: string;
  readonly tag?: string[];
  readonly status?: string;
  readonly lastOutcome?: string;
}

export const addFilterFlags = (command: Command): Command =>
  command
    .option('--match <glob>', "only names that match a pattern, such as 'mail*'")
    .option('--q <text>', 'only names that contain this text, in upper or lower case')
    .option('--type <type>', 'only this job type')
    .option('--tag <name=value...>', 'only with these tags')
    .option('--status <status>', 'only enabled, disabled, undeclared or late')
    .option('--last-outcome <outcome>', 'only COMPLETED, FAILED, STOPPED or NOT_STARTED');

export const filterOf = ({ match, q, type, tag, status, lastOutcome }: FilterFlags): DefQuery => ({
  ...(match === undefined ? {} : { match }),
  ...(q === undefined ? {} : { q }),
  ...(type === undefined ? {} : { type }),
  ...(tag === undefined ? {} : { tag: tagPairsOf(tag) }),
  ...(status === undefined ? {} : { status: status as DefQuery['status'] }),
  ...(lastOutcome === undefined ? {} : { lastOutcome: lastOutcome as DefQuery['lastOutcome'] }),
});

type DefQuery = Omit<NonNullable<RequestArguments<'exportDefs'>['query']>, 'whole'>;

interface PlanFlags extends CommonFlags {
  readonly prune?: boolean;
  readonly match?: string;
}

interface ApplyFlags extends PlanFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const differsExitCode = 3;

export function defDocumentCommands(defs: Command): void {
  addFilterFlags(addApiFlags(
    defs.command('export').description('print definitions as a document for stint defs apply'),
  ))
    .option('--format <format>', 'yaml or json', 'yaml')
    .option('--whole', 'print definitions that code declares whole, too, not only their overrides')
    .action(exportDefinitions);
  addPlanFlags(addApiFlags(
    defs.command('diff <file>').description('show what stint defs apply would change'),
  )).option('--exit-code', 'exit with 3 if something would change').action(diff);
  addPlanFlags(addNamedActionFlags(
    defs.command('apply <file>').description('create and change definitions as a YAML or JSON file says, all or none'),
  ))
    .option('--dry-run', 'only show the plan')
    .option('--yes', 'apply the plan without asking')
    .action(apply);
  addNamedActionFlags(defs.command('clone <name> <new>').description('create a definition with the settings of another one'))
    .option('--disabled', 'create it disabled')
    .action(clone);
  addNamedActionFlags(defs.command('rename <name> <new>').description('give a definition another name; its runs keep the old one'))
    .action(rename);
}

const addPlanFlags = (command: Command): Command =>
  command
    .option('--prune', 'delete definitions, and remove overrides, that are not in the file')
    .option('--match <glob>', 'with --prune: only names that match a pattern');

const exportDefinitions = (
  { format, whole = false, ...options }: CommonFlags & FilterFlags & { readonly format: string; readonly whole?: boolean },
): Promise<void> =>
  withApi(options, async (api) => {
    const document = await api.call('exportDefs', { query: { ...filterOf(options), whole } });
    print(printable(await definitionText(document as object, options.json ? 'json' : format), false));
  });

const diff = (path: string, options: PlanFlags & { readonly exitCode?: boolean }): Promise<void> =>
  withApi(options, async (api) => {
    const plan = await applyFile(api, await readDefinitionFile(path), { ...planOptionsOf(options), dryRun: true });
    printPlan(plan, options);
    if (options.exitCode && plan.definitions.some(changes)) process.exitCode = differsExitCode;
  });

const apply = (path: string, options: ApplyFlags): Promise<void> =>
  withApi(options, async (api) => {
    const file = await readDefinitionFile(path);
    const planOptions = planOptionsOf(options);
    const plan = await applyFile(api, file, { ...planOptions, dryRun: true });
    const count = plan.definitions.filter(changes).length;
    if (!options.json || options.dryRun) printPlan(plan, options);
    if (options.dryRun || count === 0) return options.json && !options.dryRun ? printJson(plan) : undefined;
    await confirm(`Apply ${counted(count, 'change')}?`, options);
    await applyFile(api, file, { ...planOptions, digest: plan.digest, ...reasonOf(options) });
    if (options.json) printJson(plan);
    else printLine(`Applied ${counted(count, 'change')}`);
  });

type ApplyRequest = Omit<RequestArguments<'applyDefs'>['body'], 'definitions' | 'overrides'>;

/** The document is checked here, too, so that a refusal names the line of the file even if a server gives it. */
const applyFile = (api: CommandApi, file: DefinitionFile, options: ApplyRequest): Promise<Answer<'applyDefs'>> =>
  file.locate(async () => {
    // Loaded here, because no other command needs it.
    const { readDocument } = await import('../../engine/declare/def-document.ts');
    readDocument(file.document, api.now());
    return api.call('applyDefs', { body: { ...(file.document as object), ...options } });
  });

const clone = (name: string, renamed: string, options: CommonFlags & { readonly disabled?: boolean }): Promise<void> =>
  withApi(options, async (api) => {
    const body = { name: renamed, ...(options.disabled ? { enabled: false } : {}), ...reasonOf(options) };
    await api.call('cloneDef', { params: { name }, body });
    printNames([renamed], `Created definition ${renamed}. Show it: stint defs show '${renamed}'`, options);
  });

const rename = (name: string, renamed: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    await api.call('renameDef', { params: { name }, body: { name: renamed, ...reasonOf(options) } });
    printNames([renamed], `Renamed definition ${name} to ${renamed}`, options);
  });

export type SwitchFlags = CommonFlags & FilterFlags & { readonly dryRun?: boolean };

/** Enables or disables the definitions that match the flags. */
export const switchMatching = (options: SwitchFlags, enabled: boolean): Promise<void> =>
  withApi(options, async (api) => {
    const filter = filterOf(options);
    if (Object.keys(filter).length === 0) {
      throw new Refusal('malformed.option', "give a name, or --match '*' for all definitions", {});
    }
    const { dryRun = false } = options;
    const { names } = await api.call('switchDefs', { body: { ...filter, enabled, dryRun, ...reasonOf(options) } });
    const verb = enabled ? 'enable' : 'disable';
    const sentence = dryRun
      ? `Would ${verb} ${counted(names.length, 'definition')}`
      : `${enabled ? 'Enabled' : 'Disabled'} ${counted(names.length, 'definition')}`;
    printNames(names, [sentence, ...names.map((name) => `  ${name}`)].join('\n'), options);
  });

function printNames(names: readonly string[], sentence: string, { json }: CommonFlags): void {
  if (json) printJson({ names });
  else printLine(sentence);
}

const planOptionsOf = ({ prune = false, match }: PlanFlags) => ({ prune, ...(match === undefined ? {} : { match }) });
