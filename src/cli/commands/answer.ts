/** `stint runs questions` and `stint runs answer`: list and answer the questions of handlers that wait. */
import type { Command } from 'commander';
import { jsonFlag } from '../json-flag.ts';
import { harmless, printJson, printTable, timeCell } from '../print.ts';
import { printRun } from '../print-run.ts';
import { addApiFlags, addNamedActionFlags, parseId, reasonOf, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

export function answerCommands(runs: Command): void {
  addApiFlags(runs.command('questions').description('list the questions that wait for an answer')).action(questions);
  addNamedActionFlags(
    runs.command('answer <id> <name> <json>').description('answer a question of a run; the first answer counts'),
  ).action(answer);
}

const shownMax = 200;

const questions = (options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items, next } = await api.call('listQuestions', { query: { limit: shownMax } });
    if (options.json) return printJson({ items, next });
    printTable(
      ['RUN', 'TYPE', 'NAME', 'ROLE', 'ASKED', 'UNTIL', 'QUESTION'],
      items.map(({ run, type, name, role, askedAt, until, ask }) => [
        run, harmless(type), harmless(name), role, timeCell(askedAt), until === null ? null : timeCell(until),
        ask === null ? null : harmless(ask),
      ]),
    );
  });

const answer = (id: string, name: string, text: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const body = { name, value: jsonFlag('<json>', text), ...reasonOf(options) };
    const run = await api.call('answerRun', { params: { id: parseId(id) }, body });
    return printRun(run, `Run ${run.id}: ${run.standing}`, options);
  });
