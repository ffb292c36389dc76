/** `stint runs`: lists, creates, shows and manages runs. */
import type { Command } from 'commander';
import type { Answer, EventView, LogLineView, RequestArguments, RunDetail, RunView } from '../../http/contract.ts';
import { standings, type Standing } from '../../store/query.ts';
import { Refusal } from '../../refusal.ts';
import { allPages, type CommandApi } from '../api.ts';
import { wholeNumber } from '../number-flag.ts';
import { dueCell, harmless, printJson, printLine, printTable, stateCell, styled, timeCell } from '../print.ts';
import { printRun } from '../print-run.ts';
import { addActionFlags, addApiFlags, parseId, reasonOf, type CommonFlags } from '../session.ts';
import { addRunFlags, runRequestOf, type RunFlags } from '../run-flags.ts';
import { tagPairsOf } from '../tag-flag.ts';
import { withApi } from '../with-api.ts';
import { answerCommands } from './answer.ts';
import { changeCommands } from './change-run.ts';
import { finishCommands } from './finish.ts';
import { watchRun } from './watch.ts';

interface PageFlags extends CommonFlags {
  readonly limit: string;
  readonly after?: string;
}

interface ListOptions extends PageFlags {
  readonly state?: string[];
  readonly type?: string[];
  readonly def?: string;
  readonly tag?: string[];
  readonly text?: string;
}

export function runsCommand(program: Command): void {
  const runs = program.command('runs').description('manage runs');
  addPageFlags(addApiFlags(runs.command('ls').description('list runs, newest first')), 20)
    .option('--state <states...>', `only runs in these states: ${standings.join(', ')}`)
    .option('--type <types...>', 'only runs of these job types')
    .option('--def <name>', 'only runs of this definition')
    .option('--tag <name=value...>', 'only runs with these tags')
    .option('--text <part>', 'only runs with this text in their type, definition, key, error or a tag')
    .action(list);
  addRunFlags(addApiFlags(runs.command('create <type>').description('create a run of a job type')))
    .action(create);
  addApiFlags(runs.command('show <id>').description('show a run and its events')).action(show);
  addApiFlags(runs.command('events <id>').description('list the events of a run')).action(events);
  addPageFlags(addApiFlags(runs.command('tasks <id>').description('list the tasks of a run, oldest first')), 1000)
    .action(tasks);
  addApiFlags(runs.command('log <id>').description('print the log of a run')).action(log);
  addApiFlags(runs.command('steps <id>').description('list the finished steps and the sleeps of a run')).action(steps);
  addApiFlags(runs.command('explain <id>').description('explain why a run is not running')).action(explain);
  addApiFlags(
    runs.command('watch <id>').description('follow a run until it ends; exit code 3: it did not succeed'),
  ).action(watch);
  addActionFlags(runs.command('cancel <id>').description('ask a run to stop; its handler can clean up'))
    .option('--grace <duration>', 'stop it if it has not ended after this time')
    .action(cancel);
  addActionFlags(runs.command('stop <id>').description('stop a run immediately')).action(stop);
  addActionFlags(runs.command('retry <id>').description('run an ended run again'))
    .option('--failed', 'retry only the tasks that did not succeed')
    .option('--from <step>', 'the first finished step that the run executes again')
    .option('--downstream <which>', 'also retry the runs that follow it: all, or failed')
    .action(retry);
  addActionFlags(
    runs.command('delete <id>').description('delete an ended run and everything stored about it'),
  ).action(remove);
  changeCommands(runs);
  finishCommands(runs);
  answerCommands(runs);
}

const addPageFlags = (command: Command, limit: number): Command =>
  command
    .option('--limit <n>', 'page size', String(limit))
    .option('--after <id>', 'continue after this id');

interface PageFields {
  readonly limit: number;
  readonly after?: number;
}

const pageOf = ({ limit, after }: PageFlags): PageFields => ({
  limit: wholeNumber('--limit', limit),
  ...(after === undefined ? {} : { after: parseId(after) }),
});

type RunViewPage = Answer<'listRuns'>;

/** Reads on after pages that a costly search has cut, up to `limit` runs. */
async function fullPage(page: PageFields, read: (page: PageFields) => Promise<RunViewPage>): Promise<RunViewPage> {
  const items: RunView[] = [];
  let part: RunViewPage = { items, next: page.after ?? null };
  do {
    part = await read({ limit: page.limit - items.length, ...(part.next === null ? {} : { after: part.next }) });
    items.push(...part.items);
  } while (part.next !== null && items.length < page.limit);
  return { items, next: part.next };
}

