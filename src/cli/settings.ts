/** The settings of a command that runs an engine: from the command line, the environment or defaults. */
import type { Command, Option } from 'commander';
import { splitOnce, variablesOf } from '../open/url-variables.ts';
import { storeUrl, urlVariable } from '../open/store-url.ts';
import { schemeOf } from '../open/scheme.ts';
import { printTable } from './print.ts';
import { addSettingVariables, variableOf } from './setting-variables.ts';
import { shownUrl } from './shown-url.ts';

interface Setting {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
}

export interface SettingsFlags {
  readonly printConfig?: boolean;
}

const printConfigFlag = '--print-config';

/** Lets the environment set the options of the command, and adds the option that prints them. */
export const addSettings = (command: Command): Command =>
  addSettingVariables(command.option(printConfigFlag, 'print each setting and where it comes from, and exit'));

/** Prints each setting with its value and where it comes from. */
export function printSettings(command: Command): void {
  const flags = command.options.filter(({ long, hidden }) => long !== printConfigFlag && !hidden);
  const url = storeUrl(command.getOptionValue('store') as string | undefined);
  const settings = [...flags.map((option) => settingOf(command, option)), ...storeSettings(url)];
  printTable(['setting', 'value', 'from'], settings.map(({ name, value, source }) => [name, value, source]));
}

function settingOf(command: Command, option: Option): Setting {
  const name = option.long!.slice('--'.length);
  const value: unknown = command.getOptionValue(option.attributeName());
  if (name === 'store') return { name, value: shownUrl(storeUrl(value as string)), source: sourceOfStore(value) };
  if (secretFiles.includes(name) && value === undefined) return secretFileSetting(name, variableOf(option));
  const origin = command.getOptionValueSource(option.attributeName());
  const source = origin === 'cli' ? option.long! : origin === 'env' ? variableOf(option) : 'default';
  return { name, value: shown(name, value), source };
}

/** Values of `--exec-env` may be secrets: only their names are shown. */
function shown(name: string, value: unknown): string | null {
  if (value === undefined) return null;
  const texts = [value].flat().map(String);
  return (name === 'exec-env' ? texts.map((text) => `${splitOnce(text, '=')[0]}=…`) : texts).join(', ');
}

const sourceOfStore = (given: unknown): string => (given === undefined ? (urlVariable() ?? 'default') : '--store');

/** The options whose variable contains secrets or the path of their file. */
const secretFiles = ['tokens', 'encryption-keys'];

/** Only the path may be shown. */
function secretFileSetting(name: string, variable: string): Setting {
  const text = process.env[variable];
  if (text === undefined) return { name, value: null, source: 'default' };
  return { name, value: /^\s*[[{]/.test(text) ? 'JSON' : text, source: variable };
}

/** The options of the store that the query of its URL or a variable sets. */
function storeSettings(url: string): Setting[] {
  const query = new URLSearchParams(splitOnce(url, '?')[1] ?? '');
  const variables = Object.entries(variablesOf(schemeOf(url)));
  const names = new Set([...query.keys(), ...variables.map(([, option]) => option)]);
  return [...names].map((option) => {
    const [variable = ''] = variables.find(([, name]) => name === option) ?? [];
    const isInUrl = query.has(option);
    const value = isInUrl ? query.get(option)! : (process.env[variable] ?? '');
    const name = `store: ${option}`;
    if (value === '') return { name, value: null, source: 'default' };
    return { name, value: shownUrl(value), source: isInUrl ? 'URL' : variable };
  });
}
