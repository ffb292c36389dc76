/** The engine: what a program holds to run jobs and to ask about them. It composes; the work is done by its stations. */
import { Jobs } from '../jobs.ts';
import { declare, definition, definitions, disable, enable, override, type KnownDefinition } from '../jobs/define.ts';
import type { Created } from '../jobs/create.ts';
import type { Random } from '../ids.ts';
import type { Event } from '../model/event.ts';
import type { Spec } from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import { jsonText, parseJson } from '../model/json.ts';
import type { Progress } from '../model/progress.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import type { Page, PageAsk, Query, Tally } from '../store/query.ts';
import type { FeedEvent, Instance, LogLine } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import { explain, type Reason } from './explain.ts';
import type { Handlers } from './handlers.ts';
import type { JobDef } from './job-def.ts';
import type { JobType } from './job-type.ts';
import type { Logger } from './logger.ts';
import { countTasks } from './phases.ts';
import { draftOfDefinition, draftOfType, isOneAtATime, type RunAsk } from './run-ask.ts';
import { RunHandle, type ActOptions, type CancelOptions, type RetryOptions, type RunDesk, type Snapshot } from './run-handle.ts';
import { Station, type StationParts } from './station.ts';
import type { StopAnswer } from './stop.ts';
import { parseToken } from './token.ts';
import { told } from './verdict.ts';

export interface EngineParts extends Omit<StationParts, 'jobs'> {
  readonly jobs: Jobs;
  /** Where jobs live that no database shall see. */
  readonly memory: Jobs;
  readonly defs: readonly JobDef[];
  readonly handlers: Handlers;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Ids from here on are of jobs in memory. */
export const firstMemoryId = 2 ** 52;

const closePatience: Duration = '30s';

export class EngineCore implements RunDesk {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly #parts: EngineParts;
  readonly #stations: readonly Station[];
  #ready: Promise<void> | null = null;

  constructor(parts: EngineParts) {
    this.jobs = parts.jobs;
    this.instance = parts.instance;
    this.#parts = parts;
    const inMemory = parts.defs.some(({ spec }) => spec.inMemory);
    this.#stations = [new Station(parts), ...(inMemory ? [new Station({ ...parts, jobs: parts.memory })] : [])];
  }

  // Life.

