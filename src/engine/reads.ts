/** The reads of an engine: one job, many jobs, events and definitions, over the database and memory. */
import { readFlowGraph, type FlowGraph } from './inspect/flow-graph.ts';
import { listFlows, readFlow, type FlowPage, type FlowSummary } from './inspect/flows.ts';
import { checkLimit } from '../jobs/checks/query.ts';
import { checkId, checkWhole } from '../jobs/checks/values.ts';
import type { KnownDefinition } from '../jobs/define.ts';
import { recordNotJob } from '../jobs/work-of.ts';
import type { Event } from '../model/event.ts';
import type { Limits } from '../model/gate.ts';
import type { Job } from '../model/job.ts';
import { beforeSteps, earlyAnswersMax, isEndedStep, type EndedStep } from '../model/step.ts';
import { isEncodedPayload, shownLine } from '../model/encoded-payload.ts';
import type { OutputChunk } from '../model/output.ts';
import { jobKinds, workKinds } from '../model/state.ts';
import type { LimitUse } from '../model/limit.ts';
import { versionOfEntry, type TypeEntry } from '../model/type-entry.ts';
import { firstTypeVersion, type TypeVersions } from '../model/type-version.ts';
import { Refusal } from '../refusal.ts';
import { feedPageMax, parsePosition, positionOf, type EventPosition } from '../store/feed-position.ts';
import { pageLimitMax, type Page, type PageRequest, type Query, type Tally } from '../store/query.ts';
import type { DueJob, FeedEvent, FeedPage, Instance, LogLine } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import type { PreviewOptions } from '../time/preview.ts';
import { outcomeStatus, type Configuration } from '../vocabulary/configuration.ts';
import { runStats, type JobRunStats } from '../vocabulary/jobrun.ts';
import { stageInfo, type StageInfo } from '../vocabulary/stage.ts';
import { shareUsesOf } from './attempt/limit-use.ts';
import { burstsInForce } from './declare/bursts.ts';
import { defFilter, type DefFilter } from './declare/def-filter.ts';
import type { TypeRegistry } from './declare/type-registry.ts';
import type { JobType } from './declare/job-type.ts';
import { configurationsIn } from './inspect/configuration.ts';
import { explain } from './inspect/explain.ts';
import { findFailures, type Failures, type FailuresRequest } from './inspect/failures.ts';
import { gatedTypes, limitsInUse, type LimitInUse } from './inspect/limits-in-use.ts';
import type { Reason } from './inspect/reason.ts';
import { sharesInUse, type ShareInUse } from './inspect/shares-in-use.ts';
import { readOutput, type OutputRequest } from './inspect/output.ts';
import { readProgress } from './inspect/progress.ts';
import { readAhead } from './inspect/read-ahead.ts';
import { listTicks, type ListedTicks, type TickListRequest } from './inspect/past-ticks.ts';
import { calendarOf, type Calendar, type CalendarRequest } from './inspect/calendar.ts';
import { previewTicks, type PreviewedTick } from './inspect/schedule-preview.ts';
import { TaskCountCache } from './inspect/task-counts.ts';
import { undeclaredDefNames } from './living-builds.ts';
import type { LogRequest, Snapshot, StepsRequest } from './run-handle.ts';
import type { Stores } from './stores.ts';
import type { TypeCatalogue } from './type-catalogue.ts';

export interface ReadParts {
  readonly stores: Stores;
  readonly registry: TypeRegistry;
  readonly catalogue: TypeCatalogue;
  readonly clock: Clock;
}

export interface PreviewRequest extends Pick<PreviewOptions, 'policies'> {
  readonly count?: number;
  /** How long each run is assumed to take. Default: 0s. */
  readonly runLasts?: Duration;
}

/** A definition with the settings in effect. */
export interface ListedDefinition extends KnownDefinition {
  /** Whether code has declared the definition before, and no living build declares it any more. */
  readonly isUndeclared: boolean;
}

export interface EngineEvent extends FeedEvent {
  /** The position of this event: pass it as `after` to get the events that follow this one. */
  readonly cursor: string;
}

/** Parses the cursor of an event. A cursor of the store's feed is also valid: reading starts directly after it. */
const startAt = (after: string): EventPosition => parsePosition(after) ?? { cursor: after, read: 0 };

const eventPollMs = 250;
const logPage = 1000;
const stepsPage = 1000;
const flowPage = 100;
const definitionPagesAtOnce = 4;


/** Of how many versions before the newest one `oldestDue` searches for waiting jobs. */
const olderShown = 50;