const list = (options: ListOptions): Promise<void> =>
  withApi(options, async (api) => {
    const filter = filterOf(options);
    const { items, next } = await fullPage(pageOf(options), (page) => api.call('listRuns', { query: { ...filter, ...page } }));
    if (options.json) return printJson({ items, next });
    printTable(['ID', 'STATE', 'TYPE', 'DEF', 'DUE', 'ATTEMPT', 'ERROR'], items.map(rowOf));
    if (next !== null) printLine(styled('dim', `Next page: stint runs ls --after ${next}`));
  });

const create = (type: string, options: CommonFlags & RunFlags): Promise<void> =>
  withApi(options, async (api) =>
    printCreated(await api.call('createRun', { body: { type, ...runRequestOf(options) } as NewRunBody }), type, options));

type NewRunBody = RequestArguments<'createRun'>['body'];

/** Prints the answer to a request for a new run. `name` is the name of the type or definition of the run. */
export function printCreated(answer: Answer<'createRun'>, name: string, { json }: CommonFlags): void {
  if (json) return printJson(answer);
  const { id, outcome, warning } = answer;
  printLine(`${outcomeTexts[outcome](`run ${id} (${name})`)}. Follow it: stint runs watch ${id}`);
  if (warning !== null) printLine(styled('yellow', `Warning: ${harmless(warning)}`));
}

const outcomeTexts: Readonly<Record<'created' | 'existing' | 'updated', (run: string) => string>> = {
  created: (run) => `Created ${run}`,
  existing: (run) => `Found existing ${run}`,
  updated: (run) => `Updated ${run}`,
};

const show = (text: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const id = parseId(text);
    const run = await api.call('getRun', { params: { id } });
    if (options.json) return printJson(run);
    const history = await eventsOf(api, id);
    const { tasks: counts, queuePosition } = run;
    const facts: [string, string | number | null][] = [
      ['id', run.id],
      ['type', run.type],
      ['definition', run.def],
      ['phase', run.phase],
      ['priority', run.priority],
      ['created', timeCell(run.createdAt)],
      ['due', dueCell(run.dueAt)],
      ['queue', queuePosition === null ? null : `${queuePosition} before it`],
      ['started', timeCell(run.startedAt)],
      ['ended', timeCell(run.endedAt)],
      ['attempt', run.attempt],
      ['fence', run.fence],
      ['tasks', counts === null ? null : `${counts.total} (${counts.succeeded} succeeded, ${counts.failed} failed)`],
      ['error', run.error === null ? null : errorText(run.error)],
      ['input', JSON.stringify(run.input)],
      ['result', run.result === null ? null : JSON.stringify(run.result)],
    ];
    printLine(`${styled('bold', `${kindNames[run.kind]} ${run.id}`)}  ${run.standing}`);
    for (const [name, value] of facts) {
      if (value !== null) printLine(`  ${name.padEnd(11)} ${harmless(String(value))}`);
    }
    return printEvents(history);
  });

const kindNames: Readonly<Record<RunView['kind'], string>> = {
  run: 'run', task: 'task', bedrock: 'job', mock: 'mocked job', def: 'definition', audit: 'audit', type: 'job type',
  build: 'build', limit: 'limit', pause: 'pause',
};

const events = (id: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const items = await eventsOf(api, parseId(id));
    return options.json ? printJson({ items, next: null }) : printEvents(items);
  });

export const eventsOf = (api: CommandApi, id: number, from = 1): Promise<EventView[]> =>
  allPages((next = from) => api.call('listEvents', { params: { id }, query: { from: next } }));

const tasks = (id: string, options: PageFlags): Promise<void> =>
  withApi(options, async (api) => {
    const params = { id: parseId(id) };
    const { items, next } = await fullPage(pageOf(options), (page) => api.call('listTasks', { params, query: page }));
    if (options.json) return printJson({ items, next });
    printTable(
      ['ID', 'STATE', 'KEY', 'ATTEMPT', 'ERROR'],
      items.map((run) => [run.id, stateCell(run.standing), run.key, run.attempt, run.error?.message ?? null]),
    );
    if (next !== null) printLine(styled('dim', `Next page: stint runs tasks ${id} --after ${next}`));
  });

const log = (text: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const params = { id: parseId(text) };
    const { fence } = await api.call('getRun', { params });
    const lines = await allPages((after = 0) => api.call('getLog', { params, query: { after } }));
    if (options.json) return printJson({ items: lines, next: null });
    for (const line of lines) printLine(lineText(line, fence > 1));
  });

const resultShownMax = 60;

const steps = (id: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items, next } = await api.call('getSteps', { params: { id: parseId(id) } });
    if (options.json) return printJson({ items, next });
    printTable(
      ['N', 'KIND', 'NAME', 'STARTED', 'ENDS', 'RESULT'],
      items.map(({ n, kind, name, startedAt, endedAt, result }) =>
        [n, kind, harmless(name), timeCell(startedAt), timeCell(endedAt), resultCell(result)]),
    );
  });

