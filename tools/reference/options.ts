/** The page of options: every setting of the library, by the call that takes it. */
import { fieldsOf } from './declarations.ts';
import { code, page, sentence, table } from './markdown.ts';

interface Part {
  readonly title: string;
  readonly about: string;
  readonly of: readonly (readonly [path: string, name: string])[];
  /** Whether it is given to the user's code instead of taken from it. */
  readonly isGiven?: boolean;
}

const type = 'src/engine/declare/job-type.ts';
const settings = 'src/engine/declare/settings.ts';
const def = 'src/engine/declare/job-def.ts';
const schedule = 'src/time/schedule.ts';
const context = 'src/engine/handler/context.ts';
const handle = 'src/engine/run-handle.ts';
const http = 'src/http/server.ts';

const parts: readonly Part[] = [
  {
    title: 'new Engine(options)',
    about: 'One engine per process is enough: it claims, runs, schedules and repairs.',
    of: [['src/open.ts', 'EngineOptions']],
  },
  {
    title: 'jobType(name, options) with one run',
    about: 'The code of a kind of job. A definition can overrule timeouts, retries, priority and retention.',
    of: [[type, 'RunOptions'], [type, 'CommonOptions'], [settings, 'Settings']],
  },
  {
    title: 'jobType(name, options) with batches',
    about: 'Instead of `run`, a handler of many jobs at once. The rest as above.',
    of: [[type, 'BatchOptions']],
  },
  { title: 'batch', about: 'Of a type with `runBatch`.', of: [['src/engine/declare/batch.ts', 'BatchSettings']] },
  {
    title: 'jobType(name, options) with tasks',
    about: 'Instead of `run`, phases: what the tasks share, the tasks, the work of one, a summary. The rest as above.',
    of: [[type, 'TaskOptions']],
  },
  { title: 'retry', about: 'Of a type or a definition.', of: [[settings, 'RetrySettings']] },
  {
    title: 'jobDef(name, type, options)',
    about: 'A named template of runs, with its schedules. The settings of the type can be said here too.',
    of: [[def, 'DefOptions'], [settings, 'Settings']],
  },
  { title: 'misfire', about: 'Of a definition, where a word is not enough.', of: [[def, 'MisfireSettings']] },
  {
    title: 'cron(text, options)',
    about: 'Five or six fields, names, `@daily` and the like.',
    of: [[schedule, 'CronOptions']],
  },
  { title: 'every(interval, options)', about: 'An interval such as `15m`.', of: [[schedule, 'EveryOptions']] },
  {
    title: 'createJobRun(what, options)',
    about: 'What is a type or a definition.',
    of: [['src/engine/declare/run-request.ts', 'RunRequest']],
  },
  {
    title: 'What a handler is given',
    about: 'Beside `input`, and `task` and `details` in a run with tasks.',
    of: [[context, 'Context']],
    isGiven: true,
  },
  { title: 'What is known of the run', about: '`run` of the context.', of: [[context, 'RunFacts']], isGiven: true },
  {
    title: 'cancel and stop',
    about: 'Of a handle or an engine; `retry` takes `by`, `why` and `only`.',
    of: [[handle, 'CancelOptions'], [handle, 'EndOptions'], [handle, 'ActOptions']],
  },
  {
    title: 'startHttp, mountHttp, createHttp',
    about: 'Of `stint/server`.',
    of: [[http, 'HttpOptions'], ['src/http/listen.ts', 'ListenOptions']],
  },
  {
    title: 'startBedrock',
    about: 'Of `stint/server`.',
    of: [['src/bedrock/start.ts', 'StartBedrockOptions'], ['src/bedrock/server.ts', 'BedrockOptions']],
  },
  {
    title: 'testEngine(options)',
    about: 'Of `stint/testing`; types, defs, slots, lease, retention and logger are as in an engine.',
    of: [['src/testing/test-engine.ts', 'TestOptions']],
  },
  { title: 'new Client(options)', about: 'Of `stint/client`.', of: [['src/client/client.ts', 'ClientOptions']] },
];

export const optionsPage = (): string =>
  page(
    'Options',
    `
    Durations are texts such as \`30s\`, \`5m\`, \`1h30m\`, \`2d\`, or numbers of milliseconds where a name ends in
    \`Ms\`. A wrong value is refused when it is said, with [a code and a sentence](refusals.md).
    `,
    ...parts.map(partOf),
  );

function partOf({ title, about, of, isGiven = false }: Part): string {
  const rows = of.flatMap(([path, name]) => fieldsOf(path, name)).map(({ name, isOptional, type: shape, says }) => [
    `${code(name)}${isOptional || isGiven ? '' : ' (needed)'}`,
    code(shortened(shape)),
    says === '' ? '' : sentence(says),
  ]);
  return [`## ${title}`, about, table(['option', 'type', 'what it says'], rows)].join('\n\n');
}

/** The parts of a function's context stand in the editor: here they would hide the rest. */
const shortened = (shape: string): string =>
  shape.length > 90 ? shape.replace(/^\(.*\) =>/s, '(context) =>') : shape;
