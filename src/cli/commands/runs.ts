/** `stint runs`: lists, creates, shows and manages runs. */
import type { Command } from 'commander';
import type { ErrorCause, Job, JobError } from '../../model/job.ts';
import type { Event } from '../../model/event.ts';
import type { Engine } from '../../open.ts';
import { shownPayload } from '../../model/encoded-payload.ts';
import { standingOf, standings, type Page, type PageRequest, type Query, type Standing } from '../../store/query.ts';
import type { LogLine } from '../../store/store.ts';
import { createdRun } from '../../http/created-run.ts';
import type { Answer } from '../../http/contract.ts';
import { eventView, runDetail, runView } from '../../http/views.ts';
import { Refusal } from '../../refusal.ts';
import { wholeNumber } from '../number-flag.ts';
import { dueCell, harmless, printJson, printLine, printTable, stateCell, styled, timeCell } from '../print.ts';
import {
  actor, addActionFlags, addStoreFlags, attribution, parseId, withEngine, type CommonFlags,
} from '../session.ts';
import { addRunFlags, runRequestOf, type RunFlags } from '../run-flags.ts';
import { tagsOf } from '../tag-flag.ts';
import { answerCommands } from './answer.ts';
import { changeCommands } from './change-run.ts';
import { finishCommands } from './finish.ts';
import { addOutput } from './output.ts';
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
  addPageFlags(addStoreFlags(runs.command('ls').description('list runs, newest first')), 20)
    .option('--state <states...>', `only runs in these states: ${standings.join(', ')}`)
    .option('--type <types...>', 'only runs of these job types')
    .option('--def <name>', 'only runs of this definition')
    .option('--tag <name=value...>', 'only runs with these tags')
    .option('--text <part>', 'only runs with this text in their type, definition, key, error or a tag')
    .action(list);
  addRunFlags(addStoreFlags(runs.command('create <type>').description('create a run of a job type')))
    .action(create);
  addStoreFlags(runs.command('show <id>').description('show a run and its events')).action(show);
  addStoreFlags(runs.command('events <id>').description('list the events of a run')).action(events);
  addPageFlags(addStoreFlags(runs.command('tasks <id>').description('list the tasks of a run, oldest first')), 1000)
    .action(tasks);
  addStoreFlags(runs.command('log <id>').description('print the log of a run')).action(log);
  addOutput(runs);
  addStoreFlags(runs.command('steps <id>').description('list the finished steps and the sleeps of a run')).action(steps);
  addStoreFlags(runs.command('explain <id>').description('explain why a run is not running')).action(explain);
  addStoreFlags(
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

const pageOf = ({ limit, after }: PageFlags): PageRequest => ({
  limit: wholeNumber('--limit', limit),
  ...(after === undefined ? {} : { after: parseId(after) }),
});

const list = (options: ListOptions): Promise<void> =>
  withEngine(options, async (engine) => {
    const page = await engine.find(queryOf(options), pageOf(options));
    if (options.json) return printJson(runPage(page));
    printTable(['ID', 'STATE', 'TYPE', 'DEF', 'DUE', 'ATTEMPT', 'ERROR'], page.jobs.map(rowOf));
    if (page.next !== null) printLine(styled('dim', `Next page: stint runs ls --after ${page.next}`));
  });

const create = (type: string, options: CommonFlags & RunFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const handle = await engine.createNamed({ type }, runRequestOf(options), actor());
    return printCreated(await createdRun(engine, handle, 'full'), type, options);
  });

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

const show = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const snapshot = await engine.snapshot(parseId(id));
    const { job, tasks: counts } = snapshot;
    const queuePosition = await engine.queuePosition(job);
    const history = await engine.history(job.id);
    if (options.json) return printJson(runDetail(job, history, 'full', { ...snapshot, queuePosition }));
    const facts: [string, string | number | null][] = [
      ['id', job.id],
      ['type', job.type],
      ['definition', job.def],
      ['phase', job.phase],
      ['priority', job.priority],
      ['created', timeCell(job.created)],
      ['due', dueCell(job.due)],
      ['queue', queuePosition === null ? null : `${queuePosition} before it`],
      ['started', timeCell(job.startedAt)],
      ['ended', job.state === 'ended' ? timeCell(job.endedAt) : null],
      ['attempt', job.attempt],
      ['fence', job.fence],
      ['tasks', counts.total === 0 ? null : `${counts.total} (${counts.succeeded} succeeded, ${counts.failed} failed)`],
      ['error', job.error === null ? null : errorText(job.error)],
      ['input', shownPayload(job.input)],
      ['result', job.result === null ? null : shownPayload(job.result)],
    ];
    printLine(`${styled('bold', `${kindNames[job.kind]} ${job.id}`)}  ${standingOf(job)}`);
    for (const [name, value] of facts) {
      if (value !== null) printLine(`  ${name.padEnd(11)} ${harmless(String(value))}`);
    }
    return printEvents(history);
  });

const kindNames: Readonly<Record<Job['kind'], string>> = {
  run: 'run', task: 'task', bedrock: 'job', mock: 'mocked job', def: 'definition', audit: 'audit', type: 'job type',
  build: 'build', limit: 'limit', pause: 'pause',
};

const events = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const { id: known } = await engine.record(parseId(id));
    const history = await engine.history(known);
    if (!options.json) return printEvents(history);
    printJson({ items: history.map((event) => eventView(event, 'full')), next: null });
  });

