/** `stint runs`: list, look at and act on runs. */
import type { Command } from 'commander';
import type { Job } from '../../model/job.ts';
import type { Event } from '../../model/event.ts';
import { parseJson } from '../../model/json.ts';
import { standingOf, standings, type Query, type Standing } from '../../store/query.ts';
import { Refusal } from '../../refusal.ts';
import { harmless, printJson, printLine, printTable, stateCell, styled, timeCell } from '../print.ts';
import { acted, acting, actor, asking, parseId, withEngine, type CommonFlags } from '../session.ts';
import { watchRun } from './watch.ts';

interface ListOptions extends CommonFlags {
  readonly state?: string[];
  readonly type?: string[];
  readonly def?: string;
  readonly tag?: string[];
  readonly text?: string;
  readonly limit: string;
  readonly after?: string;
}

interface CreateRunFlags extends CommonFlags {
  readonly input?: string;
  readonly due?: string;
  readonly priority?: string;
  readonly tag?: string[];
  readonly unique?: string;
}

export function runsCommand(program: Command): void {
  const runs = program.command('runs').description('list, look at and act on runs');
  asking(runs.command('ls').description('the newest runs first'))
    .option('--state <states...>', standings.join(', '))
    .option('--type <types...>', 'of these job types')
    .option('--def <name>', 'of this definition')
    .option('--tag <name=value...>', 'with these tags')
    .option('--text <part>', 'a part of the type, definition, error or a tag')
    .option('--limit <n>', 'how many', '20')
    .option('--after <id>', 'the page after this id')
    .action(list);
  asking(runs.command('create <type>').description('a run of a job type, now or later'))
    .option('--input <json>', 'its input')
    .option('--due <time>', 'when, in ISO 8601 with a zone')
    .option('--priority <n>', 'higher goes first')
    .option('--tag <name=value...>', 'tags')
    .option('--unique <key>', 'only one open run with this key')
    .action(create);
  asking(runs.command('show <id>').description('one run, with its attempts and tasks')).action(show);
  asking(runs.command('events <id>').description('its history')).action(events);
  asking(runs.command('tasks <id>').description('its tasks')).action(tasks);
  asking(runs.command('log <id>').description('what its handler said')).action(log);
  asking(runs.command('explain <id>').description('why it is not running')).action(explain);
  asking(runs.command('watch <id>').description('follow it until it has ended')).action(watch);
  acting(runs.command('cancel <id>').description('ask it to give up'))
    .option('--grace <duration>', 'then stop it')
    .action(cancel);
  acting(runs.command('stop <id>').description('end it now')).action(stop);
  acting(runs.command('retry <id>').description('open it again'))
    .option('--failed', 'only the tasks that did not succeed')
    .action(retry);
  acting(runs.command('delete <id>').description('remove every trace of an ended run')).action(remove);
}

const list = (options: ListOptions): Promise<void> =>
  withEngine(options, async (engine) => {
    const limit = Number(options.limit);
    const page = await engine.find(queryOf(options), {
      limit,
      ...(options.after === undefined ? {} : { after: parseId(options.after) }),
    });
    if (options.json) return printJson(page);
    printTable(['ID', 'STATE', 'TYPE', 'DEF', 'DUE', 'ATTEMPT', 'ERROR'], page.jobs.map(rowOf));
    if (page.next !== null) printLine(styled('dim', `more: stint runs ls --after ${page.next}`));
  });

const create = (type: string, options: CreateRunFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const { input, due, priority, tag, unique } = options;
    const request = {
      ...(input === undefined ? {} : { input: parseJson(input) }),
      ...(due === undefined ? {} : { dueTime: due }),
      ...(priority === undefined ? {} : { priority: Number(priority) }),
      ...(tag === undefined ? {} : { tags: Object.fromEntries(tag.map(tagOf)) }),
      ...(unique === undefined ? {} : { unique }),
    };
    const { id, outcome } = await engine.createNamed({ type }, request, actor());
    if (options.json) return printJson({ id, outcome });
    printLine(`run ${id} of ${type} is ${outcome}: stint runs watch ${id}`);
    const unknown = (await engine.explain(id)).find(({ code }) => code === 'type.unknown');
    if (unknown) printLine(styled('yellow', `it waits: ${harmless(unknown.says)}`));
  });

