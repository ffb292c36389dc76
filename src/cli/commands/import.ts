/** `stint import`: creates runs for the waiting jobs, and definitions for the schedules, of another job system. */
import type { Command } from 'commander';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Engine } from '../../open.ts';
import { importJobs, type ImportedJobs, type RefusedJob } from '../../import/import-jobs.ts';
import { planSchedules, type PlannedSchedules } from '../../import/schedule-document.ts';
import { leftOutReasons, type ImportSource } from '../../import/source.ts';
import { Refusal } from '../../refusal.ts';
import { confirm } from '../confirm.ts';
import { changes, printPlan } from '../definition-plan.ts';
import { loadJobs } from '../load-jobs.ts';
import { counted, printJson, printLine, printTable, styled } from '../print.ts';
import { addNameFlag, addReasonFlag, addStoreFlags, attribution, withEngine, type CommonFlags } from '../session.ts';

interface ImportFlags extends CommonFlags {
  readonly from: string;
  readonly type?: string[];
  readonly queue?: string[];
  readonly source?: string;
  readonly jobs?: string[];
  readonly includeActive?: boolean;
  readonly only?: string;
  readonly refused?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

interface SchemaFlags extends ImportFlags {
  readonly schema: string;
}

/** Some jobs or schedules were refused. */
const refusedExitCode = 3;
const refusedShown = 100;
const parts = ['jobs', 'schedules'];
const postgres = 'postgres://…';

export function importCommand(program: Command): void {
  const command = program.command('import')
    .description('create runs and definitions for the waiting jobs and the schedules of another system');
  addImportFlags(command.command('pg-boss').description('import waiting jobs and schedules of pg-boss'), postgres)
    .option('--schema <name>', 'the schema of its tables', 'pgboss')
    .action((options: SchemaFlags) => run(options, async () =>
      (await import('../../import/pg-boss.ts')).openPgBoss(options.from, options.schema)));
  const graphile = command.command('graphile-worker').description('import waiting jobs and the crontab of graphile-worker');
  addImportFlags(graphile, postgres)
    .option('--schema <name>', 'the schema of its tables', 'graphile_worker')
    .option('--crontab <file>', 'its crontab, for the schedules (default: none)')
    .action((options: SchemaFlags & { readonly crontab?: string }) => run(options, async () =>
      (await import('../../import/graphile-worker.ts')).openGraphileWorker(options.from, options)));
  addImportFlags(command.command('bullmq').description('import waiting jobs and job schedulers of BullMQ'), 'redis://…')
    .option('--prefix <prefix>', 'the prefix of its keys', 'bull')
    .option('--zone <zone>', 'the time zone of schedulers that have none: that of the old workers', 'UTC')
    .action((options: ImportFlags & { readonly prefix: string; readonly zone: string }) => run(options, async () =>
      (await import('../../import/bullmq.ts')).openBullmq(options.from, options)));
}

const addImportFlags = (command: Command, address: string): Command =>
  addNameFlag(addReasonFlag(addStoreFlags(command.requiredOption('--from <url>', `the database of the other system: ${address}`))))
    .option('--queue <names...>', 'only these queues or tasks')
    .option('--type <queue=type...>', 'the job type of a queue or task (default: its name)')
    .option('--only <part>', 'only jobs, or only schedules')
    .option('--include-active', 'also import jobs that a worker of the other system executes')
    .option('--jobs <files...>', 'files that export job types, whose schemas check the inputs')
    .option('--source <name>', 'names the other database in the identity of its jobs (default: its own identity)')
    .option('--refused <file>', 'write each refused job into this file, as a line of JSON')
    .option('--dry-run', 'only show what would be imported')
    .option('--yes', 'import without asking');

async function run(options: ImportFlags, open: () => Promise<ImportSource>): Promise<void> {
  checkFlags(options);
  const { types } = await loadJobs(options.jobs ?? []);
  await withEngine(options, async (engine) => {
    const opened = await open();
    const source = options.source === undefined ? opened : { ...opened, place: options.source };
    try {
      await new Import(engine, source, options).run();
    } finally {
      await opened.close();
    }
  }, types);
}

function checkFlags({ only, type = [] }: ImportFlags): void {
  if (only !== undefined && !parts.includes(only)) throw wrongFlag('--only must be jobs or schedules');
  const wrong = type.find((each) => !/^.+=[^=]+$/s.test(each));
  if (wrong !== undefined) throw wrongFlag(`--type must be queue=type, not ${wrong.slice(0, 80)}`);
}

/** The name of a queue may have an equals sign, that of a type may not. */
function typeOfQueue(flag: string): readonly [queue: string, type: string] {
  const sign = flag.lastIndexOf('=');
  return [flag.slice(0, sign), flag.slice(sign + 1)];
}

const wrongFlag = (message: string): Refusal => new Refusal('malformed.option', message, {});

interface JobsAnswer extends ImportedJobs {
  /** The first refused jobs. */
  readonly refused: readonly RefusedJob[];
  readonly refusedCount: number;
}

class Import {
  readonly #engine: Engine;
  readonly #source: ImportSource;
  readonly #options: ImportFlags;
  readonly #types: ReadonlyMap<string, string>;

  constructor(engine: Engine, source: ImportSource, options: ImportFlags) {
    this.#engine = engine;
    this.#source = source;
    this.#options = options;
    this.#types = new Map((options.type ?? []).map(typeOfQueue));
  }

