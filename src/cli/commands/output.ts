/** Prints the output of a run: what is stored, or with --follow each chunk until the run ends. */
import type { Command } from 'commander';
import type { Engine } from '../../open.ts';
import type { RunHandle } from '../../engine/run-handle.ts';
import { currentOutput, type OutputChunk } from '../../model/output.ts';
import { outputClosed, print, printable, printError, printJson, printLine } from '../print.ts';
import { addStoreFlags, parseId, withEngine, type CommonFlags } from '../session.ts';

interface OutputFlags extends CommonFlags {
  readonly after?: string;
  readonly follow?: boolean;
}

export const addOutput = (runs: Command): Command =>
  addStoreFlags(runs.command('output <id>').description('print the output of a run, without what later attempts replaced'))
    .option('--after <position>', 'print only chunks behind this position')
    .option('--follow', 'print each chunk until the run ends; exit code 3: it did not succeed')
    .action(output);

const output = (id: string, { after, follow = false, json = false, ...flags }: OutputFlags): Promise<void> =>
  withEngine(flags, async (engine) => {
    const from = after === undefined ? {} : { after };
    const run = engine.run(parseId(id));
    if (follow) return followed(run, from, json);
    const chunks = await Array.fromAsync(storedChunks(engine, run.id, from));
    if (json) return printJson({ items: chunks, next: null });
    for (const chunk of currentOutput(chunks)) show(chunk);
  });

async function followed(run: RunHandle, from: { readonly after?: string }, asJson: boolean): Promise<void> {
  const begun = new Set<string | null>();
  for await (const chunk of run.followOutput(from)) {
    if (outputClosed.aborted) return;
    if (!asJson && chunk.isFirst && begun.has(chunk.step)) printError(startedOver(chunk));
    begun.add(chunk.step);
    if (asJson) printLine(JSON.stringify(chunk));
    else show(chunk);
  }
  const job = await run.get();
  // Scripts read from the exit code whether the run succeeded.
  if (job.state === 'ended' && job.fate !== 'succeeded') process.exitCode = 3;
}

async function* storedChunks(engine: Engine, id: number, from: { readonly after?: string }): AsyncGenerator<OutputChunk> {
  for (let page = await engine.output(id, from); page.length > 0; ) {
    yield* page;
    page = await engine.output(id, { after: page.at(-1)!.position });
  }
}

/** Text as it was written, any other value as a line of JSON. */
function show({ value }: OutputChunk): void {
  if (typeof value === 'string') print(printable(value, false));
  else printLine(JSON.stringify(value));
}

const startedOver = ({ step, fence }: OutputChunk): string =>
  `\n(${step === null ? 'the handler' : `the step ${JSON.stringify(step)}`} starts over, fence ${fence}: what follows replaces what it wrote before)`;
