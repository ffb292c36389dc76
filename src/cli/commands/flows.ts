/** `stint flows`: creates a flow from a file, lists flows, shows the runs of one, and cancels, stops or retries them. */
import type { Command } from 'commander';
import type { NamedFlow } from '../../engine/declare/named-flow.ts';
import type { Answer, RequestArguments } from '../../http/contract.ts';
import { readDefinitionFile } from '../definition-file.ts';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { addActionFlags, addApiFlags, parseId, reasonOf, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

interface FlowPageFlags extends CommonFlags {
  readonly after?: string;
  readonly limit: string;
}

export function flowsCommand(program: Command): void {
  const flows = program.command('flows').description('list and show flows: runs that follow runs');
  addApiFlags(flows.command('ls').description('list flows, newest first'))
    .option('--limit <n>', 'page size', '20')
    .option('--after <id>', 'continue after this id')
    .action(list);
  addApiFlags(flows.command('show <id>').description('show the runs of a flow and what each of them follows'))
    .option('--limit <n>', 'page size', '100')
    .option('--after <id>', 'continue after this run')
    .action(show);
  addApiFlags(flows.command('create <file>').description('create the runs of a YAML or JSON file, all or none; -: standard input'))
    .action(create);
  const acting = (name: string, about: string, route: FlowAction): Command =>
    addActionFlags(flows.command(`${name} <id>`).description(about)).action(change(route));
  acting('cancel', 'cancel the open runs of a flow', 'cancelFlow');
  acting('stop', 'stop the open runs of a flow', 'stopFlow');
  acting('retry', 'retry the runs of a flow that failed', 'retryFlow');
}

type FlowBody = RequestArguments<'createFlow'>['body'];

const create = (path: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    // Loaded here, because no other command needs it.
    const { checkNamedFlow } = await import('../../engine/declare/named-flow.ts');
    const flow = checkNamedFlow((await readDefinitionFile(path)).document as unknown as NamedFlow);
    const { id, runs } = await api.call('createFlow', { body: flow as FlowBody });
    if (options.json) return printJson({ id, runs });
    printTable(['RUN', 'NAME'], runs.map((run) => [run.id, run.name]));
    printLine(styled('dim', `Created flow ${id}. Show it: stint flows show ${id}`));
  });

const pageOf = ({ limit, after }: FlowPageFlags) => ({
  limit: wholeNumber('--limit', limit), ...(after === undefined ? {} : { after: parseId(after) }),
});

const list = (options: FlowPageFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items, next } = await api.call('listFlows', { query: pageOf(options) });
    if (options.json) return printJson({ items, next });
    printTable(
      ['ID', 'CREATED', 'TYPES', 'RUNS'],
      items.map(({ id, createdAt, types, counts, isCut }) => [
        id, timeCell(createdAt), types.join(', '),
        Object.entries(counts).map(([standing, count]) => `${count} ${standing}`).join(', ') + (isCut ? ', …' : ''),
      ]),
    );
    if (next !== null) printLine(styled('dim', `Next page: stint flows ls --after ${next}`));
  });

const show = (text: string, options: FlowPageFlags): Promise<void> =>
  withApi(options, async (api) => {
    const flow = await api.call('getFlow', { params: { id: parseId(text) }, query: pageOf(options) });
    if (options.json) return printJson(flow);
    printTable(['RUN', 'TYPE', 'STANDING', 'AFTER'], flow.runs.map(({ run, after }) =>
      [run.id, run.type, run.standing, afterCell(after)]));
    if (flow.next !== null) printLine(styled('dim', `Next page: stint flows show ${flow.id} --after ${flow.next}`));
  });

const afterShown = 10;

function afterCell(after: Answer<'getFlow'>['runs'][number]['after']): string | null {
  if (after.length === 0) return null;
  const shown = after.slice(0, afterShown).map(({ id, outcome }) => `${id} ${outcome ?? 'open'}`).join(', ');
  return after.length > afterShown ? `${shown}, …` : shown;
}

type FlowAction = 'cancelFlow' | 'stopFlow' | 'retryFlow';

const change = (route: FlowAction) => (text: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const id = parseId(text);
    const { runs } = await api.call(route, { params: { id }, body: reasonOf(options) });
    if (options.json) printJson({ id, runs });
    else printLine(`${runs} ${runs === 1 ? 'run' : 'runs'} of flow ${id} changed.`);
  });