export class EngineReads {
  readonly #stores: Stores;
  readonly #registry: TypeRegistry;
  readonly #catalogue: TypeCatalogue;
  readonly #clock: Clock;
  readonly #taskCounts: TaskCountCache;

  constructor({ stores, registry, catalogue, clock }: ReadParts) {
    this.#stores = stores;
    this.#registry = registry;
    this.#catalogue = catalogue;
    this.#clock = clock;
    this.#taskCounts = new TaskCountCache(clock);
  }

  now(): number {
    return this.#stores.database.store.now();
  }

  // One run, task or Bedrock job.

  async get(id: number): Promise<Job> {
    const job = await this.record(id);
    if (jobKinds.includes(job.kind)) return job;
    throw recordNotJob(job);
  }

  /** Like `get`, but also returns definitions, audit entries, types of the catalogue and builds. */
  async record(id: number): Promise<Job> {
    const job = await this.#stores.forJob(id).get(id);
    if (job) return job;
    throw new Refusal('unknown.job', `there is no run ${id}`, { id });
  }

  async snapshot(id: number): Promise<Snapshot> {
    const jobs = this.#stores.forJob(id);
    const job = await this.get(id);
    const tasks = await this.#taskCounts.count(jobs, job);
    return { job, tasks, progress: await readProgress(jobs.store, job) };
  }

