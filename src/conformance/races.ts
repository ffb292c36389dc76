/**
 * Races: several connections change a small set of jobs concurrently, in real time. Each connection decides a change
 * from the version of the job that it last read, which may be outdated. A ledger records the store's answers. After the
 * race, these answers are compared with the stored histories.
 */
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { seededRandom, systemRandom, type Random } from '../random.ts';
import type { Change } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import { gateText, type Limits } from '../model/gate.ts';
import { isOpen, type Job, type RunningJob } from '../model/job.ts';
import { evolve, blankJob } from '../model/evolve.ts';
import { step } from '../model/machine.ts';
import { kinds } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import { systemClock, turn } from '../time/clock.ts';
import { originOf } from '../store/row.ts';
import type { Batch, ClaimRequest, FeedEvent, Store } from '../store/store.ts';
import { Ledger, type LedgerEvents } from './ledger.ts';
import { childOf, newJob, type Open, type Opened, type JobSpec } from './world.ts';

export interface Races {
  readonly connections?: number;
  /** How many moves each connection makes. */
  readonly turns?: number;
  readonly seed?: number;
}

const gatedType = 'gated';
const gatedMax = 2;
const gated = { type: gatedType, gate: gateText({ type: gatedType, def: null, key: null, leaderOnly: false }) };
const family = { type: 'family', phase: 'prepare', priority: 1 } as const;
const limits: Limits = { types: new Map([[gatedType, gatedMax]]), defs: new Map(), keys: new Map() };
const claimRequest: ClaimRequest = { kinds, names: { glob: '*' }, limit: 3, limits };
const keys = ['k', 'l'];
/** Jobs that fail or crash are due again immediately. The limits are so high that hardly any job reaches them. */
const policy = { attemptsMax: 1000, crashesMax: 1000, baseMs: 0 };
/** How many tries `drain` makes to end all open jobs. If jobs are still open after that, it throws. */
const drainTriesMax = 2000;

/** Runs one race. Throws the first violation of an invariant; otherwise returns the number of events of each kind. */
export async function checkRaces(
  open: Open,
  { connections = 8, turns = 150, ...options }: Races = {},
): Promise<EventCounts> {
  const seed = options.seed ?? Math.floor(systemRandom.next() * 2 ** 31);
  const opened = await open(systemClock);
  try {
    return await race(opened, { connections, turns, seed });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`a race was lost (seed ${seed}): ${why}`, { cause: error });
  } finally {
    await opened.close();
  }
}

type EventCounts = Map<string, number>;

async function race({ store, again }: Opened, { connections, turns, seed }: Required<Races>): Promise<EventCounts> {
  const ledger = new Ledger();
  const stores = [store];
  while (stores.length < connections) stores.push(await again());
  const racers = stores.map((each, index) => new Racer(`racer ${index}`, each, ledger, seededRandom(seed + index)));
  await racers[0]!.begin();
  const follower = new Follower(store);
  await follower.followUntil(allEnd(racers.map((racer) => racer.run(turns))));
  await racers[0]!.drain();
  await follower.readOn();
  const counts = await checkEverything(store, ledger, follower);
  for (const each of stores.slice(1)) if (each !== store) await each.close();
  return counts;
}

