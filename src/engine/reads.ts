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
import { findFailures, type Failures, type FailuresAsk } from './inspect/failures.ts';
import { foresee, type ForeseenTick } from './inspect/schedule-preview.ts';
import type { Handlers } from './declare/handlers.ts';
import { Homes } from './stores.ts';
import { limitsInUse, type LimitInUse } from './inspect/limits-in-use.ts';
import type { JobType } from './declare/job-type.ts';
import type { LogAsk, Snapshot } from './run-handle.ts';
import { Tallies } from './inspect/task-counts.ts';
import type { Watchers } from './work/job-watchers.ts';

export interface QuestionParts {
  readonly jobs: Jobs;
  /** Where jobs live that no database shall see. */
  readonly memory: Jobs;
  readonly handlers: Handlers;
  readonly watchers: Watchers;
  readonly clock: Clock;
}

export interface PreviewAsk extends Pick<PreviewOptions, 'policies'> {
  readonly count?: number;
  /** How long each run is taken to last. */
  readonly runLasts?: Duration;
}

export interface ToldEvent extends FeedEvent {
  /** Where to go on after it. */
  readonly cursor: string;
}

const lookMs = 250;
const logPage = 1000;

/** All that is worked on, and what makes it. */
const usualKinds: readonly Kind[] = ['run', 'task', 'bedrock', 'mock', 'def'];

export class Questions {
  readonly jobs: Jobs;
  protected readonly homes: Homes;
  readonly #handlers: Handlers;
  readonly #watchers: Watchers;
  readonly #clock: Clock;
  readonly #tallies: Tallies;

  constructor({ jobs, memory, handlers, watchers, clock }: QuestionParts) {
    this.jobs = jobs;
    this.homes = new Homes(jobs, memory);
    this.#handlers = handlers;
    this.#watchers = watchers;
    this.#clock = clock;
    this.#tallies = new Tallies(clock);
  }

  now(): number {
    return this.jobs.store.now();
  }

  // Of one run, or of one task.

  async get(id: number): Promise<Job> {
    const job = await this.homes.of(id).get(id);
    if (job) return job;
    throw new Refusal('unknown.job', `there is no run ${id}`, { id });
  }

  async snapshot(id: number): Promise<Snapshot> {
    const jobs = this.homes.of(id);
    const job = await this.get(id);
    const tasks = await this.#tallies.of(jobs, job);
    const text = await jobs.store.progress(id);
    return { job, tasks, progress: text === null ? null : (parseJson(text) as unknown as Progress) };
  }

  /** From event number `from` on. */
  history(id: number, from?: number, limit?: number): Promise<readonly Event[]> {
    return this.homes.of(id).history(id, from, limit);
  }

  async log(id: number, { after = 0, limit = logPage }: LogAsk = {}): Promise<readonly LogLine[]> {
    return this.homes.of(id).store.log(id, after, limit);
  }

  /** How its tasks stand, and how long it took (seed 1). */
  async stats(id: number): Promise<JobRunStats> {
    const run = await this.get(id);
    return runStats(run, await this.homes.of(id).count({ parent: id }), await this.history(id));
  }

  /** Which stage of its life it is in, and what each stage knows (seed 3). */
  async stage(id: number): Promise<StageInfo<readonly LogLine[]>> {
    const job = await this.get(id);
    const position = job.state === 'pending' ? await this.homes.of(id).store.queuePosition(job) : null;
    return stageInfo(job, await this.history(id), { position, log: await this.log(id) });
  }

  /** Why it is not running. */
  async explain(id: number): Promise<readonly Reason[]> {
    return explain(this.homes.of(id), await this.get(id), this.#handlers.limits());
  }

  /** Resolves when it may have changed. */
  untilChange(id: number, withinMs: number): Promise<void> {
    return this.#watchers.until(id, withinMs);
  }

  // Of many.

  /** The audit's records only when they are asked for. */
  async find({ kinds = usualKinds, ...query }: Query = {}, page?: PageRequest): Promise<Page> {
    return this.homes.find({ kinds, ...query }, page);
  }

  async count({ kinds = usualKinds, ...query }: Query = {}): Promise<readonly Tally[]> {
    return this.homes.count({ kinds, ...query });
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
  async failures(ask: FailuresAsk): Promise<Failures> {
    return findFailures((query, page) => this.find(query, page), ask);
  }

  instances(): Promise<readonly Instance[]> {
    return this.jobs.store.instances();
  }

  /**
   * Every event from a cursor on, as it happens; stop by leaving the loop. Jobs in memory are told of too, from now on:
   * a cursor does not lead back to them.
   */
  async *events({ after }: { readonly after?: string } = {}): AsyncGenerator<ToldEvent, void, undefined> {
    const { database, memory } = this.homes;
    let inMemory = await memory.store.feedEnd();
    let cursor = after ?? (await database.store.feedEnd());
    for (;;) {
      const stored = await database.events(cursor, 500);
      const passing = await memory.events(inMemory, 500);
      cursor = stored.cursor;
      inMemory = passing.cursor;
      const events = [...stored.events, ...passing.events];
      for (const event of events) yield { ...event, cursor };
      if (events.length === 0) await this.#clock.sleep(lookMs);
    }
  }

  /** Events of jobs in memory, which no database's feed tells of. */
  async eventsInMemory(cursor: string | null, limit: number): Promise<FeedPage> {
    return this.homes.memory.events(cursor, limit);
  }

  // Of definitions.

  async definitions(): Promise<readonly KnownDefinition[]> {
    return this.homes.definitions();
  }

  async definition(name: string): Promise<KnownDefinition> {
    return definition((await this.homes.ofDefinition(name)).store, name);
  }

  /** Its status, its last execution and its next (seed 4). */
  async configuration(name: string): Promise<Configuration> {
    const { job } = await this.definition(name);
    return configurationIn(await this.homes.ofDefinition(name), job);
  }

  /** Its next ticks, with what each policy would do. */
  async preview(name: string, ask: PreviewAsk = {}): Promise<readonly ForeseenTick[]> {
    const { count = 10, runLasts = '0s', policies } = ask;
    const options = { now: this.now(), count, runMs: durationMs(runLasts), ...(policies ? { policies } : {}) };
    return foresee(await this.definition(name), options);
  }
}