const tasks = (id: string, options: PageFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const { id: parent } = await engine.get(parseId(id));
    const page = await engine.find({ parent }, { order: 'oldest', ...pageOf(options) });
    if (options.json) return printJson(runPage(page));
    printTable(
      ['ID', 'STATE', 'KEY', 'ATTEMPT', 'ERROR'],
      page.jobs.map((job) => [job.id, stateCell(standingOf(job)), job.key, job.attempt, job.error?.message ?? null]),
    );
    if (page.next !== null) printLine(styled('dim', `Next page: stint runs tasks ${id} --after ${page.next}`));
  });

const log = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const job = await engine.get(parseId(id));
    const lines = await Array.fromAsync(linesOf(engine, job));
    if (options.json) return printJson({ items: lines, next: null });
    for (const line of lines) printLine(lineText(line, job));
  });

const stepsShown = 1000;
const resultShownMax = 60;

const steps = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const found = await engine.steps(parseId(id), { limit: stepsShown });
    if (options.json) return printJson({ items: found, next: found.length < stepsShown ? null : found.at(-1)!.n });
    printTable(
      ['N', 'KIND', 'NAME', 'STARTED', 'ENDS', 'RESULT'],
      found.map(({ n, kind, name, startedAt, endedAt, result }) =>
        [n, kind, harmless(name), timeCell(startedAt), timeCell(endedAt), resultCell(result)]),
    );
  });

const resultCell = (result: string | null): string | null =>
  (result === null ? null : harmless(shownPayload(result)).slice(0, resultShownMax));

async function* linesOf(engine: Engine, { id }: Job): AsyncGenerator<LogLine> {
  let page: readonly LogLine[] = [];
  do {
    page = await engine.log(id, { after: page.at(-1)?.n ?? 0 });
    yield* page;
  } while (page.length > 0);
}

/** A line of the log. If the run was claimed more than once, the fence tells the lines of its attempts apart. */
const lineText = ({ at, level, text, fence }: LogLine, job: Job): string =>
  [timeCell(at), level.padEnd(5), ...(job.fence > 1 ? [`fence ${fence ?? '–'}`] : []), harmless(text)].join(' ');

const explain = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const reasons = await engine.explain(parseId(id));
    if (options.json) return printJson({ items: reasons });
    for (const { says } of reasons) printLine(harmless(says));
  });

const watch = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, (engine) => watchRun(engine.run(parseId(id)), options.json ?? false));

const cancel = (id: string, options: CommonFlags & { readonly grace?: string }): Promise<void> =>
  withEngine(options, async (engine) => {
    const grace = options.grace === undefined ? {} : { grace: options.grace as `${number}s` };
    const job = await engine.cancelJobRun(parseId(id), { ...attribution(options), ...grace });
    const sentence = job.state === 'ended' ? `Run ${job.id}: ${standingOf(job)}` : `Cancelling run ${job.id}`;
    return printJob(job, sentence, options);
  });

const stop = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const { job, how } = await engine.stopJobRun(parseId(id), attribution(options));
    if (options.json) return printJson({ run: runView(job, 'full'), how });
    printLine(`Stopped run ${job.id}: ${stopTexts[how]}`);
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
  withEngine(options, async (engine) => {
    const only = options.failed ? ({ only: 'failed' } as const) : {};
    const job = await engine.retryJobRun(parseId(id), {
      ...attribution(options), ...only, ...(options.downstream === undefined ? {} : { downstream: options.downstream }),
      ...(options.from === undefined ? {} : { from: options.from }),
    });
    return printJob(job, `Retrying run ${job.id}`, options);
  });

const remove = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.deleteJobRun(parseId(id), attribution(options));
    if (options.json) return printJson({ deleted: Number(id) });
    printLine(`Deleted run ${id}`);
  });

function printJob(job: Job, sentence: string, { json }: CommonFlags): void {
  if (json) printJson(runView(job, 'full'));
  else printLine(sentence);
}

/** A page of runs as JSON, the same as in the HTTP API. */
const runPage = ({ jobs, next }: Page) => ({ items: jobs.map((job) => runView(job, 'full')), next });

const rowOf = (job: Job) => [
  job.id,
  stateCell(standingOf(job)),
  job.type,
  job.def,
  dueCell(job.due),
  job.attempt,
  job.error?.message ?? null,
];

export function printEvents(history: readonly Event[]): void {
  printTable(
    ['N', 'AT', 'EVENT', 'BY', 'REASON'],
    history.map(({ n, at, kind, by, why }) => [n, timeCell(at), kind, by, why ?? null]),
  );
}

function queryOf({ state, type, def, tag, text }: ListOptions): Query {
  return {
    kinds: ['run', 'bedrock', 'mock'],
    ...(state ? { standings: state.map(checkStanding) } : {}),
    ...(type ? { types: type } : {}),
    ...(def === undefined ? {} : { def }),
    ...(tag ? { tags: tagsOf(tag) } : {}),
    ...(text === undefined ? {} : { text }),
  };
}

function checkStanding(state: string): Standing {
  if ((standings as readonly string[]).includes(state)) return state as Standing;
  throw new Refusal('malformed.option', `unknown state "${state.slice(0, 40)}"; use ${standings.join(', ')}`, {});
}

/** An error as text: class name, message, the application's own error code, and the causes. */
const errorText = ({ causes = [], ...error }: JobError): string =>
  [causeText(error), ...causes.map((cause) => `caused by ${causeText(cause)}`)].join('; ');

const causeText = ({ name, id, message }: ErrorCause): string =>
  [...(name === undefined ? [] : [`${name}: `]), message, ...(id === undefined ? [] : [` (${id})`])].join('');
