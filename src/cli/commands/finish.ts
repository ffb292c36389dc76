/** `stint runs complete` and `stint runs fail`: finish a job that was handed off to another system. */
import type { Command } from 'commander';
import type { Job } from '../../model/job.ts';
import { runView } from '../../http/views.ts';
import { standingOf } from '../../store/query.ts';
import { jsonFlag } from '../json-flag.ts';
import { printJson, printLine } from '../print.ts';
import { addActionFlags, attribution, parseId, withEngine, type CommonFlags } from '../session.ts';

export function finishCommands(runs: Command): void {
  addActionFlags(runs.command('complete <id|token>').description('complete a job that was handed off'))
    .option('--result <json>', 'its result')
    .action(complete);
  addActionFlags(runs.command('fail <id|token>').description('fail a job that was handed off'))
    .requiredOption('--error <text>', 'what went wrong')
    .action(fail);
}

const complete = (what: string, options: CommonFlags & { readonly result?: string }): Promise<void> =>
  withEngine(options, async (engine) => {
    const result = options.result === undefined ? undefined : jsonFlag('--result', options.result);
    const job = isToken(what)
      ? await engine.complete(what, result)
      : await engine.completeJobRun(parseId(what), result, attribution(options));
    return print(job, options);
  });

const fail = (what: string, options: CommonFlags & { readonly error: string }): Promise<void> =>
  withEngine(options, async (engine) => {
    const error = Object.assign(new Error(options.error), { stack: undefined });
    const job = isToken(what)
      ? await engine.fail(what, error)
      : await engine.failJobRun(parseId(what), error, attribution(options));
    return print(job, options);
  });

const isToken = (what: string): boolean => what.includes('.');

function print(job: Job, { json }: CommonFlags): void {
  if (json) printJson(runView(job, 'full'));
  else printLine(`Run ${job.id}: ${standingOf(job)}`);
}
