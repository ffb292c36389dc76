/**
 * Verifies a store: checks the invariants that its rows, histories and feed can show, page by page, while other
 * processes may write. A finding about a job that can be read is checked again later, since two reads of a live store
 * are not one snapshot.
 */
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { beforeSteps, type StoredStep } from '../model/step.ts';
import { firstRecordId } from '../model/record-id.ts';
import { holdsKey } from '../model/unique-key.ts';
import { pagesOf } from '../store/paging.ts';
import { stepsPage } from '../store/step-row.ts';
import type { Instance, Store } from '../store/store.ts';
import { isRefusal } from '../refusal.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { EvidenceIndex, type Evidence } from './evidence.ts';
import { checkClaims, checkParent, checkTasks, plannedTasks, type Tasks } from './family.ts';
import { checkFeed } from './feed.ts';
import { checkDefFollowing } from './def-following.ts';
import { checkFollowing, stalledAmong } from './following.ts';
import { LimitHistories } from './limits.ts';
import { checkHistory, type JobWithHistory } from './history.ts';
import { readPages } from './paging.ts';
import { checkPauses, limitSpansOf, spansOf, type PausedSpan } from './pauses.ts';
import { checkSpreads, spreadSpansOf, type SpreadSpan } from './spreads.ts';
import { checkSteps } from './steps.ts';
import { findSharedKey } from './shared-key.ts';
import { calledRuns, checkTicks } from './ticks.ts';
import { checkKey } from './unique.ts';
import { violation, type Violation } from './violation.ts';
import { checkVersions } from './versions.ts';
import { checkWaiting, type WaitingContext } from './waiting.ts';

export interface VerifyOptions {
  /** Records of what producers and handlers observed, to compare with the store. */
  readonly evidence?: Evidence;
  /** How long a repair, the continuation of a parent, or a tick may be overdue before it counts as stuck. */
  readonly overdueMs?: number;
  /**
   * How long a finding must persist before it is reported. 0: findings are reported at once, for a store to which no
   * other process writes.
   */
  readonly patienceMs?: number;
  readonly clock?: Pick<Clock, 'sleep'>;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface VerifyProgress {
  readonly jobs: number;
  readonly events: number;
}

const overdueDefaultMs = 60_000;
const patienceDefaultMs = 3_000;
/** A finding is reported if it appears in this many checks, the first included. Does not apply if `patienceMs` is 0. */
const confirmations = 3;
const atOnce = 16;
const pausePage = 500;

interface Spans {
  readonly paused: readonly PausedSpan[];
  readonly spread: readonly SpreadSpan[];
}
/** By how much the instances of a live store may disagree about its time. */
const clockSlackMs = 1_000;

/**
 * Yields violations when they are found; violations that `inspect` finds are confirmed first. Returns the number of
 * jobs and events checked.
 */
export async function* verify(store: Store, options: VerifyOptions = {}): AsyncGenerator<Violation, VerifyProgress> {
  const { patienceMs = patienceDefaultMs, clock = systemClock, onProgress } = options;
  const inspection = new StoreInspection(store, options);
  try {
    for await (const { jobs, unreadable } of readPages(store)) {
      for (const { id, why } of unreadable) yield violation('S36', id, `job ${id} cannot be read: ${why}`);
      const suspects = await inspection.inspect(jobs);
      yield* patienceMs === 0 ? suspects : await confirmed(inspection, suspects, patienceMs, clock);
      onProgress?.(inspection.progress);
    }
  } catch (error) {
    if (isRefusal(error)) throw error;
    const { jobs } = inspection.progress;
    yield violation('S36', null, `no more than ${jobs} jobs can be read and checked: ${messageOf(error)}`);
  }
  for (const { job, sentence } of (await store.contradictions?.()) ?? []) yield violation('S38', job, sentence);
  yield* inspection.missing();
  yield* await inspection.exceededLimits();
  yield* checkFeed(store);
  return inspection.progress;
}

/** Checks the suspect jobs again, and returns the findings that appear in every check. */
async function confirmed(
  inspection: StoreInspection,
  suspects: readonly Violation[],
  patienceMs: number,
  clock: Pick<Clock, 'sleep'>,
): Promise<readonly Violation[]> {
  let standing = suspects;
  for (let round = 1; round < confirmations && standing.length > 0; round++) {
    await clock.sleep(patienceMs / (confirmations - 1));
    const found = await inspection.again(standing.flatMap(({ job }) => job ?? []));
    const isStanding = (before: Violation): boolean =>
      found.some(({ job, invariant }) => job === before.job && invariant === before.invariant);
    standing = standing.filter(isStanding);
  }
  return standing;
}

/** Checks jobs together with the jobs to which they refer. */
class StoreInspection {
  readonly #store: Store;
  readonly #overdueMs: number;
  readonly #evidence: EvidenceIndex | null;
  readonly #slackMs: number;
  #spans: Promise<Spans> | null = null;
  readonly #limits = new LimitHistories();
  #jobs = 0;
  #events = 0;

