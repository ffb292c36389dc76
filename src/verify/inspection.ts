/**
 * Checks jobs together with the jobs, steps and edges to which they refer. What a page of jobs needs is read for all of
 * them at once; if that fails, for halves of the page, until the jobs are known for which it cannot be read.
 */
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { firstRecordId } from '../model/record-id.ts';
import { holdsKey } from '../model/unique-key.ts';
import { isRefusal } from '../refusal.ts';
import type { StoredStep } from '../model/step.ts';
import type { Instance, Store } from '../store/store.ts';
import { checkDefFollowing } from './def-following.ts';
import { EvidenceIndex, type Evidence } from './evidence.ts';
import { checkClaims, checkParent, checkTasks, plannedTasks, type Tasks } from './family.ts';
import { checkFollowing, stalledAmong, talliesOf, type EdgeTallies } from './following.ts';
import { checkHistory, type JobWithHistory } from './history.ts';
import { LimitHistories } from './limits.ts';
import { readJobs, readPages, type ReadPage } from './paging.ts';
import { checkPauses, limitSpansOf, spansOf, type PausedSpan } from './pauses.ts';
import { findSharedKey } from './shared-key.ts';
import { checkSpreads, spreadSpansOf, type SpreadSpan } from './spreads.ts';
import { checkSteps } from './steps.ts';
import { stepsOfJobs } from './steps-of-jobs.ts';
import { FamilyTally } from './family-tally.ts';
import { calledRuns, checkTicks } from './ticks.ts';
import { checkKey } from './unique.ts';
import { checkVersions } from './versions.ts';
import { violation, type Violation } from './violation.ts';
import { checkWaiting, type WaitingContext } from './waiting.ts';

/** A violation that was found, and the job whose check has found it. */
export interface Suspicion {
  readonly by: number;
  readonly found: Violation;
}

export interface InspectionOptions {
  /** Records of what producers and handlers observed, to compare with the store. */
  readonly evidence?: Evidence;
  /** How long a repair, the continuation of a parent, or a tick may be overdue before it counts as stuck. */
  readonly overdueMs?: number;
  /** Whether other processes may write. */
  readonly isLive: boolean;
}

export interface VerifyProgress {
  readonly jobs: number;
  readonly events: number;
}

const overdueDefaultMs = 60_000;
const atOnce = 500;
/** How often a job is read again that has changed while its history was read. */
const rereadsMax = 3;
/** By how much the instances of a live store may disagree about its time. */
const clockSlackMs = 1_000;

interface Spans {
  readonly paused: readonly PausedSpan[];
  readonly spread: readonly SpreadSpan[];
}

/** What was read for the checks of a page of jobs. */
interface PageContext {
  /** Null: the row of the parent cannot be read. */
  readonly parents: ReadonlyMap<number, Job | null>;
  readonly histories: ReadonlyMap<number, readonly Event[]>;
  readonly steps: ReadonlyMap<number, readonly StoredStep[]>;
  readonly tallies: EdgeTallies;
  readonly spans: Spans;
  /** What the reads themselves have shown. */
  readonly found: readonly Violation[];
}

export class StoreInspection {
  readonly #store: Store;
  readonly #overdueMs: number;
  readonly #evidence: EvidenceIndex | null;
  readonly #slackMs: number;
  readonly #limits = new LimitHistories();
  readonly #families = new FamilyTally();
  #spans: Promise<Spans> | null = null;
  #jobs = 0;
  #events = 0;

  constructor(store: Store, { evidence, overdueMs = overdueDefaultMs, isLive }: InspectionOptions) {
    this.#store = store;
    this.#overdueMs = overdueMs;
    this.#evidence = evidence ? new EvidenceIndex(evidence) : null;
    this.#slackMs = isLive ? clockSlackMs : 0;
  }

