/** `stint runs questions` and `stint runs answer`: list and answer the questions of handlers that wait. */
import type { Command } from 'commander';
import { runView } from '../../http/views.ts';
import { standingOf } from '../../store/query.ts';
import { jsonFlag } from '../json-flag.ts';
import { harmless, printJson, printLine, printTable, timeCell } from '../print.ts';
import {
  addNamedActionFlags, addStoreFlags, attribution, parseId, withEngine, type CommonFlags,
} from '../session.ts';

export function answerCommands(runs: Command): void {
  addStoreFlags(runs.command('questions').description('list the questions that wait for an answer')).action(questions);
  addNamedActionFlags(
    runs.command('answer <id> <name> <json>').description('answer a question of a run; the first answer counts'),
  ).action(answer);
}

const shownMax = 200;

const questions = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const { questions: found, next } = await engine.openQuestions({ limit: shownMax });
    if (options.json) return printJson({ items: found, next: next === null ? null : `${next.job}:${next.name}` });
    printTable(
      ['RUN', 'TYPE', 'NAME', 'ROLE', 'ASKED', 'UNTIL', 'QUESTION'],
      found.map(({ run, type, name, role, askedAt, until, ask }) => [
        run, harmless(type), harmless(name), role, timeCell(askedAt), until === null ? null : timeCell(until),
        ask === null ? null : harmless(ask),
      ]),
    );
  });

const answer = (id: string, name: string, text: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const job = await engine.answer(parseId(id), name, jsonFlag('<json>', text), attribution(options));
    if (options.json) printJson(runView(job, 'full'));
    else printLine(`Run ${job.id}: ${standingOf(job)}`);
  });