  constructor(store: Store, { evidence, overdueMs = overdueDefaultMs, patienceMs }: VerifyOptions) {
    this.#store = store;
    this.#overdueMs = overdueMs;
    this.#evidence = evidence ? new EvidenceIndex(evidence) : null;
    this.#slackMs = patienceMs === 0 ? 0 : clockSlackMs;
  }

  get progress(): VerifyProgress {
    return { jobs: this.#jobs, events: this.#events };
  }

  async inspect(jobs: readonly Job[]): Promise<Violation[]> {
    this.#jobs += jobs.length;
    this.#events += jobs.reduce((sum, { version }) => sum + version, 0);
    return this.#judge(jobs);
  }

  async again(ids: readonly number[]): Promise<Violation[]> {
    return this.#judge(await this.#store.load([...new Set(ids)]));
  }

  missing(): Violation[] {
    return this.#evidence?.checkMissing() ?? [];
  }

  exceededLimits(): Promise<Violation[]> {
    return this.#limits.check(this.#store);
  }

  async #judge(jobs: readonly Job[]): Promise<Violation[]> {
    const parents = await this.#parentsOf(jobs);
    const histories = await this.#historiesOf(jobs);
    const found = [...(await this.#checkKeys(jobs)), ...(await this.#checkWaiting(jobs))];
    for (let from = 0; from < jobs.length; from += atOnce) {
      const some = jobs.slice(from, from + atOnce);
      found.push(...(await Promise.all(some.map((job) => this.#judgeAny(job, histories.get(job.id), parents)))).flat());
    }
    return found;
  }

  /**
   * Checks one job. If the check throws, for example because another version of Stint wrote the row, returns a
   * violation, so that the other jobs are still checked.
   */
  #judgeAny(seen: Job, events: readonly Event[] | undefined, parents: ReadonlyMap<number, Job>): Promise<Violation[]> {
    return this.#judgeOne(seen, events, parents).catch((error: unknown) => {
      if (isRefusal(error)) throw error;
      return [violation('S36', seen.id, `job ${seen.id} cannot be checked: ${messageOf(error)}`)];
    });
  }

  async #judgeOne(
    seen: Job,
    events: readonly Event[] | undefined,
    parents: ReadonlyMap<number, Job>,
  ): Promise<Violation[]> {
    const stored = events?.length === seen.version ? { job: seen, events } : await this.#withHistory(seen);
    if (stored === null) return [];
    const { job } = stored;
    this.#limits.add(stored);
    const parent = job.parent === null ? undefined : parents.get(job.parent);
    return [
      ...checkHistory(stored),
      ...checkParent(job, parent),
      ...checkClaims(stored, parent),
      ...(await this.#checkSpans(stored)),
      ...checkVersions(stored),
      ...(job.kind === 'def' ? [
        ...checkTicks(stored), ...(await this.#checkRuns(stored)), ...(await checkDefFollowing(this.#store, stored)),
      ] : []),
      ...(await this.#checkTasks(stored)),
      ...(await this.#checkSteps(stored)),
      ...(await checkFollowing(this.#store, stored)),
      ...(this.#evidence?.check(stored) ?? []),
    ];
  }

  /**
   * Returns the job with its history; null: the job was deleted. If the job was changed between the two reads, reads
   * both again, up to `confirmations` times. If the version still differs from the number of events, returns both as
   * they are.
   */
  async #withHistory(seen: Job): Promise<JobWithHistory | null> {
    let job: Job | undefined = seen;
    for (let tries = 0; ; tries++) {
      const events = await this.#store.history(job.id);
      if (events.length === job.version || tries === confirmations) return { job, events };
      [job] = await this.#store.load([job.id]);
      if (!job) return null;
    }
  }

  /** Returns the histories of a page of jobs; none, if one of them cannot be read: then each is read alone. */
  #historiesOf(jobs: readonly Job[]): Promise<ReadonlyMap<number, readonly Event[]>> {
    return this.#store.histories(jobs.map(({ id }) => id)).catch((error: unknown) => {
      if (isRefusal(error)) throw error;
      return new Map();
    });
  }

  async #parentsOf(jobs: readonly Job[]): Promise<ReadonlyMap<number, Job>> {
    const ids = [...new Set(jobs.flatMap(({ parent }) => parent ?? []))];
    const found = ids.length === 0 ? [] : await this.#store.load(ids);
    return new Map(found.map((job) => [job.id, job]));
  }

  async #checkKeys(jobs: readonly Job[]): Promise<Violation[]> {
    const now = this.#store.now();
    const keyed = jobs.filter((job) => holdsKey(job, now));
    if (keyed.length === 0) return [];
    const jobsByKey = await this.#store.jobsByKey(keyed.map(({ unique }) => unique!.key));
    return keyed.flatMap((job) => checkKey(job, jobsByKey.get(job.unique!.key)));
  }

  async #checkWaiting(jobs: readonly Job[]): Promise<Violation[]> {
    const waiting = jobs.filter((job) => job.state === 'held' && job.hold === 'children').map(({ id }) => id);
    const childless = waiting.length === 0 ? [] : await this.#store.settleable(waiting.length, waiting);
    const stalled = await stalledAmong(this.#store, jobs);
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

  /** Reads the pauses once. A later pause can only be missed: its claims were checked against the earlier ones. */
  async #checkSpans(stored: JobWithHistory): Promise<Violation[]> {
    const { paused, spread } = await (this.#spans ??= this.#readSpans());
    return [...checkPauses(stored, paused), ...checkSpreads(stored, spread, this.#slackMs)];
  }

  async #readSpans(): Promise<Spans> {
    const paused: PausedSpan[] = [];
    const spread: SpreadSpan[] = [];
    for await (const jobs of pagesOf(this.#store, { kinds: ['pause', 'limit'] }, pausePage, firstRecordId - 1)) {
      const histories = await this.#historiesOf(jobs);
      for (const job of jobs) {
        const events = histories.get(job.id) ?? (await this.#store.history(job.id));
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

  /** Only jobs that were claimed or answered have steps. */
  async #checkSteps(stored: JobWithHistory): Promise<Violation[]> {
    const { kind, id, version } = stored.job;
    if ((kind !== 'run' && kind !== 'task') || version === 1) return [];
    const steps: StoredStep[] = [];
    for (let after = beforeSteps; ; after = steps.at(-1)!.n) {
      const page = await this.#store.steps([id], after, stepsPage);
      steps.push(...page);
      if (page.length < stepsPage) return checkSteps(stored, steps);
    }
  }

  async #checkTasks(stored: JobWithHistory): Promise<Violation[]> {
    const planned = plannedTasks(stored);
    if (planned === null) return [];
    const tasks = await this.#tasksOf(stored.job.id);
    return tasks === null ? [] : checkTasks(stored.job, planned, tasks);
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