async function checkEverything(store: Store, ledger: Ledger, follower: Follower): Promise<EventCounts> {
  const jobs = await allJobs(store);
  const histories = await Promise.all(jobs.map(async (job) => [job, await store.history(job.id)] as const));
  for (const history of histories) {
    ledger.checkHistory(history);
    ledger.checkLeases(history);
    ledger.checkCancels(history, histories.filter(([child]) => child.parent === history[0].id));
    follower.check(history);
  }
  ledger.checkNoneIsLost(new Set(jobs.map(({ id }) => id)));
  ledger.checkAtMost(gatedMax, histories, isBehindGate, 'S32: admitted jobs of the gate');
  for (const key of keys) {
    ledger.checkAtMost(1, histories, (job) => isLiveWith(key, job), `S11: live jobs with key ${key}`);
  }
  await follower.checkAgain();
  const counts: EventCounts = new Map();
  for (const { kind } of histories.flatMap(([, events]) => events)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

export async function allJobs(store: Store): Promise<Job[]> {
  const { jobs, next } = await store.find({}, { limit: 1000, order: 'oldest' });
  if (next === null) return [...jobs];
  return [...jobs, ...(await store.find({}, { limit: 1000, order: 'oldest', after: next })).jobs];
}

async function allEnd(works: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(works)) if (outcome.status === 'rejected') throw outcome.reason;
}

/**
 * Replays the feed and checks S11, S16 and S32 of docs/promises.md after every event. Only for SQLite: the feed of
 * PostgreSQL orders concurrent transactions by their number, not by the time of their commit.
 */
export function checkInFeedOrder(feed: readonly FeedEvent[], jobs: readonly Job[]): void {
  const current = new Map(jobs.map((job) => [job.id, blankJob(originOf(job))]));
  const count = (isSo: (job: Job) => boolean): number =>
    [...current.values()].filter((job) => job.version > 0 && isSo(job)).length;
  for (const { job: id, event } of feed) {
    const job = evolve(current.get(id)!, event);
    current.set(id, job);
    const isLate = event.kind === 'claimed' && job.parent !== null && current.get(job.parent)?.cancel;
    ok(!isLate, `S16: task ${id} was claimed after its parent was asked to give up`);
    ok(count(isBehindGate) <= gatedMax, `S32: event ${event.n} of job ${id} exceeds the limit`);
    for (const key of keys) ok(count((each) => isLiveWith(key, each)) <= 1, `S11: key ${key} is taken twice`);
  }
}

const isLiveWith = (key: string, job: Job): boolean => job.unique?.key === key && isOpen(job);

const isBehindGate = (job: Job): boolean => job.gate !== null && job.admitted;

/** One of the racing connections, with the jobs that it believes it holds. */
export class Racer {
  readonly #name: string;
  readonly #store: Store;
  readonly #ledger: Ledger;
  readonly #random: Random;
  #held: RunningJob[] = [];

  constructor(name: string, store: Store, ledger: Ledger, random: Random) {
    this.#name = name;
    this.#store = store;
    this.#ledger = ledger;
    this.#random = random;
  }

  async begin(): Promise<void> {
    for (const spec of [{}, gated, family]) {
      for (let count = 0; count < 5; count += 1) await this.#create(spec);
    }
  }

  async run(turns: number): Promise<void> {
    for (let done = 0; done < turns; done += 1) {
      await this.#pick(this.#moves)();
      await turn();
    }
  }

  readonly #moves: readonly (() => Promise<void>)[] = [
    () => this.#claim(this.#pick([2, 10, 60, 300])),
    () => this.#claim(this.#pick([2, 10, 60, 300])),
    () => this.#finishOne(),
    () => this.#finishOne(),
    () => this.#finishOne(),
    () => this.#create(this.#pick<JobSpec>([{}, gated, family, { unique: { key: this.#pick(keys), forMs: null } }])),
    () => this.#extend(),
    () => this.#repair(),
    () => this.#settle(),
    () => this.#operate(),
    () => this.#operate(),
    async () => void this.#held.shift(), // like a worker that crashes: forgets a job and reports nothing
  ];

  async #create(spec: JobSpec): Promise<void> {
    const id = await this.#store.reserveIds(1);
    await this.#commit({ changes: [newJob({ id, created: this.#store.now(), policy, ...spec })] });
  }

  async #claim(leaseMs: number): Promise<void> {
    const changes = await this.#ledger.during(() =>
      this.#store.claim(claimRequest, (candidates, now) =>
        candidates.flatMap(({ job, parentCancelled }) =>
          decided(job, { do: 'claim', holder: this.#name, until: now + leaseMs, parentCancelled }, this.#name, now))));
    this.#held.push(...changes.map(({ after }) => after).filter((job) => job?.state === 'running'));
  }

  async #finishOne(): Promise<void> {
    const job = this.#held.shift();
    if (job?.phase === 'prepare') await this.#plan(job);
    else if (job) await this.#apply(job, this.#pick(finishings(job, this.#store.now())));
  }

  /**
   * Plans two tasks of a run. At random, either the commit of the command `plan` inserts the tasks, or `stageChildren`
   * stores them before that commit.
   */
  async #plan(job: RunningJob): Promise<void> {
    const firstId = await this.#store.reserveIds(2);
    const now = this.#store.now();
    const tasks = [0, 1].map((offset) => newJob({ ...childOf(job), policy, id: firstId + offset, created: now }));
    const planned = decided(job, { do: 'plan', fence: job.fence, tasks: 2 }, this.#name, now);
    if (planned.length === 0) return;
    if (this.#random.next() < 0.5) return this.#commit({ changes: [...planned, ...tasks], whole: true });
    await this.#store.stageChildren(job.id, job.fence, tasks);
    await this.#commit({ changes: planned, whole: true, staged: { parent: job.id, fence: job.fence } }, tasks);
  }

  async #extend(): Promise<void> {
    const until = this.#store.now() + 50;
    const answers = await this.#store.extend(this.#held.map(({ id, fence }) => ({ id, fence })), until);
    this.#held.forEach(({ id, fence }, index) => answers[index] && this.#ledger.extended({ id, fence, until }));
    this.#held = this.#held.filter((_, index) => answers[index]);
  }

  async #repair(): Promise<void> {
    for (const job of await this.#store.lapsed(3)) await this.#apply(job, { do: 'lapse' });
  }

  async #settle(): Promise<void> {
    for (const job of await this.#store.settleable(3)) await this.#apply(job, { do: 'settle' });
  }

  /** Reads some jobs and changes one of them, as an operator could. */
  async #operate(): Promise<void> {
    const { jobs } = await this.#store.find({ parent: null }, { limit: 15 });
    if (jobs.length === 0) return;
    const edit = { priority: Math.floor(this.#random.next() * 3) };
    const commands = [
      { do: 'cancel', code: 'user' }, { do: 'cancel', code: 'user' }, { do: 'stop', code: 'admin' }, { do: 'pause' },
      { do: 'resume' }, { do: 'retry', reopens: 0 }, { do: 'requeue', due: this.#store.now() }, { do: 'edit', edit },
    ] as const;
    const job = this.#pick(jobs);
    const command = this.#pick<Command>(commands);
    const isWaiting = job.state === 'held' && job.hold === 'children';
    if (!isWaiting || command.do !== 'requeue') await this.#apply(job, command);
  }

  /** Executes all open jobs until they end. Throws if a job stays open after `drainTriesMax` tries. */
  async drain(): Promise<void> {
    this.#held = [];
    for (let tries = 0; tries < drainTriesMax; tries += 1) {
      const { jobs } = await this.#store.find({ standings: ['pending', 'held', 'running'] }, { limit: 1000 });
      if (jobs.length === 0) return;
      for (const job of jobs.filter(isPaused)) await this.#apply(job, { do: 'resume' });
      await this.#repair();
      await this.#settle();
      await this.#claim(60_000);
      while (this.#held.length > 0) await this.#end(this.#held.shift()!);
      await systemClock.sleep(1);
    }
    const { jobs } = await this.#store.find({ standings: ['pending', 'held', 'running'] }, { limit: 5 });
    equal(jobs.map((job) => JSON.stringify(job)).join('\n'), '', 'L2: everything ends');
  }

  #end(job: RunningJob): Promise<void> {
    const { fence } = job;
    return this.#apply(job, job.phase === 'prepare' ? { do: 'plan', fence, tasks: 0 } : { do: 'succeed', fence });
  }

  async #apply(job: Job, command: Command): Promise<void> {
    const changes = decided(job, command, this.#name, this.#store.now());
    if (changes.length > 0) await this.#commit({ changes });
  }

  /**
   * Commits the batch and records the written changes in the ledger. `more` has the creations of staged tasks; they are
   * recorded, too, if the whole batch was written.
   */
  async #commit(batch: Batch, more: readonly Change[] = []): Promise<void> {
    await this.#ledger.during(async () => {
      const written = await this.#store.commit(batch);
      return [...batch.changes.filter((_, index) => written[index]), ...(written.includes(false) ? [] : more)];
    });
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random.next() * from.length)]!;
  }
}

