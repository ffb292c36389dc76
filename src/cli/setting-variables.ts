/**
 * Settings from the environment: each option of a command that runs an engine is also a variable, such as STINT_SLOTS
 * for `--slots`. An option of the command line counts before its variable. An empty variable counts as not set, because
 * container tools pass variables without a value as empty texts.
 */
import type { Command, Option } from 'commander';
import { didYouMean } from '../did-you-mean.ts';
import { urlVariables } from '../open/store-url.ts';
import { storeVariables } from '../open/url-variables.ts';
import { Refusal } from '../refusal.ts';
import { printError } from './print.ts';

const prefix = 'STINT_';

/** The options whose variables are read elsewhere, since they also apply without a command. */
const readElsewhere: Readonly<Record<string, string>> = {
  '--store': 'STINT_DATABASE_URL', '--tokens': 'STINT_TOKENS', '--encryption-keys': 'STINT_ENCRYPTION_KEYS',
};

/** The variables that Stint itself sets for the programs that it runs. */
const ownVariables = ['STINT_EXEC', 'STINT_JOB'];

export const variableOf = ({ long }: Option): string =>
  readElsewhere[long!] ?? `${prefix}${long!.slice('--'.length).replaceAll('-', '_').toUpperCase()}`;

/** Lets the environment set the options of the command. Call after all options were added. */
export function addSettingVariables(command: Command): Command {
  return command
    .addHelpText('after', '\nEach option is also a variable, such as STINT_SLOTS for --slots; lists have commas, or are JSON.')
    .hook('preAction', (_program, called) => {
      warnOfUnknownVariables(called.options);
      for (const option of called.options) readVariable(called, option);
    });
}

function readVariable(command: Command, option: Option): void {
  const text = process.env[variableOf(option)] ?? '';
  const isGiven = command.getOptionValueSource(option.attributeName()) === 'cli';
  if (text === '' || isGiven || option.hidden || option.long! in readElsewhere) return;
  command.setOptionValueWithSource(option.attributeName(), valueOf(option, text), 'env');
}

function valueOf(option: Option, text: string): boolean | string | readonly string[] {
  if (option.isBoolean()) return flagIn(variableOf(option), text);
  return option.variadic || option.parseArg ? listIn(variableOf(option), text) : text;
}

function flagIn(variable: string, text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new Refusal('malformed.option', `${variable} must be true or false, not "${text.slice(0, 40)}"`, { variable });
}

function listIn(variable: string, text: string): readonly string[] {
  if (!text.startsWith('[')) return text.split(',').map((item) => item.trim()).filter((item) => item !== '');
  const list = parsedList(text);
  if (list !== null) return list;
  throw new Refusal('malformed.option', `${variable} must be a list with commas or a JSON array of texts`, { variable });
}

function parsedList(text: string): readonly string[] | null {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : null;
  } catch {
    return null;
  }
}

/** A misspelt variable would otherwise be ignored without a word. */
function warnOfUnknownVariables(options: readonly Option[]): void {
  const known = [...options.map(variableOf), ...urlVariables, ...storeVariables, ...ownVariables];
  const bare = known.map((name) => name.slice(prefix.length));
  for (const name of Object.keys(process.env)) {
    if (!name.startsWith(prefix) || known.includes(name)) continue;
    const hint = didYouMean(name.slice(prefix.length), bare);
    if (hint !== '') printError(`stint: ${name} is no setting${hint.replace('mean ', `mean ${prefix}`)}`);
  }
}
