/** The page of the command line, from the commands themselves. */
import type { Argument, Command, Option } from 'commander';
import { program } from '../../src/cli/program.ts';
import { code, page, sentence, table } from './markdown.ts';

export const cliPage = (): string =>
  page(
    'The command line',
    `
    \`stint\` works on the store that \`--store\` names, else \`STINT_DATABASE_URL\`, else the file that
    \`STINT_DATABASE_URL_FILE\` names contains the URL, else \`DATABASE_URL\`, else the file \`.stint/jobs.db\`. Reading commands take \`--json\`. Exit codes: 0 it is done; 1 \`verify\` or
    \`doctor\` found something; 2 it was refused, with [a code](refusals.md) and a sentence; 3 \`runs watch\` saw a
    run that did not succeed. Each option of \`stint serve\` and \`stint work\` is also a variable, such as
    \`STINT_SLOTS\` for \`--slots\`.
    `,
    ...program().commands.flatMap(partsOf),
  );

function partsOf(command: Command): string[] {
  const { commands } = command;
  if (commands.length === 0) return [partOf('stint', command, '##')];
  const head = `## stint ${command.name()}\n\n${sentence(command.description())}`;
  return [head, ...commands.map((each) => partOf(`stint ${command.name()}`, each, '###'))];
}

function partOf(before: string, command: Command, level: string): string {
  const words = [before, command.name(), ...command.registeredArguments.map(argumentOf)];
  const rows = command.options.filter(({ hidden }) => !hidden).map((option) => [code(option.flags), sentence(option.description), defaultOf(option)]);
  const options = rows.length === 0 ? [] : [table(['option', 'what it says', 'default'], rows)];
  const title = `${level} ${words.join(' ').replaceAll('<', '\\<')}`;
  return [title, sentence(command.description()), ...options].join('\n\n');
}

const argumentOf = (argument: Argument): string =>
  argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;

const defaultOf = ({ defaultValue }: Option): string => (defaultValue === undefined ? '' : code(String(defaultValue)));