  get progress(): VerifyProgress {
    return { jobs: this.#jobs, events: this.#events };
  }

  /** Checks jobs that were not checked before. */
  async inspect(jobs: readonly Job[]): Promise<readonly Suspicion[]> {
    this.#jobs += jobs.length;
    this.#events += jobs.reduce((sum, { version }) => sum + version, 0);
    const searched: number[] = [];
    const found = await this.#judge(jobs, await (this.#spans ??= this.#readSpans()), (stored) => {
      this.#limits.add(stored);
      const planned = plannedTasks(stored);
      if (planned !== null) searched.push(...this.#families.expect(stored.job.id, planned));
    });
    searched.push(...this.#families.add(jobs.filter(({ kind, parent }) => kind === 'task' && parent !== null)));
    return [...found, ...(await this.#checkFamilies(searched))];
  }

  /** Checks the runs of which `inspect` has not seen all tasks. Call it after `inspect` of all jobs. */
  async* unfinished(): AsyncGenerator<readonly Suspicion[]> {
    const runs = this.#families.unfinished();
    for (let from = 0; from < runs.length; from += atOnce) yield this.#checkFamilies(runs.slice(from, from + atOnce));
  }

  /**
   * Checks jobs again. Findings about jobs that change during the check are left out. The pauses are read again, after the
   * jobs: jobs may have been claimed after the end of a pause that was in force before.
   */
  async again(ids: readonly number[]): Promise<readonly Suspicion[]> {
    const jobs = await this.#store.load([...new Set(ids)]);
    const runs: number[] = [];
    const found = await this.#judge(jobs, null, (stored) => {
      if (plannedTasks(stored) !== null) runs.push(stored.job.id);
    });
    found.push(...(await this.#checkFamilies(runs)));
    const versions = new Map((await this.#store.load([...new Set(found.map(({ by }) => by))])).map(({ id, version }) => [id, version]));
    const unchanged = new Set(jobs.filter(({ id, version }) => versions.get(id) === version).map(({ id }) => id));
    return found.filter(({ by }) => unchanged.has(by));
  }

  missing(): Violation[] {
    return this.#evidence?.checkMissing() ?? [];
  }

  /** `since`: see `LimitHistories.check`. */
  exceededLimits(since: number): Promise<Violation[]> {
    return this.#limits.check(this.#store, since);
  }

  /** `spans` null: they are read after the histories. `onRead` is called with each job and its history. */
  async #judge(jobs: readonly Job[], spans: Spans | null, onRead: (stored: JobWithHistory) => void): Promise<Suspicion[]> {
    const { value: context, why } = await attempted(this.#contextOf(jobs, spans));
    if (context === null && jobs.length <= 1) return jobs.map(({ id }) => ({ by: id, found: uncheckable(id, why) }));
    if (context === null) {
      const middle = Math.ceil(jobs.length / 2);
      const first = await this.#judge(jobs.slice(0, middle), spans, onRead);
      return [...first, ...(await this.#judge(jobs.slice(middle), spans, onRead))];
    }
    const found = context.found.map((each): Suspicion => ({ by: each.job!, found: each }));
    for (const job of jobs) found.push(...(await this.#judgeAny(job, context, onRead)).map((each) => ({ by: job.id, found: each })));
    return found;
  }

  async #contextOf(jobs: readonly Job[], spans: Spans | null): Promise<PageContext> {
    const tallies = await talliesOf(this.#store, jobs);
    return {
      tallies,
      found: [...(await this.#checkKeys(jobs)), ...(await this.#checkWaiting(jobs, tallies))],
      parents: await this.#parentsOf(jobs),
      histories: await this.#historiesOf(jobs),
      steps: await stepsOfJobs(this.#store, jobs),
      spans: spans ?? (await this.#readSpans()),
    };
  }

  /**
   * Checks one job. If the check throws, for example because another version of Stint wrote the row, returns a
   * violation, so that the other jobs are still checked.
   */
  async #judgeAny(seen: Job, context: PageContext, onRead: (stored: JobWithHistory) => void): Promise<Violation[]> {
    const { value, why } = await attempted(this.#judgeOne(seen, context, onRead));
    return value ?? [uncheckable(seen.id, why)];
  }

  async #judgeOne(seen: Job, context: PageContext, onRead: (stored: JobWithHistory) => void): Promise<Violation[]> {
    const events = context.histories.get(seen.id);
    const stored = events?.length === seen.version ? { job: seen, events } : await this.#withHistory(seen);
    if (stored === null) return [];
    onRead(stored);
    const found = this.#check(stored, context);
    return stored.job.kind === 'def' ? [...found, ...(await this.#checkDefinition(stored))] : found;
  }

  #check(stored: JobWithHistory, { parents, steps, tallies, spans }: PageContext): Violation[] {
    const { job } = stored;
    const parent = job.parent === null ? undefined : parents.get(job.parent);
    return [
      ...checkHistory(stored),
      ...(parent === null ? [] : [...checkParent(job, parent), ...checkClaims(stored, parent)]),
      ...checkPauses(stored, spans.paused),
      ...checkSpreads(stored, spans.spread, this.#slackMs),
      ...checkVersions(stored),
      ...checkSteps(stored, steps.get(job.id) ?? []),
      ...checkFollowing(stored, tallies),
      ...(this.#evidence?.check(stored) ?? []),
    ];
  }

  async #checkDefinition(stored: JobWithHistory): Promise<Violation[]> {
    return [...checkTicks(stored), ...(await this.#checkRuns(stored)), ...(await checkDefFollowing(this.#store, stored))];
  }

  /**
   * Returns the job with its history; null: the job was deleted. If the job was changed between the two reads, reads
   * both again, up to `rereadsMax` times. If the version still differs from the number of events, returns both as they
   * are.
   */
  async #withHistory(seen: Job): Promise<JobWithHistory | null> {
    let job: Job | undefined = seen;
    for (let tries = 0; ; tries++) {
      const events = await this.#store.history(job.id);
      if (events.length === job.version || tries === rereadsMax) return { job, events };
      [job] = await this.#store.load([job.id]);
      if (!job) return null;
    }
  }

  /** Returns the histories of a page of jobs; none, if one of them cannot be read: then each is read alone. */
  async #historiesOf(jobs: readonly Job[]): Promise<ReadonlyMap<number, readonly Event[]>> {
    return (await attempted(this.#store.histories(jobs.map(({ id }) => id)))).value ?? new Map();
  }

  async #parentsOf(jobs: readonly Job[]): Promise<ReadonlyMap<number, Job | null>> {
    const { jobs: found, unreadable } = await this.#load(jobs.flatMap(({ parent }) => parent ?? []));
    return new Map([...found.map((job) => [job.id, job] as const), ...unreadable.map(({ id }) => [id, null] as const)]);
  }

  /** Loads jobs of which some may be unreadable. Those are findings when their page is read. */
  async #load(some: readonly number[]): Promise<ReadPage> {
    const ids = [...new Set(some)];
    if (ids.length === 0) return { jobs: [], unreadable: [] };
    const { value: jobs } = await attempted(this.#store.load(ids));
    return jobs === null ? readJobs(this.#store, ids) : { jobs, unreadable: [] };
  }

  async #checkKeys(jobs: readonly Job[]): Promise<Violation[]> {
    const now = this.#store.now();
    const keyed = jobs.filter((job) => holdsKey(job, now));
    if (keyed.length === 0) return [];
    const jobsByKey = await this.#store.jobsByKey(keyed.map(({ unique }) => unique!.key));
    return keyed.flatMap((job) => checkKey(job, jobsByKey.get(job.unique!.key)));
  }

  async #checkWaiting(jobs: readonly Job[], tallies: EdgeTallies): Promise<Violation[]> {
    const waiting = jobs.filter((job) => job.state === 'held' && job.hold === 'children').map(({ id }) => id);
    const childless = waiting.length === 0 ? [] : await this.#store.settleable(waiting.length, waiting);
    const stalled = await stalledAmong(this.#store, jobs, tallies);
    const instances = await this.#store.instances();
    const context: WaitingContext = {
      now: this.#store.now(),
      instances: new Map(instances.map((instance): [string, Instance] => [instance.id, instance])),
      overdueMs: this.#overdueMs,
      childless: new Set(childless.map(({ id }) => id)),
      stalled,
    };
    return jobs.flatMap((job) => checkWaiting(job, context));
  }

  async #readSpans(): Promise<Spans> {
    const paused: PausedSpan[] = [];
    const spread: SpreadSpan[] = [];
    const records = { after: firstRecordId - 1, upTo: Infinity };
    for await (const { jobs } of readPages(this.#store, { kinds: ['pause', 'limit'] }, records)) {
      const histories = await this.#historiesOf(jobs);
      for (const job of jobs) {
        const events = histories.get(job.id) ?? (await attempted(this.#store.history(job.id))).value;
        // A record without a history is a finding of its own, by the check of its page.
        if (events === null) continue;
        paused.push(...(job.kind === 'limit' ? limitSpansOf : spansOf)({ job, events }, this.#slackMs));
        if (job.kind === 'pause') spread.push(...spreadSpansOf({ job, events }));
      }
    }
    return { paused, spread };
  }

  /** S18: a run that names a tick was created by that tick of its definition. */
  async #checkRuns(stored: JobWithHistory): Promise<Violation[]> {
    const called = calledRuns(stored);
    const found: Violation[] = [];
    for await (const { jobs } of readPages(this.#store, { kinds: ['run'], def: stored.job.def! })) {
      for (const { id, tick } of jobs) {
        if (tick === null || tick.def !== stored.job.id || called.get(id) === tick.nominal) continue;
        const wrong = `run ${id} says to answer a tick of definition ${stored.job.def}, which does not know it`;
        found.push(violation('S18', id, wrong));
      }
    }
    return found;
  }

  /** S13: searches the tasks of runs that have planned. */
  async #checkFamilies(runs: readonly number[]): Promise<Suspicion[]> {
    const found: Suspicion[] = [];
    for (const run of (await this.#load(runs)).jobs) {
      const { value, why } = await attempted(this.#checkFamily(run));
      const wrong = value ?? [violation('S36', run.id, `the tasks of run ${run.id} cannot be checked: ${why}`)];
      found.push(...wrong.map((each) => ({ by: run.id, found: each })));
    }
    return found;
  }

  async #checkFamily(run: Job): Promise<Violation[]> {
    const stored = await this.#withHistory(run);
    const planned = stored === null ? null : plannedTasks(stored);
    if (planned === null) return [];
    const tasks = await this.#tasksOf(run.id);
    return tasks === null ? [] : checkTasks(run, planned, tasks);
  }

  /** Returns the tasks of a run; null: a row that may be one of the tasks cannot be read. */
  async #tasksOf(run: number): Promise<Tasks | null> {
    const pages = (): ReturnType<typeof readPages> => readPages(this.#store, { parent: run, kinds: ['task'] });
    let [count, isReadable] = [0, true];
    const sharedKey = await findSharedKey(async function* keys() {
      count = 0;
      for await (const { jobs, unreadable } of pages()) {
        count += jobs.length;
        isReadable &&= unreadable.length === 0;
        yield jobs.map(({ key }) => key);
      }
    });
    return isReadable ? { count, sharedKey } : null;
  }
}

type Attempted<T> = { readonly value: T; readonly why: null } | { readonly value: null; readonly why: string };

/**
 * Awaits a read or check of rows that may be damaged, and returns its value, or why it failed. A refusal is thrown: the
 * store itself does not answer.
 */
async function attempted<T>(attempt: Promise<T>): Promise<Attempted<T>> {
  try {
    return { value: await attempt, why: null };
  } catch (error) {
    if (isRefusal(error)) throw error;
    return { value: null, why: messageOf(error) };
  }
}

const uncheckable = (id: number, why: string | null): Violation =>
  violation('S36', id, `job ${id} cannot be checked: ${why}`);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
