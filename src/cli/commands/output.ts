/** Prints the output of a run: what is stored, or with --follow each chunk until the run ends. */
import type { Command } from 'commander';
import type { OutputChunkView } from '../../http/contract.ts';
import { currentOutput } from '../../model/output.ts';
import { allPages, type CommandApi, type OutputStart } from '../api.ts';
import { outputClosed, print, printable, printError, printJson, printLine } from '../print.ts';
import { addApiFlags, parseId, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

interface OutputFlags extends CommonFlags {
  readonly after?: string;
  readonly follow?: boolean;
}

export const addOutput = (runs: Command): Command =>
  addApiFlags(runs.command('output <id>').description('print the output of a run, without what later attempts replaced'))
    .option('--after <position>', 'print only chunks behind this position')
    .option('--follow', 'print each chunk until the run ends; exit code 3: it did not succeed')
    .action(output);

const output = (text: string, { after, follow = false, json = false, ...flags }: OutputFlags): Promise<void> =>
  withApi(flags, async (api) => {
    const id = parseId(text);
    const from = after === undefined ? {} : { after };
    if (follow) return followed(api, id, from, json);
    const chunks = await allPages<OutputChunkView, string>((next = after) =>
      api.call('getOutput', { params: { id }, query: next === undefined ? {} : { after: next } }));
    if (json) return printJson({ items: chunks, next: null });
    for (const chunk of currentOutput(chunks)) show(chunk);
  });

async function followed(api: CommandApi, id: number, from: OutputStart, asJson: boolean): Promise<void> {
  const begun = new Set<string | null>();
  for await (const chunk of api.followOutput(id, from, outputClosed)) {
    if (!asJson && chunk.isFirst && begun.has(chunk.step)) printError(startedOver(chunk));
    begun.add(chunk.step);
    if (asJson) printLine(JSON.stringify(chunk));
    else show(chunk);
  }
  if (outputClosed.aborted) return;
  const { state, standing } = await api.call('getRun', { params: { id } });
  // Scripts read from the exit code whether the run succeeded.
  if (state === 'ended' && standing !== 'succeeded') process.exitCode = 3;
}

/** Text as it was written, any other value as a line of JSON. */
function show({ value }: OutputChunkView): void {
  if (typeof value === 'string') print(printable(value, false));
  else printLine(JSON.stringify(value));
}

const startedOver = ({ step, fence }: OutputChunkView): string =>
  `\n(${step === null ? 'the handler' : `the step ${JSON.stringify(step)}`} starts over, fence ${fence}: what follows replaces what it wrote before)`;
