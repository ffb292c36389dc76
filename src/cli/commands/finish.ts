/** `stint runs complete` and `stint runs fail`: finish a job that was handed off to another system. */
import type { Command } from 'commander';
import type { Answer, RunView } from '../../http/contract.ts';
import { jsonFlag } from '../json-flag.ts';
import { printJson, printLine } from '../print.ts';
import { addActionFlags, parseId, reasonOf, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

export function finishCommands(runs: Command): void {
  addActionFlags(runs.command('complete <id|token>').description('complete a job that was handed off'))
    .option('--result <json>', 'its result')
    .action(complete);
  addActionFlags(runs.command('fail <id|token>').description('fail a job that was handed off'))
    .requiredOption('--error <text>', 'what went wrong')
    .action(fail);
}

const complete = (what: string, options: CommonFlags & { readonly result?: string }): Promise<void> =>
  withApi(options, async (api) => {
    const result = options.result === undefined ? {} : { result: jsonFlag('--result', options.result) };
    return print(isToken(what)
      ? await api.call('completeHandOff', { body: { token: what, ...result } })
      : await api.call('completeRun', { params: { id: parseId(what) }, body: { ...result, ...reasonOf(options) } }), options);
  });

const fail = (what: string, options: CommonFlags & { readonly error: string }): Promise<void> =>
  withApi(options, async (api) => {
    const error = { message: options.error };
    return print(isToken(what)
      ? await api.call('failHandOff', { body: { token: what, error } })
      : await api.call('failRun', { params: { id: parseId(what) }, body: { error, ...reasonOf(options) } }), options);
  });

const isToken = (what: string): boolean => what.includes('.');

function print(ended: RunView | Answer<'completeHandOff'>, { json }: CommonFlags): void {
  if (json) printJson(ended);
  else printLine(`Run ${ended.id}: ${ended.standing}`);
}
