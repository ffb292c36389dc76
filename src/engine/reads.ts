/** What may be asked of an engine without changing anything: by id, by query, or as it happens. */
import type { Jobs } from '../jobs.ts';
import { definition, type KnownDefinition } from '../jobs/define.ts';
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { parseJson } from '../model/json.ts';
import type { Progress } from '../model/progress.ts';
import type { Kind } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import type { Page, PageRequest, Query, Tally } from '../store/query.ts';
import type { FeedPage, FeedEvent, Instance, LogLine } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import type { PreviewOptions } from '../time/preview.ts';
import type { Configuration } from '../vocabulary/configuration.ts';
import { runStats, type JobRunStats } from '../vocabulary/jobrun.ts';
import { stageInfo, type StageInfo } from '../vocabulary/stage.ts';
import { configurationIn } from './inspect/configuration.ts';
import { explain, type Reason } from './inspect/explain.ts';
import { findFailures, type Failures, type FailuresRequest } from './inspect/failures.ts';
import { previewTicks, type PreviewedTick } from './inspect/schedule-preview.ts';
import type { Handlers } from './declare/handlers.ts';
import { Stores } from './stores.ts';
import { limitsInUse, type LimitInUse } from './inspect/limits-in-use.ts';
import type { JobType } from './declare/job-type.ts';
import type { LogRequest, Snapshot } from './run-handle.ts';
import { TaskCountCache } from './inspect/task-counts.ts';
import type { JobWatchers } from './work/job-watchers.ts';

export interface ReadParts {
  readonly jobs: Jobs;
  /** The jobs that are not persisted. */
  readonly memory: Jobs;
  readonly handlers: Handlers;
  readonly watchers: JobWatchers;
  readonly clock: Clock;
}

export interface PreviewRequest extends Pick<PreviewOptions, 'policies'> {
  readonly count?: number;
  /** How long each run is taken to last. */
  readonly runLasts?: Duration;
}

export interface EngineEvent extends FeedEvent {
  /** Where to go on after it. */
  readonly cursor: string;
}

const eventPollMs = 250;
const logPage = 1000;

/** All that is worked on, and what makes it. */
const usualKinds: readonly Kind[] = ['run', 'task', 'bedrock', 'mock', 'def'];

export class EngineReads {
  readonly jobs: Jobs;
  protected readonly stores: Stores;
  readonly #handlers: Handlers;
  readonly #watchers: JobWatchers;
  readonly #clock: Clock;
  readonly #taskCounts: TaskCountCache;

  constructor({ jobs, memory, handlers, watchers, clock }: ReadParts) {
    this.jobs = jobs;
    this.stores = new Stores(jobs, memory);
    this.#handlers = handlers;
    this.#watchers = watchers;
    this.#clock = clock;
    this.#taskCounts = new TaskCountCache(clock);
  }

  now(): number {
    return this.jobs.store.now();
  }

  // Of one run, or of one task.

  async get(id: number): Promise<Job> {
    const job = await this.stores.forJob(id).get(id);
    if (job) return job;
    throw new Refusal('unknown.job', `there is no run ${id}`, { id });
  }

  async snapshot(id: number): Promise<Snapshot> {
    const jobs = this.stores.forJob(id);
    const job = await this.get(id);
    const tasks = await this.#taskCounts.count(jobs, job);
    const text = await jobs.store.progress(id);
    return { job, tasks, progress: text === null ? null : (parseJson(text) as unknown as Progress) };
  }

  /** From event number `from` on. */
  history(id: number, from?: number, limit?: number): Promise<readonly Event[]> {
    return this.stores.forJob(id).history(id, from, limit);
  }

  async log(id: number, { after = 0, limit = logPage }: LogRequest = {}): Promise<readonly LogLine[]> {
    return this.stores.forJob(id).store.log(id, after, limit);
  }

  /** How its tasks stand, and how long it took (seed 1). */
  async stats(id: number): Promise<JobRunStats> {
    const run = await this.get(id);
    return runStats(run, await this.stores.forJob(id).count({ parent: id }), await this.history(id));
  }

  /** Which stage of its life it is in, and what each stage knows (seed 3). */
  async stage(id: number): Promise<StageInfo<readonly LogLine[]>> {
    const job = await this.get(id);
    const position = job.state === 'pending' ? await this.stores.forJob(id).store.queuePosition(job) : null;
    return stageInfo(job, await this.history(id), { position, log: await this.log(id) });
  }

  /** Why it is not running. */
  async explain(id: number): Promise<readonly Reason[]> {
    return explain(this.stores.forJob(id), await this.get(id), this.#handlers.limits());
  }

  /** Resolves when it may have changed. */
  untilChange(id: number, withinMs: number): Promise<void> {
    return this.#watchers.until(id, withinMs);
  }

  // Of many.

  /** The audit's records only when they are asked for. */
  async find({ kinds = usualKinds, ...query }: Query = {}, page?: PageRequest): Promise<Page> {
    return this.stores.find({ kinds, ...query }, page);
  }

  async count({ kinds = usualKinds, ...query }: Query = {}): Promise<readonly Tally[]> {
    return this.stores.count({ kinds, ...query });
  }

  /** The job types whose code this engine has. */
  types(): readonly JobType[] {
    return this.#handlers.names.map((name) => this.#handlers.get(name)!);
  }

  /** The limits in force and how far each is used up, of jobs of these types. */
  async limitsInUse(types: readonly string[]): Promise<readonly LimitInUse[]> {
    return limitsInUse(await this.jobs.store.admittedPerGate(types), this.#handlers.limits());
  }

  /** What went wrong lately, in groups. */
  async failures(request: FailuresRequest): Promise<Failures> {
    return findFailures((query, page) => this.find(query, page), request);
  }

  instances(): Promise<readonly Instance[]> {
    return this.jobs.store.instances();
  }

  /**
   * Every event from a cursor on, as it happens; stop by leaving the loop. Jobs in memory are told of too, from now on:
   * a cursor does not lead back to them.
   */
  async *events({ after }: { readonly after?: string } = {}): AsyncGenerator<EngineEvent, void, undefined> {
    const { database, memory } = this.stores;
    let inMemory = await memory.store.feedEnd();
    let cursor = after ?? (await database.store.feedEnd());
    for (;;) {
      const stored = await database.events(cursor, 500);
      const passing = await memory.events(inMemory, 500);
      cursor = stored.cursor;
      inMemory = passing.cursor;
      const events = [...stored.events, ...passing.events];
      for (const event of events) yield { ...event, cursor };
      if (events.length === 0) await this.#clock.sleep(eventPollMs);
    }
  }

  /** Events of jobs in memory, which no database's feed tells of. */
  async eventsInMemory(cursor: string | null, limit: number): Promise<FeedPage> {
    return this.stores.memory.events(cursor, limit);
  }

  // Of definitions.

  async definitions(): Promise<readonly KnownDefinition[]> {
    return this.stores.definitions();
  }

  async definition(name: string): Promise<KnownDefinition> {
    return definition((await this.stores.forDefinition(name)).store, name);
  }

  /** Its status, its last execution and its next (seed 4). */
  async configuration(name: string): Promise<Configuration> {
    const { job } = await this.definition(name);
    return configurationIn(await this.stores.forDefinition(name), job);
  }

  /** Its next ticks, with what each policy would do. */
  async preview(name: string, request: PreviewRequest = {}): Promise<readonly PreviewedTick[]> {
    const { count = 10, runLasts = '0s', policies } = request;
    const options = { now: this.now(), count, runMs: durationMs(runLasts), ...(policies ? { policies } : {}) };
    return previewTicks(await this.definition(name), options);
  }
}