  /** Brings the schema up to date, declares the definitions, and starts to work. */
  async resume(): Promise<void> {
    await this.ready();
    for (const { name, spec, enabled } of this.#parts.defs) await declare(this.#homeOf(spec), name, spec, enabled, this.instance);
    await Promise.all(this.#stations.map((station) => station.start()));
  }

  /** Stops claiming; what runs goes on. `resume` starts again. */
  async suspend(): Promise<void> {
    await Promise.all(this.#stations.map((station) => station.suspend()));
  }

  /** Drains and lets go: what has not ended in time is handed back without losing a try. */
  async close({ patience = closePatience }: { readonly patience?: Duration } = {}): Promise<void> {
    await Promise.all(this.#stations.map((station) => station.close(durationMs(patience))));
    await this.#parts.isolation.close();
    await this.jobs.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The schema is up to date. */
  ready(): Promise<void> {
    this.#ready ??= this.jobs.store.migrate().then(() => {});
    return this.#ready;
  }

  now(): number {
    return this.jobs.store.now();
  }

  // Runs.

  async createJobRun<Input, Result>(what: JobDef<Input, Result> | JobType<Input, Result>, ask: RunAsk<Input> = {}): Promise<RunHandle<Result>> {
    return (await this.createJobRuns(what, [ask]))[0]!;
  }

  async createJobRuns<Input, Result>(
    what: JobDef<Input, Result> | JobType<Input, Result>,
    asks: readonly RunAsk<Input>[],
  ): Promise<readonly RunHandle<Result>[]> {
    await this.ready();
    return this.#create(what, asks, (jobs, drafts) => jobs.createMany(drafts, this.instance));
  }

  /** Creates runs in the caller's own transaction: they exist if and when that commits. */
  in(transaction: unknown): Pick<EngineCore, 'createJobRun'> {
    return {
      createJobRun: async (what, ask = {}) =>
        (await this.#create(what, [ask], (jobs, drafts) => jobs.createWithin(transaction, drafts, this.instance)))[0]!,
    };
  }

  run<Result = unknown>(id: number): RunHandle<Result> {
    return new RunHandle<Result>(this, id);
  }

  async cancelJobRun(id: number, { by = this.instance, why, grace }: CancelOptions = {}): Promise<Job> {
    const asker = { by, ...(why === undefined ? {} : { why }) };
    const job = await this.#jobsOf(id).cancel(id, asker, grace === undefined ? undefined : durationMs(grace));
    this.#look();
    return job;
  }

  async stopJobRun(id: number, { by = this.instance, why }: ActOptions = {}): Promise<StopAnswer> {
    const before = await this.#jobsOf(id).get(id);
    const job = await this.#jobsOf(id).stop(id, { by, ...(why === undefined ? {} : { why }) });
    this.#look();
    const isWorking = before?.state === 'running' || (before?.state === 'held' && before.hold === 'children');
    const isIsolated = this.#parts.handlers.get(job.type)?.options.isolate !== undefined;
    return { job, how: !isWorking ? 'idle' : isIsolated ? 'terminated' : 'disowned' };
  }

  retryJobRun(id: number, { by = this.instance, why, only }: RetryOptions = {}): Promise<Job> {
    return this.#jobsOf(id).retry(id, { by, ...(why === undefined ? {} : { why }) }, only);
  }

  deleteJobRun(id: number): Promise<void> {
    return this.#jobsOf(id).delete(id);
  }

  /** Finishes a job that its handler handed off. */
  async complete(token: string, result?: unknown): Promise<Job> {
    const { id, fence } = parseToken(token);
    return this.#jobsOf(id).succeed(id, fence, { by: 'token' }, jsonText(result));
  }

  async fail(token: string, error: unknown): Promise<Job> {
    const { id, fence } = parseToken(token);
    return this.#jobsOf(id).fail(id, fence, told(error), { by: 'token' });
  }

  // Questions.

  async snapshot(id: number): Promise<Snapshot> {
    const jobs = this.#jobsOf(id);
    const job = await jobs.get(id);
    if (!job) throw new Refusal('unknown.job', `there is no run ${id}`, { id });
    const progress = await jobs.store.progress(id);
    return { job, tasks: await countTasks(jobs, id), progress: progress === null ? null : (parseJson(progress) as unknown as Progress) };
  }

  find(query: Query = {}, page?: PageAsk): Promise<Page> {
    return this.jobs.find(query, page);
  }

  count(query: Query = {}): Promise<readonly Tally[]> {
    return this.jobs.count(query);
  }

  history(id: number): Promise<readonly Event[]> {
    return this.#jobsOf(id).history(id);
  }

  log(id: number): Promise<readonly LogLine[]> {
    return this.#jobsOf(id).store.log(id);
  }

  instances(): Promise<readonly Instance[]> {
    return this.jobs.store.instances();
  }

  async explain(id: number): Promise<readonly Reason[]> {
    const { job } = await this.snapshot(id);
    return explain(this.#jobsOf(id), job, this.#parts.handlers.limits());
  }

  /** Every event from a cursor on, as it happens; stop by leaving the loop. */
  async *events({ after }: { readonly after?: string } = {}): AsyncGenerator<FeedEvent & { readonly cursor: string }, void, undefined> {
    let cursor = after ?? (await this.jobs.store.feedEnd());
    for (;;) {
      const feed = await this.jobs.events(cursor, 500);
      cursor = feed.cursor;
      for (const event of feed.events) yield { ...event, cursor };
      if (feed.events.length === 0) await this.#parts.clock.sleep(250);
    }
  }

  untilChange(id: number, withinMs: number): Promise<void> {
    return this.#parts.watchers.until(id, withinMs);
  }

  // Definitions.

  definitions(): Promise<readonly KnownDefinition[]> {
    return definitions(this.jobs.store);
  }

  definition(name: string): Promise<KnownDefinition> {
    return definition(this.jobs.store, name);
  }

  enable(name: string, { by = this.instance, why }: ActOptions = {}): Promise<void> {
    return enable(this.jobs.store, name, { by, ...(why === undefined ? {} : { why }) });
  }

  disable(name: string, { by = this.instance, why }: ActOptions = {}): Promise<void> {
    return disable(this.jobs.store, name, { by, ...(why === undefined ? {} : { why }) });
  }

  override(name: string, said: Partial<Spec> | null, { by = this.instance, why }: ActOptions = {}): Promise<void> {
    return override(this.jobs, name, said, { by, ...(why === undefined ? {} : { why }) });
  }

  async #create<Input, Result>(
    what: JobDef<Input, Result> | JobType<Input, Result>,
    asks: readonly RunAsk<Input>[],
    store: (jobs: Jobs, drafts: Parameters<Jobs['createMany']>[0]) => Promise<readonly Created[]>,
  ): Promise<readonly RunHandle<Result>[]> {
    const now = this.now();
    const isDef = 'spec' in what;
    const home = isDef ? this.#homeOf(what.spec) : this.jobs;
    const type = (isDef ? what.type : what) as unknown as JobType;
    const known = isDef ? await this.#known(what as unknown as JobDef, home) : null;
    const drafts = await Promise.all(asks.map((ask) => (known ? draftOfDefinition(known, type, ask, now) : draftOfType(type, ask, now))));
    const created = await store(home, drafts);
    for (const station of this.#stations) station.wake();
    return created.map(({ id, outcome }, index) => {
      if (outcome !== 'created' && isOneAtATime(drafts[index]!, asks[index]!)) throw busy(type.name, id);
      return new RunHandle<Result>(this, id, outcome);
    });
  }

  /** A definition that was not declared yet, since the engine has not been resumed, is declared now. */
  async #known({ name, spec, enabled }: JobDef, home: Jobs): Promise<KnownDefinition> {
    try {
      return await definition(home.store, name);
    } catch (error) {
      if (!isRefusal(error) || error.code !== 'unknown.definition') throw error;
      await declare(home, name, spec, enabled, this.instance);
      return definition(home.store, name);
    }
  }

  #look(): void {
    for (const station of this.#stations) station.look();
  }

  #homeOf(spec: Spec): Jobs {
    return spec.inMemory ? this.#parts.memory : this.jobs;
  }

  #jobsOf(id: number): Jobs {
    return id >= firstMemoryId ? this.#parts.memory : this.jobs;
  }
}

const busy = (type: string, id: number): Refusal =>
  new Refusal('busy.type', `run ${id} of ${type} is under way and only one may be: wait for it, or cancel it`, { type, id });