const show = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const snapshot = await engine.snapshot(parseId(id));
    if (options.json) return printJson(snapshot);
    const { job, tasks: counts } = snapshot;
    const facts: [string, string | number | null][] = [
      ['id', job.id],
      ['type', job.type],
      ['definition', job.def],
      ['phase', job.phase],
      ['priority', job.priority],
      ['created', timeCell(job.created)],
      ['due', timeCell(job.due)],
      ['started', timeCell(job.startedAt)],
      ['ended', job.state === 'ended' ? timeCell(job.endedAt) : null],
      ['attempt', job.attempt],
      ['fence', job.fence],
      ['tasks', counts.total === 0 ? null : `${counts.total} (${counts.succeeded} succeeded, ${counts.failed} failed)`],
      ['error', job.error?.message ?? null],
      ['input', job.input],
      ['result', job.result],
    ];
    printLine(`${styled('bold', `${kindNames[job.kind]} ${job.id}`)}  ${standingOf(job)}`);
    for (const [name, value] of facts) if (value !== null) printLine(`  ${name.padEnd(11)} ${harmless(String(value))}`);
    return printEvents(await engine.history(job.id));
  });

const kindNames: Readonly<Record<Job['kind'], string>> = {
  run: 'run', task: 'task', bedrock: 'job', mock: 'mocked job', def: 'definition', audit: 'audit',
};

const events = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const history = await engine.history(parseId(id));
    return options.json ? printJson(history) : printEvents(history);
  });

const tasks = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const page = await engine.find({ parent: parseId(id) }, { order: 'oldest', limit: 1000 });
    if (options.json) return printJson(page.jobs);
    printTable(
      ['ID', 'STATE', 'KEY', 'ATTEMPT', 'ERROR'],
      page.jobs.map((job) => [job.id, stateCell(standingOf(job)), job.key, job.attempt, job.error?.message ?? null]),
    );
  });

const log = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const lines = await engine.log(parseId(id));
    if (options.json) return printJson(lines);
    for (const { at, level, text } of lines) printLine(`${timeCell(at)} ${level.padEnd(5)} ${harmless(text)}`);
  });

const explain = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const reasons = await engine.explain(parseId(id));
    if (options.json) return printJson(reasons);
    for (const { says } of reasons) printLine(harmless(says));
  });

const watch = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, (engine) => watchRun(engine.run(parseId(id)), options.json ?? false));

const cancel = (id: string, options: CommonFlags & { readonly grace?: string }): Promise<void> =>
  withEngine(options, async (engine) => {
    const grace = options.grace === undefined ? {} : { grace: options.grace as `${number}s` };
    return printRun(await engine.cancelJobRun(parseId(id), { ...acted(options), ...grace }), options);
  });

const stop = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const { job, how } = await engine.stopJobRun(parseId(id), acted(options));
    if (options.json) return printJson({ job, how });
    printLine(`run ${job.id} is stopped: ${how}`);
  });

const retry = (id: string, options: CommonFlags & { readonly failed?: boolean }): Promise<void> =>
  withEngine(options, async (engine) =>
    printRun(
      await engine.retryJobRun(parseId(id), { ...acted(options), ...(options.failed ? { only: 'failed' } : {}) }),
      options,
    ),
  );

const remove = (id: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    await engine.deleteJobRun(parseId(id), acted(options));
    if (options.json) return printJson({ deleted: Number(id) });
    printLine(`run ${id} is deleted`);
  });

function printRun(job: Job, { json }: CommonFlags): void {
  if (json) return printJson(job);
  const asked = job.state !== 'ended' && job.cancel ? ', asked to give up' : '';
  printLine(`run ${job.id} is ${standingOf(job)}${asked}`);
}

const rowOf = (job: Job) => [
  job.id,
  stateCell(standingOf(job)),
  job.type,
  job.def,
  timeCell(job.due),
  job.attempt,
  job.error?.message ?? null,
];

export function printEvents(history: readonly Event[]): void {
  printTable(
    ['N', 'AT', 'EVENT', 'BY', 'WHY'],
    history.map(({ n, at, kind, by, why }) => [n, timeCell(at), kind, by, why ?? null]),
  );
}

function queryOf({ state, type, def, tag, text }: ListOptions): Query {
  return {
    kinds: ['run', 'bedrock', 'mock'],
    ...(state ? { standings: state.map(checkStanding) } : {}),
    ...(type ? { types: type } : {}),
    ...(def === undefined ? {} : { def }),
    ...(tag ? { tags: Object.fromEntries(tag.map(tagOf)) } : {}),
    ...(text === undefined ? {} : { text }),
  };
}

function checkStanding(state: string): Standing {
  if ((standings as readonly string[]).includes(state)) return state as Standing;
  throw new Refusal('malformed.option', `${state.slice(0, 40)} is no state: use ${standings.join(', ')}`, {});
}

function tagOf(text: string): [string, string] {
  const [name = '', ...value] = text.split('=');
  if (name !== '' && value.length > 0) return [name, value.join('=')];
  throw new Refusal('malformed.option', `write a tag as name=value, not ${text.slice(0, 40)}`, {});
}
