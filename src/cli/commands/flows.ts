/** `stint flows`: creates a flow from a file, lists flows, shows the runs of one, and cancels, stops or retries them. */
import type { Command } from 'commander';
import type { NamedFlow } from '../../engine/declare/named-flow.ts';
import type { EngineCore } from '../../engine/engine.ts';
import type { ActOptions } from '../../engine/run-handle.ts';
import type { FlowRunStanding } from '../../engine/inspect/flows.ts';
import { standingOf } from '../../store/query.ts';
import { readDefinitionFile } from '../definition-file.ts';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { addActionFlags, addStoreFlags, attribution, parseId, withEngine, type CommonFlags } from '../session.ts';

interface FlowPageFlags extends CommonFlags {
  readonly after?: string;
  readonly limit: string;
}

export function flowsCommand(program: Command): void {
  const flows = program.command('flows').description('list and show flows: runs that follow runs');
  addStoreFlags(flows.command('ls').description('list flows, newest first'))
    .option('--limit <n>', 'page size', '20')
    .option('--after <id>', 'continue after this id')
    .action(list);
  addStoreFlags(flows.command('show <id>').description('show the runs of a flow and what each of them follows'))
    .option('--limit <n>', 'page size', '100')
    .option('--after <id>', 'continue after this run')
    .action(show);
  addStoreFlags(flows.command('create <file>').description('create the runs of a YAML or JSON file, all or none; -: standard input'))
    .action(create);
  const acting = (name: string, about: string, act: FlowAction): Command =>
    addActionFlags(flows.command(`${name} <id>`).description(about)).action(change(act));
  acting('cancel', 'cancel the open runs of a flow', (engine, id, options) => engine.cancelFlow(id, options));
  acting('stop', 'stop the open runs of a flow', (engine, id, options) => engine.stopFlow(id, options));
  acting('retry', 'retry the runs of a flow that failed', (engine, id, options) => engine.retryFlow(id, options));
}

const create = (path: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const { id, runs } = await engine.createNamedFlow((await readDefinitionFile(path)).document as unknown as NamedFlow);
    if (options.json) return printJson({ id, runs });
    printTable(['RUN', 'NAME'], runs.map((run) => [run.id, run.name]));
    printLine(styled('dim', `Created flow ${id}. Show it: stint flows show ${id}`));
  });

const list = (options: FlowPageFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const limit = wholeNumber('--limit', options.limit);
    const before = options.after === undefined ? {} : { before: parseId(options.after) };
    const flows = await engine.flows({ limit, ...before });
    const next = flows.length < limit ? null : flows.at(-1)!.id;
    if (options.json) return printJson({ items: flows, next });
    printTable(
      ['ID', 'CREATED', 'TYPES', 'RUNS'],
      flows.map(({ id, created, types, counts, isCut }) => [
        id, timeCell(created), types.join(', '),
        Object.entries(counts).map(([standing, count]) => `${count} ${standing}`).join(', ') + (isCut ? ', …' : ''),
      ]),
    );
    if (next !== null) printLine(styled('dim', `Next page: stint flows ls --after ${next}`));
  });

const show = (text: string, options: FlowPageFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const after = options.after === undefined ? {} : { after: parseId(options.after) };
    const flow = await engine.flow(parseId(text), { limit: wholeNumber('--limit', options.limit), ...after });
    if (options.json) return printJson(flow);
    printTable(['RUN', 'TYPE', 'STANDING', 'AFTER'], flow.runs.map((run) =>
      [run.job.id, run.job.type, standingOf(run.job), afterCell(run)]));
    if (flow.next !== null) printLine(styled('dim', `Next page: stint flows show ${flow.id} --after ${flow.next}`));
  });

const afterShown = 10;

function afterCell({ after }: FlowRunStanding): string | null {
  if (after.length === 0) return null;
  const shown = after.slice(0, afterShown).map(({ followed, outcome }) => `${followed} ${outcome ?? 'open'}`).join(', ');
  return after.length > afterShown ? `${shown}, …` : shown;
}

type FlowAction = (engine: EngineCore, id: number, options: ActOptions) => Promise<number>;

const change = (act: FlowAction) => (text: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const id = parseId(text);
    const runs = await act(engine, id, attribution(options));
    if (options.json) printJson({ id, runs });
    else printLine(`${runs} ${runs === 1 ? 'run' : 'runs'} of flow ${id} changed.`);
  });
