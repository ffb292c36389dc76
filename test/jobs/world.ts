// The world of an example: a store of its own behind the door, a clock that we move, and checks of all that was stored.
import { expect, test as plain } from 'vitest';
import type { CommandRequest } from '../../src/apply.ts';
import type { WorkRequest } from '../../src/jobs/checks/claim.ts';
import type { Created } from '../../src/jobs/create.ts';
import { newJobs } from '../../src/jobs/new-jobs.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import { planTasks } from '../../src/jobs/work.ts';
import { Jobs } from '../../src/jobs.ts';
import { endings, type Event, type EventKind } from '../../src/model/event.ts';
import { replay } from '../../src/model/evolve.ts';
import { facts, isOpen, type Job, type JobError, type RunningJob } from '../../src/model/job.ts';
import { kinds } from '../../src/model/state.ts';
import { Refusal } from '../../src/refusal.ts';
import { originOf } from '../../src/store/row.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import type { CallersTransaction, OpenStore, StoreKind } from '../support/stores.ts';

export const startOfTime = 1_800_000_000_000;
export const minute = 60_000;

/** Who asks, when it does not matter. */
export const tester = { by: 'tester' };
export const broken: JobError = { code: 'unknown', message: 'it broke' };

/** What is left out takes one job of whatever kind and type, for a minute. */
export type Taking = Partial<WorkRequest>;

export class World {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly jobs: Jobs;
  readonly #opened: OpenStore;

  private constructor(clock: VirtualClock, opened: OpenStore) {
    this.clock = clock;
    this.store = opened.store;
    this.jobs = new Jobs(opened.store);
    this.#opened = opened;
  }

  static async open(kind: StoreKind): Promise<World> {
    const clock = new VirtualClock(startOfTime);
    return new World(clock, await kind.open(clock));
  }

  close(): Promise<void> {
    return this.#opened.close();
  }

  now(): number {
    return this.clock.now();
  }

  /** The door to the same data by a connection of its own. */
  async again(): Promise<Jobs> {
    return new Jobs(await this.#opened.again());
  }

  get takesTransactions(): boolean {
    return this.#opened.begin !== undefined;
  }

  begin(): Promise<CallersTransaction> {
    return this.#opened.begin!();
  }

  async create(draft: Partial<Draft> = {}): Promise<Job> {
    const { outcome, job } = await this.ask(draft);
    expect(outcome).toBe('created');
    return job!;
  }

  ask(draft: Partial<Draft>): Promise<Created> {
    return this.jobs.create({ type: 'plain', ...draft }, 'producer');
  }

  claim(taking: Taking = {}): Promise<readonly RunningJob[]> {
    return this.jobs.claim({ holder: 'worker', leaseMs: minute, kinds, names: { glob: '*' }, limit: 1, ...taking });
  }

  async claimIds(taking: Taking = {}): Promise<number[]> {
    return (await this.claim({ limit: 100, ...taking })).map(({ id }) => id);
  }

  /** A job under a lease of a minute. */
  async running(draft: Partial<Draft> = {}, taking: Taking = {}): Promise<RunningJob> {
    const job = await this.create({ type: 'running', ...draft });
    return this.claimOne(job, taking);
  }

  async claimOne(job: Job, taking: Taking = {}): Promise<RunningJob> {
    const [taken] = await this.claim({ names: { exact: [job.type] }, kinds: [job.kind], ...taking });
    expect(taken?.id).toBe(job.id);
    return taken!;
  }

  async ended(draft: Partial<Draft> = {}): Promise<Job> {
    const job = await this.running(draft);
    return this.jobs.succeed(job, job.fence, tester);
  }

  /** A run that waits for its tasks, and the tasks in the order of their ids. */
  async family(
    size: number,
    draft: Partial<Draft> = {},
    taskDraft: Partial<Draft> = {},
  ): Promise<{ run: Job; tasks: Job[] }> {
    const run = await this.plan(await this.running({ type: 'family', phase: 'prepare', ...draft }), size, taskDraft);
    return { run, tasks: await this.tasksOf(run) };
  }

  async plan(run: RunningJob, size: number, draft: Partial<Draft> = {}): Promise<Job> {
    const drafts = Array.from({ length: size }, (_, index) => ({
      kind: 'task' as const,
      type: 'task',
      key: `task ${index}`,
      ...draft,
    }));
    const tasks = await newJobs(this.jobs, drafts, 'planner', run.id);
    return planTasks(this.store, run, { fence: run.fence, tasks, by: 'planner' });
  }

  async tasksOf(run: Job): Promise<Job[]> {
    return [...(await this.jobs.find({ parent: run.id }, { order: 'oldest' })).jobs];
  }

  async get(job: Job | number): Promise<Job> {
    const found = await this.jobs.get(typeof job === 'number' ? job : job.id);
    expect(found).not.toBeNull();
    return found!;
  }

  async standing(job: Job | number): Promise<string> {
    const found = await this.get(job);
    return found.state === 'held' ? `held by ${found.hold}` : found.state === 'ended' ? found.fate : found.state;
  }

  async events(job: Job | number): Promise<EventKind[]> {
    return (await this.jobs.history(typeof job === 'number' ? job : job.id)).map(({ kind }) => kind);
  }

  async lastEvent(job: Job): Promise<Event> {
    return (await this.jobs.history(job.id)).at(-1)!;
  }

  /** Repairs every lease that is over, as an engine would. */
  async repair(): Promise<Job[]> {
    const over = await this.store.lapsed(100);
    const asks = over.map((job): CommandRequest => ({ job, command: { do: 'lapse' } }));
    const answers = await this.jobs.conclude(asks, { by: 'repairer' });
    return answers.map((answer) => {
      if (answer instanceof Refusal) throw answer;
      return answer.after!;
    });
  }

  async count(): Promise<number> {
    return (await this.jobs.count()).reduce((sum, { count }) => sum + count, 0);
  }

  async everyJob(): Promise<Job[]> {
    const jobs: Job[] = [];
    for (let after: number | undefined; ;) {
      const page = await this.jobs.find(
        {},
        { order: 'oldest', limit: 1000, ...(after === undefined ? {} : { after }) },
      );
      jobs.push(...page.jobs);
      if (page.next === null) return jobs;
      after = page.next;
    }
  }

  /** What must hold of all that is stored, whatever the example did. */
  async check(): Promise<void> {
    const jobs = await this.everyJob();
    const byId = new Map(jobs.map((job) => [job.id, job]));
    for (const job of jobs) {
      const events = await this.jobs.history(job.id);
      checkReplay(job, events);
      checkOneEndPerGeneration(job, events);
      const parent = job.parent === null ? undefined : byId.get(job.parent);
      if (job.parent !== null && isOpen(job))
        expect(parent?.state, `S15: the parent of live job ${job.id}`).not.toBe('ended');
    }
    await this.#checkFeed(jobs);
  }

  /** S29: the feed has each event of every stored job once and in order. */
  async #checkFeed(jobs: readonly Job[]): Promise<void> {
    const told = new Map<number, number[]>();
    for (let cursor: string | null = null; ;) {
      const feed = await this.jobs.events(cursor, 7);
      for (const { job, event } of feed.events) told.set(job, [...(told.get(job) ?? []), event.n]);
      if (feed.events.length === 0) break;
      cursor = feed.cursor;
    }
    for (const { id, version } of jobs) expect(told.get(id), `S29: the feed of job ${id}`).toEqual(upTo(version));
  }
}