const resultCell = (result: unknown): string | null =>
  (result === null ? null : harmless(JSON.stringify(result)).slice(0, resultShownMax));

/** A line of the log. If the run was claimed more than once, the fence tells the lines of its attempts apart. */
const lineText = ({ at, level, text, fence }: LogLineView, hasFence: boolean): string =>
  [timeCell(at), level.padEnd(5), ...(hasFence ? [`fence ${fence ?? '–'}`] : []), harmless(text)].join(' ');

const explain = (id: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items } = await api.call('explainRun', { params: { id: parseId(id) } });
    if (options.json) return printJson({ items });
    for (const { says } of items) printLine(harmless(says));
  });

const watch = (id: string, options: CommonFlags): Promise<void> =>
  withApi(options, (api) => watchRun(api, parseId(id), options.json ?? false));

const cancel = (id: string, options: CommonFlags & { readonly grace?: string }): Promise<void> =>
  withApi(options, async (api) => {
    const grace = options.grace === undefined ? {} : { grace: options.grace };
    const run = await api.call('cancelRun', { params: { id: parseId(id) }, body: { ...reasonOf(options), ...grace } });
    return printRun(run, run.state === 'ended' ? `Run ${run.id}: ${run.standing}` : `Cancelling run ${run.id}`, options);
  });

const stop = (id: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { run, how } = await api.call('stopRun', { params: { id: parseId(id) }, body: reasonOf(options) });
    if (options.json) return printJson({ run, how });
    printLine(`Stopped run ${run.id}: ${stopTexts[how]}`);
  });

const stopTexts: Readonly<Record<'terminated' | 'disowned' | 'idle', string>> = {
  terminated: 'its thread or process was terminated',
  disowned: 'its handler may still be running, but can no longer change anything',
  idle: 'it was not running',
};

interface RetryFlags {
  readonly failed?: boolean;
  readonly downstream?: 'all' | 'failed';
  readonly from?: string;
}

const retry = (id: string, options: CommonFlags & RetryFlags): Promise<void> =>
  withApi(options, async (api) => {
    const run = await api.call('retryRun', {
      params: { id: parseId(id) },
      body: {
        ...reasonOf(options), ...(options.failed ? { only: 'failed' } : {}),
        ...(options.downstream === undefined ? {} : { downstream: options.downstream }),
        ...(options.from === undefined ? {} : { from: options.from }),
      },
    });
    return printRun(run, `Retrying run ${run.id}`, options);
  });

const remove = (text: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const id = parseId(text);
    await api.call('deleteRun', { params: { id }, query: reasonOf(options) });
    if (options.json) return printJson({ deleted: id });
    printLine(`Deleted run ${id}`);
  });

const rowOf = (run: RunView) => [
  run.id,
  stateCell(run.standing),
  run.type,
  run.def,
  dueCell(run.dueAt),
  run.attempt,
  run.error?.message ?? null,
];

export function printEvents(history: readonly EventView[]): void {
  printTable(
    ['N', 'AT', 'EVENT', 'BY', 'REASON'],
    history.map(({ n, at, kind, by, why }) => [n, timeCell(at), kind, by, why]),
  );
}

type RunListFilter = NonNullable<RequestArguments<'listRuns'>['query']>;

function filterOf({ state, type, def, tag, text }: ListOptions): RunListFilter {
  return {
    kind: ['run', 'bedrock', 'mock'],
    ...(state ? { state: state.map(checkStanding) } : {}),
    ...(type ? { type } : {}),
    ...(def === undefined ? {} : { def }),
    ...(tag ? { tag: tagPairsOf(tag) } : {}),
    ...(text === undefined ? {} : { q: text }),
  };
}

function checkStanding(state: string): Standing {
  if ((standings as readonly string[]).includes(state)) return state as Standing;
  throw new Refusal('malformed.option', `unknown state "${state.slice(0, 40)}"; use ${standings.join(', ')}`, {});
}

type ShownError = NonNullable<RunDetail['error']>;

/** An error as text: class name, message, the application's own error code, and the causes. */
const errorText = ({ causes = [], ...error }: ShownError): string =>
  [causeText(error), ...causes.map((cause) => `caused by ${causeText(cause)}`)].join('; ');

const causeText = ({ name, id, message }: Pick<ShownError, 'name' | 'id' | 'message'>): string =>
  [...(name === undefined ? [] : [`${name}: `]), message, ...(id === undefined ? [] : [` (${id})`])].join('');