  async run(): Promise<void> {
    const { dryRun = false, yes = false, json = false } = this.#options;
    const schedules = await this.#planSchedules();
    if (dryRun || !yes) {
      const jobs = await this.#importJobs(true);
      await this.#print(jobs, schedules, true);
      if (dryRun) return;
      const changed = counted(changesIn(schedules), 'change');
      await confirm(`Create ${counted(createdIn(jobs), 'run')} and apply ${changed} of definitions?`, { yes });
    }
    if (schedules !== null && changesIn(schedules) > 0) await this.#applySchedules(schedules);
    const jobs = await this.#importJobs(false);
    if (json || yes) return this.#print(jobs, schedules, false);
    printLine(`Created ${counted(createdIn(jobs), 'run')}`);
  }

  async #planSchedules(): Promise<PlannedSchedules | null> {
    const { only, queue: queues } = this.#options;
    if (only === 'jobs') return null;
    const found = await this.#source.schedules();
    const wanted = queues === undefined ? found : found.filter(({ queue }) => queues.includes(queue));
    return wanted.length === 0 ? null : planSchedules(this.#engine, wanted, this.#typeOf);
  }

  async #applySchedules({ document, plan: { digest } }: PlannedSchedules): Promise<void> {
    await this.#engine.applyDefinitions(document, { digest }, attribution(this.#options));
  }

  async #importJobs(isDryRun: boolean): Promise<JobsAnswer> {
    const { only, queue = null, includeActive = false, refused: path } = this.#options;
    if (only === 'schedules') return { queues: [], leftOut: [], refused: [], refusedCount: 0 };
    const list = refusedList(path);
    const refused: RefusedJob[] = [];
    let refusedCount = 0;
    const { queues, leftOut } = await importJobs(this.#engine, this.#source, {
      queues: queue, includesActive: includeActive, isDryRun, by: attribution(this.#options).by, typeOf: this.#typeOf,
      onRefused: (job) => {
        refusedCount += 1;
        if (refused.length < refusedShown) refused.push(job);
        list?.write(job);
      },
    });
    list?.close();
    return { queues, leftOut, refused, refusedCount };
  }

  /** A queue with jobs of several names can have a type for each: `--type queue/name=type`. */
  readonly #typeOf = (queue: string, name?: string): string =>
    this.#types.get(`${queue}/${name}`) ?? this.#types.get(queue) ?? queue;

  async #print(jobs: JobsAnswer, schedules: PlannedSchedules | null, isDryRun: boolean): Promise<void> {
    const { system } = this.#source;
    const undeclared = await this.#undeclared(jobs, schedules);
    if (jobs.refusedCount > 0 || (schedules?.refused.length ?? 0) > 0) process.exitCode = refusedExitCode;
    if (this.#options.json) {
      const planned = schedules && { plan: schedules.plan, refused: schedules.refused };
      return printJson({ system, dryRun: isDryRun, ...jobs, schedules: planned, undeclaredTypes: undeclared });
    }
    printTable(
      ['QUEUE', 'TYPE', isDryRun ? 'TO CREATE' : 'CREATED', 'EXISTING', 'REFUSED'],
      jobs.queues.map(({ queue, type, created, existing, refused }) => [queue, type, created, existing, refused]),
    );
    for (const { queue, reason, count } of jobs.leftOut) {
      printLine(styled('yellow', `Left out: ${counted(count, 'job')} of ${queue}: ${leftOutReasons[reason]}`));
    }
    printRefused(jobs, schedules);
    if (schedules !== null) printPlan(schedules.plan, {});
    if (undeclared.length > 0) {
      printLine(styled('yellow', `No code has declared these types yet: ${undeclared.join(', ')}`));
    }
    printLine(`${isDryRun ? 'Would create' : 'Created'} ${counted(createdIn(jobs), 'run')} for jobs of ${system}`);
  }

  async #undeclared({ queues }: JobsAnswer, schedules: PlannedSchedules | null): Promise<readonly string[]> {
    const ofDefinitions = schedules?.document.definitions?.map(({ type }) => type) ?? [];
    const types = [...new Set([...queues.filter(hasRuns).map(({ type }) => type), ...ofDefinitions])].toSorted();
    const entries = await Promise.all(types.map((type) => this.#engine.typeEntry(type)));
    return types.filter((_, index) => entries[index] === null);
  }
}

const hasRuns = ({ created, existing }: { readonly created: number; readonly existing: number }): boolean =>
  created + existing > 0;

const createdIn = ({ queues }: ImportedJobs): number => queues.reduce((sum, { created }) => sum + created, 0);

const changesIn = (schedules: PlannedSchedules | null): number =>
  schedules?.plan.definitions.filter(changes).length ?? 0;

function printRefused({ refused, refusedCount }: JobsAnswer, schedules: PlannedSchedules | null): void {
  for (const { queue, id, code, message } of refused) {
    printLine(styled('red', `Refused: job ${id} of ${queue}: ${code}: ${message}`));
  }
  if (refusedCount > refused.length) {
    printLine(styled('red', `and ${refusedCount - refused.length} more: --refused FILE writes all of them into a file`));
  }
  for (const { name, code, message } of schedules?.refused ?? []) {
    printLine(styled('red', `Refused: schedule ${name}: ${code}: ${message}`));
  }
}

/** The file of `--refused`. Lines are written at once, so that a process that is killed loses none. */
function refusedList(path: string | undefined): RefusedList | null {
  if (path === undefined) return null;
  try {
    const file = openSync(path, 'w');
    return { write: (job) => void writeSync(file, `${JSON.stringify(job)}\n`), close: () => closeSync(file) };
  } catch (error) {
    throw new Refusal('malformed.option', `cannot write ${path}: ${(error as NodeJS.ErrnoException).code}`, { path });
  }
}

interface RefusedList {
  write(job: RefusedJob): void;
  close(): void;
}
