/**
 * A share: one random history, run on the store under test and on the oracle, a memory store. Both must give the same
 * answers. No two shares use the same types, keys, gates, instances or ids, so that many can run concurrently in one
 * store.
 */
import type { Change } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import type { Job } from '../model/job.ts';
import { step, type Asking } from '../model/machine.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import type { Clock } from '../time/clock.ts';
import type { Tally } from '../store/query.ts';
import type { Batch, Store } from '../store/store.ts';
import { byId, same } from './same.ts';
import { newJob, type JobSpec } from './world.ts';

export interface HistoryStores {
  /** The store under test, which other shares use, too. */
  readonly subject: Store;
  /** A memory store for this share only, whose answers count as correct. */
  readonly oracle: Store;
  readonly clock: Clock;
}

export class Share {
  readonly name: string;
  readonly subject: Store;
  readonly oracle: Store;
  /** A text for each move so far, for the report of a difference. */
  readonly log: string[] = [];
  /** All versions of jobs that were written, so that moves can decide a change on an outdated version. */
  readonly earlierJobs: Job[] = [];
  /** How often each situation occurred: a kind of event, a deletion, a refused change. */
  readonly counts = new Map<string, number>();
  /** The ids of all jobs that this history has created, including deleted ones. */
  readonly ids: number[] = [];
  readonly #clock: Clock;
  #nextId: number;

  constructor(name: string, { subject, oracle, clock }: HistoryStores, firstId: number) {
    this.name = name;
    this.subject = subject;
    this.oracle = oracle;
    this.#clock = clock;
    this.#nextId = firstId;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Returns a name that no other share uses. */
  own(text: string): string {
    return `${this.name}/${text}`;
  }

  types(): string[] {
    return shareTypes.map((type) => this.own(type));
  }

  asking(by = 'tester'): Asking {
    return { by, now: this.now() };
  }

  record(text: string): void {
    this.log.push(text);
  }

  /**
   * Makes the same call on both stores; throws if their answers differ. Returns the answer of the oracle. A refusal
   * counts as an answer: both stores must refuse with the same code, and the refusal is thrown.
   */
  async agree<T>(what: string, request: Question<T>, view: View<T> = (answer) => answer): Promise<T> {
    const expected = await answerOf(request, this.oracle, view);
    const actual = await answerOf(request, this.subject, view);
    same(actual.seen, expected.seen, what);
    if ('error' in expected) throw expected.error;
    return expected.answer;
  }

  async commit(what: string, changes: readonly Change[], more: Omit<Batch, 'changes'> = {}): Promise<void> {
    this.record(`${what}${more.whole ? ' as a whole' : ''}: ${changes.map(describe).join('; ')}`);
    const written = await this.agree(`commit of ${what}`, (store) => store.commit({ changes, ...more }));
    this.remember(changes.filter((_, index) => written[index]));
    const refused = more.whole ? 'a whole batch refused' : 'a change refused';
    for (const isWritten of written) if (!isWritten) this.#meet(refused);
  }

  remember(changes: readonly Change[]): void {
    for (const { after, events } of changes) {
      if (after) this.earlierJobs.push(after);
      for (const { kind } of events) this.#meet(kind);
      if (!after) this.#meet('deleted');
    }
  }

  newJob(spec: JobSpec): Change & { readonly after: Job } {
    const id = spec.id ?? this.#takeId();
    return newJob({ created: this.now(), ...spec, id });
  }

  /** Returns the change that the command makes; empty: the command is refused or has no effect. */
  decide(job: Job, command: Command): (Change & { readonly after: Job })[] {
    const change = step(job, command, this.asking());
    if (change instanceof Refusal || change.events.length === 0) return [];
    return [change as Change & { readonly after: Job }];
  }

  async jobs(isChosen: (job: Job) => boolean = () => true): Promise<readonly Job[]> {
    const { jobs } = await this.oracle.find({}, { order: 'oldest', limit: 1000 });
    return jobs.filter(isChosen);
  }

  mine(jobs: readonly Job[]): Job[] {
    const ids = new Set(this.ids);
    return byId(jobs.filter(({ id }) => ids.has(id)));
  }

  /**
   * Checks that both stores have the same jobs and tallies; returns the jobs. Reads only the two longest histories,
   * because the caller compares the events of all jobs in the feed.
   */
  async compareAll(): Promise<readonly Job[]> {
    const types = this.types();
    const { jobs } = await this.agree('all jobs', (store) => store.find({ types }, { order: 'oldest', limit: 1000 }));
    await this.agree('tallies', (store) => store.count({ types }), tallyMap);
    const longest = [...jobs].sort((a, b) => b.version - a.version).slice(0, 2);
    await Promise.all(longest.map(({ id }) => this.agree(`history of job ${id}`, (store) => store.history(id))));
    return jobs;
  }

  #meet(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  #takeId(): number {
    const id = this.#nextId++;
    this.ids.push(id);
    return id;
  }
}

export const shareTypes: readonly string[] = ['a', 'b', 'B'];

/** Returns tallies as a map, so that they can be compared regardless of their order. */
export const tallyMap = (tallies: readonly Tally[]): Map<string, number> =>
  new Map(tallies.map(({ kind, type, standing, count }) => [`${kind} ${type} ${standing}`, count]));

type Question<T> = (store: Store) => Promise<T>;

/** Selects the part of an answer that is compared. */
type View<T> = (answer: T) => unknown;

type ShareAnswer<T> = { readonly seen: unknown; readonly answer: T } | { readonly seen: unknown; readonly error: unknown };

async function answerOf<T>(request: Question<T>, store: Store, view: View<T>): Promise<ShareAnswer<T>> {
  try {
    const answer = await request(store);
    return { seen: view(answer), answer };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { seen: { refused: error.code }, error };
  }
}

export function describe({ before, after, events }: Change): string {
  const id = (before ?? after)!.id;
  if (after === null) return `delete ${id} seen at version ${before!.version}`;
  const key = after.unique ? ` with key ${after.unique.key} for ${after.unique.forMs ?? 'its life'}` : '';
  const which = before === null ? `${after.kind} ${after.type}${key}` : `seen at version ${before.version}`;
  return `${events.map(({ kind }) => kind).join(' ')} ${id} ${which}`;
}