/** S26 to S28: the history has no gap, its time does not fall, and folding it gives the row. */
export function checkReplay(job: Job, events: readonly Event[]): void {
  expect(events.map(({ n }) => n), `S27: the numbers of job ${job.id}`).toEqual(upTo(job.version));
  const times = events.map(({ at }) => at);
  expect(times, `S27: the times of job ${job.id}`).toEqual(times.toSorted((a, b) => a - b));
  expect(comparable(replay(originOf(job), events)), `S26: job ${job.id} from its history`).toEqual(comparable(job));
}

/** S1 */
function checkOneEndPerGeneration(job: Job, events: readonly Event[]): void {
  let ends = 0;
  for (const { kind } of events) {
    if (kind === 'reopened') ends = 0;
    if (endings.has(kind)) ends += 1;
    expect(ends, `S1: the ends of job ${job.id}`).toBeLessThanOrEqual(1);
  }
}

/** The result lies beside the history, and a longer lease is no event. */
const comparable = (job: Job): object => ({
  ...facts(job),
  result: null,
  standing: job.state === 'held' ? job.hold : job.state === 'ended' ? [job.fate, job.endedAt] : job.state,
  holder: job.state === 'running' ? job.lease.holder : null,
});

const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

/** A test with a world of its own, whose every history is checked at the end. */
export const testOn = (kind: StoreKind) =>
  plain.extend<{ world: World }>({
    // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures are needed
    world: async ({}, use) => {
      const world = await World.open(kind);
      try {
        await use(world);
        await world.check();
      } finally {
        await world.close();
      }
    },
  });

/** What a promise is refused with. */
export async function refusalOf(asked: Promise<unknown>): Promise<Refusal> {
  const answer: unknown = await asked.then(
    () => new Error('it was not refused'),
    (error: unknown) => error,
  );
  if (answer instanceof Refusal) return answer;
  throw answer;
}

export const codeOf = async (asked: Promise<unknown>): Promise<string> => (await refusalOf(asked)).code;

/** The store with some methods replaced. */
export const replacing = (store: Store, methods: Partial<Store>): Store =>
  new Proxy(store, {
    get: (target, name: keyof Store) => {
      if (name in methods) return methods[name];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member;
    },
  });