const isPaused = (job: Job): boolean => job.state === 'held' && job.hold === 'pause';

function finishings({ fence }: RunningJob, now: number): readonly Command[] {
  const error = { code: 'unknown', message: 'it failed' } as const;
  return [
    { do: 'succeed', fence, result: '1' },
    { do: 'succeed', fence, result: '1' },
    { do: 'fail', fence, error, retryable: true, retryAt: now },
    { do: 'fail', fence, error, retryable: false },
    { do: 'release', fence },
  ];
}

function decided(job: Job, command: Command, by: string, now: number): Change[] {
  const change = step(job, command, { by, now });
  return change instanceof Refusal || change.events.length === 0 ? [] : [change];
}

/** Reads the feed during the race, to compare it with the histories afterwards. */
class Follower {
  readonly #store: Store;
  readonly #feedEvents: FeedEvent[] = [];
  #cursor: string | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  async followUntil(racing: Promise<unknown>): Promise<void> {
    let isOver = false;
    const ending = racing.finally(() => {
      isOver = true;
    });
    const follow = async (): Promise<void> => {
      while (!isOver) {
        await this.#readSome();
        await turn();
      }
    };
    await allEnd([ending, follow()]);
  }

  async readOn(): Promise<void> {
    while ((await this.#readSome()) > 0);
  }

  check([{ id }, events]: LedgerEvents): void {
    const numbers = this.#feedEvents.filter(({ job }) => job === id).map(({ event }) => event.n);
    deepEqual(numbers, events.map(({ n }) => n), `S29: the feed has every event of job ${id} once and in order`);
  }

  async checkAgain(): Promise<void> {
    const later = new Follower(this.#store);
    await later.readOn();
    const names = ({ job, event }: FeedEvent): string => `${job}/${event.n}`;
    deepEqual(later.#feedEvents.map(names), this.#feedEvents.map(names), 'the feed is the same when it is read again');
  }

  async #readSome(): Promise<number> {
    const { events, cursor } = await this.#store.eventsAfter(this.#cursor, 50);
    if (events.length > 0) notEqual(cursor, this.#cursor, 'a page of the feed with entries advances the cursor');
    this.#feedEvents.push(...events);
    this.#cursor = cursor;
    return events.length;
  }
}