  async flows({ before, limit = flowPage }: { readonly before?: number; readonly limit?: number } = {}): Promise<readonly FlowSummary[]> {
    return listFlows(this.#stores.database, before === undefined ? null : checkId(before), checkLimit(limit, pageLimitMax));
  }

  async flow(id: number, { after = 0, limit = flowPage }: { readonly after?: number; readonly limit?: number } = {}): Promise<FlowPage> {
    checkWhole('after', after, 0, Number.MAX_SAFE_INTEGER);
    return readFlow(this.#stores.database, checkId(id), after, checkLimit(limit, pageLimitMax));
  }

  async flowGraph(id: number): Promise<FlowGraph> {
    return readFlowGraph(this.#stores.database, checkId(id));
  }

  /** The flow of a run; null: it belongs to none. */
  async flowOf({ id, follows, isFollowed }: Job): Promise<number | null> {
    return follows === null && !isFollowed ? null : this.#stores.forJob(id).store.flowOf(id);
  }

  history(id: number, from?: number, limit?: number): Promise<readonly Event[]> {
    return this.#stores.forJob(id).history(id, from, limit);
  }

  /**
   * Returns the finished steps of a run or task and its sleeps, in the order in which they were stored. Answers that came
   * early have the same number, 0, so that no page ends between them.
   */
  async steps(id: number, { after = beforeSteps, limit = stepsPage }: StepsRequest = {}): Promise<readonly EndedStep[]> {
    const { store } = this.#stores.forJob(id);
    const found: EndedStep[] = [];
    for (let from = checkWhole('after', after, beforeSteps, Number.MAX_SAFE_INTEGER); found.length < checkLimit(limit, stepsPage); ) {
      const wanted = limit - found.length;
      const read = await store.steps([id], from, from < 0 ? Math.max(wanted, earlyAnswersMax + 1) : wanted);
      const page = read.slice(0, Math.max(wanted, read.findLastIndex(({ n }) => n === 0) + 1));
      found.push(...page.filter(isEndedStep));
      if (page.length === 0) break;
      from = page.at(-1)!.n;
    }
    if (found.length === 0) await this.get(id);
    return found;
  }

  async log(id: number, { after = 0, limit = logPage }: LogRequest = {}): Promise<readonly LogLine[]> {
    const lines = await this.#stores.forJob(id).store.log(id, after, limit);
    return lines.map((line) => (isEncodedPayload(line.text) ? { ...line, text: shownLine(line.text) } : line));
  }

  /** Returns a page of the output of a run or task. */
  async output(id: number, request?: OutputRequest): Promise<readonly OutputChunk[]> {
    const found = await this.outputOrJob(id, request);
    return 'state' in found ? [] : found;
  }

  /** Returns a page of the output of a run or task; if there are no chunks, the job as it was read after that. */
  async outputOrJob(id: number, request?: OutputRequest): Promise<readonly OutputChunk[] | Job> {
    const chunks = await readOutput(this.#stores.forJob(id).store, id, request);
    return chunks.length === 0 ? this.get(id) : chunks;
  }

  async stats(id: number): Promise<JobRunStats> {
    const run = await this.get(id);
    return runStats(run, await this.#stores.forJob(id).count({ parent: id }), await this.history(id));
  }

  /** How many due jobs of the same kind and type precede a pending job, at most 10,000; null: it is not pending. */
  async queuePosition(job: Job): Promise<number | null> {
    return job.state === 'pending' ? this.#stores.forJob(job.id).store.queuePosition(job) : null;
  }

  async stage(id: number): Promise<StageInfo<readonly LogLine[]>> {
    const job = await this.get(id);
    return stageInfo(job, await this.history(id), { position: await this.queuePosition(job), log: await this.log(id) });
  }

  async explain(id: number): Promise<readonly Reason[]> {
    const job = await this.get(id);
    return explain(this.#stores.forJob(id), job, await this.#catalogue.limits([job.type]));
  }

  // Many jobs.

  async find({ kinds = jobKinds, ...query }: Query = {}, page?: PageRequest): Promise<Page> {
    return this.#stores.find({ kinds, ...query }, page);
  }

  async count({ kinds = jobKinds, ...query }: Query = {}, dueBy?: number): Promise<readonly Tally[]> {
    return this.#stores.count({ kinds, ...query }, dueBy);
  }

  types(): readonly JobType[] {
    return this.#registry.names.map((name) => this.#registry.get(name)!);
  }

  async typeEntry(name: string): Promise<TypeEntry | null> {
    const { entry, isKnown } = await this.#catalogue.rules(name);
    return isKnown ? entry : null;
  }

  limits(types: readonly string[]): Promise<Limits> {
    return this.#catalogue.limits([...new Set(types)]);
  }

  /** Returns what a worker without code knows: the stated versions, and of other types those of the catalogue. */
  async claimVersions(types: readonly string[], stated: readonly TypeVersions[]): Promise<readonly TypeVersions[]> {
    const others = [...new Set(types)].filter((type) => !stated.some((versions) => versions.type === type));
    const rules = await this.#catalogue.rulesOf(others);
    const registered = others.flatMap((type) => {
      const version = versionOfEntry(rules.get(type)!.entry);
      return version === firstTypeVersion ? [] : [{ type, from: version, to: version }];
    });
    return [...stated, ...registered];
  }

  async taskLimitUses(
    run: Job,
    types: readonly string[],
  ): Promise<(type: string, task: unknown) => readonly LimitUse[]> {
    const rules = await this.#catalogue.rulesOf([...new Set(types)]);
    const { store } = this.#stores.database;
    const bursts = new Map(await Promise.all(rules.entries().map(async ([type, { entry: { taskLimits } }]) =>
      [type, await burstsInForce(store, taskLimits)] as const)));
    return (type, task) => {
      const { taskLimitUses, entry: { taskFairness } } = rules.get(type)!;
      return [...taskLimitUses(task, bursts.get(type)), ...shareUsesOf(run, taskFairness)];
    };
  }

  async sharesInUse(type: string): Promise<readonly ShareInUse[]> {
    return sharesInUse(type, await this.#stores.database.store.admittedPerGate([type]));
  }

  async limitsInUse(types: readonly string[]): Promise<readonly LimitInUse[]> {
    const admitted = await this.#stores.database.store.admittedPerGate(types);
    return limitsInUse(admitted, await this.limits([...this.#registry.names, ...gatedTypes(admitted)]));
  }

  async oldestDue(types: readonly string[]): Promise<ReadonlyMap<string, DueJob>> {
    const request = { kinds: workKinds, names: { exact: types, versions: await this.#versionsAlive() } };
    const { database, memory } = this.#stores;
    const found = [...(await memory.store.oldestDue(request)), ...(await database.store.oldestDue(request))];
    return new Map(found.sort(([, a], [, b]) => b.due - a.due)); // per type, the last entry stays: the earliest due
  }

  /** The versions that live instances execute, and the `olderShown` before each, so that waiting jobs of them are found. */
  async #versionsAlive(): Promise<readonly TypeVersions[]> {
    const newest = new Map<string, number>();
    for (const { about } of await this.instances()) {
      for (const { type, to } of about.versions ?? []) newest.set(type, Math.max(to, newest.get(type) ?? 0));
    }
    return [...newest].map(([type, to]) => ({ type, from: Math.max(firstTypeVersion, to - olderShown), to }));
  }

  async failures(request: FailuresRequest): Promise<Failures> {
    return findFailures((query, page) => this.find(query, page), request);
  }

  instances(): Promise<readonly Instance[]> {
    return this.#stores.database.store.instances();
  }

  async *events({ after }: { readonly after?: string } = {}): AsyncGenerator<EngineEvent, void, undefined> {
    const { database, memory } = this.#stores;
    let memoryCursor = await memory.store.feedEnd();
    let { cursor, read } = after === undefined ? startAt(await database.store.feedEnd()) : startAt(after);
    for (;;) {
      const stored = await database.events(cursor, feedPageMax);
      for (const [index, event] of stored.events.entries()) {
        if (index >= read) yield { ...event, cursor: positionOf(cursor, index + 1) };
      }
      ({ cursor, read } = startAt(stored.cursor));
      const inMemory = await memory.events(memoryCursor, feedPageMax);
      memoryCursor = inMemory.cursor;
      for (const event of inMemory.events) yield { ...event, cursor: positionOf(cursor, 0) };
      if (stored.events.length + inMemory.events.length === 0) await this.#clock.sleep(eventPollMs);
    }
  }

  async eventsInMemory(cursor: string | null, limit: number): Promise<FeedPage> {
    return this.#stores.memory.events(cursor, limit);
  }

  // Definitions.

  definitions(filter?: DefFilter): Promise<readonly ListedDefinition[]> {
    return Array.fromAsync(this.eachDefinition(filter));
  }

  /** Yields definitions in the order of their ids, and reads only as many as are taken, by the page. */
  async *eachDefinition(filter: DefFilter = {}, after?: number): AsyncGenerator<ListedDefinition, void, undefined> {
    const passes = defFilter(filter, this.now());
    const read = async (page: readonly KnownDefinition[]): Promise<readonly ListedDefinition[]> => {
      const listed = await this.#listed(await this.#withOutcome(page.filter(passes), filter));
      return filter.status === 'undeclared' ? listed.filter(({ isUndeclared }) => isUndeclared) : listed;
    };
    for await (const listed of readAhead(this.#stores.definitionPages(after), read, definitionPagesAtOnce)) yield* listed;
  }

  /** Returns those of a page whose last run ended as the filter wants. Costs one query if it wants any outcome. */
  async #withOutcome(page: readonly KnownDefinition[], { lastOutcome }: DefFilter): Promise<readonly KnownDefinition[]> {
    if (lastOutcome === undefined || page.length === 0) return page;
    const { store } = this.#stores.forJob(page[0]!.job.id);
    const ends = await store.latestEnds(page.map(({ name }) => name));
    return page.filter(({ name }) => outcomeStatus(ends.get(name) ?? null) === lastOutcome);
  }

  async definition(name: string): Promise<ListedDefinition> {
    return (await this.#listed([await this.#stores.definition(name)]))[0]!;
  }

  async #listed(known: readonly KnownDefinition[]): Promise<readonly ListedDefinition[]> {
    if (known.length === 0) return [];
    const undeclared = await undeclaredDefNames(this.#stores.database.store, known);
    return (await this.#catalogue.resolve(known)).map((def) => ({ ...def, isUndeclared: undeclared.has(def.name) }));
  }

  async configuration(def: string | Pick<ListedDefinition, 'job'>): Promise<Configuration> {
    return (await this.configurations([typeof def === 'string' ? await this.#stores.definition(def) : def]))[0]!;
  }

  /** Returns them in the order of the definitions. Costs three queries of each store that has any of them. */
  async configurations(defs: readonly Pick<ListedDefinition, 'job'>[]): Promise<readonly Configuration[]> {
    const { database, memory } = this.#stores;
    const found = new Map<number, Configuration>();
    for (const jobs of [database, memory]) {
      const own = defs.filter(({ job }) => this.#stores.forJob(job.id) === jobs).map(({ job }) => job);
      for (const [id, configuration] of await configurationsIn(jobs.store, own)) found.set(id, configuration);
    }
    return defs.map(({ job }) => found.get(job.id)!);
  }

  async calendar(request: CalendarRequest = {}): Promise<Calendar> {
    return calendarOf(this.#stores.database, await this.#stores.definitions(), request);
  }

  /** The ticks of a definition in a range of time, newest first. */
  async ticks(name: string, request: TickListRequest = {}): Promise<ListedTicks> {
    const { store } = await this.#stores.forDefinition(name);
    return listTicks(store, await this.definition(name), request);
  }

  async preview(name: string, request: PreviewRequest = {}): Promise<readonly PreviewedTick[]> {
    const { count = 10, runLasts = '0s', policies } = request;
    const options = { now: this.now(), count, runMs: durationMs(runLasts), ...(policies ? { policies } : {}) };
    return previewTicks(await this.definition(name), options);
  }
}
