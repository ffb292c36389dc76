/** The world: what each example of the suite gets. It has a new store, and a clock that only the example advances. */
import { deepEqual, fail } from 'node:assert/strict';
import type { Change } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import type { FirstState } from '../model/event.ts';
import type { JobOrigin, Job, RunningJob } from '../model/job.ts';
import { create, step } from '../model/machine.ts';
import { kinds } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import { VirtualClock, type Clock } from '../time/clock.ts';
import type { ClaimRequest, Store } from '../store/store.ts';

/** Provided by the author of an adapter: opens an empty, migrated store that uses the given clock. */
export type Open = (clock: Clock) => Promise<Opened>;

export interface Opened {
  readonly store: Store;
  /** Opens another connection to the same data. */
  readonly again: () => Promise<Store>;
  /** Begins a transaction on the same data, to pass to `within`; omitted: the store does not support `within`. */
  readonly begin?: () => Promise<CallersTransaction>;
  readonly close: () => Promise<void>;
}

/** A transaction that the caller began: the handle to pass to `within`, and the functions that end the transaction. */
export interface CallersTransaction {
  readonly transaction: unknown;
  readonly commit: () => Promise<void>;
  readonly rollback: () => Promise<void>;
}

/** Examples of one topic. Each key is a sentence about the port; its value throws if the sentence is not true. */
export interface Topic {
  readonly name: string;
  readonly examples: Readonly<Record<string, Example>>;
}

export type Example = (world: World) => Promise<void>;

/** Thrown by an example that needs a feature that the adapter does not support. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}

/** The fields of a new job; missing fields have defaults. */
export type JobSpec = Partial<JobOrigin & FirstState>;

/** The fields of a claim. By default, the holder is 'worker', the lease is 1 minute, and all kinds and types match. */
export type Taking = Partial<ClaimRequest> & { readonly holder?: string; readonly leaseMs?: number | null };

export const startOfTime = 1_800_000_000_000;

export class World {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly #opened: Opened;
  readonly #more: Store[] = [];

  private constructor(clock: VirtualClock, opened: Opened) {
    this.clock = clock;
    this.store = opened.store;
    this.#opened = opened;
  }

  static async open(open: Open): Promise<World> {
    const clock = new VirtualClock(startOfTime);
    return new World(clock, await open(clock));
  }

  async close(): Promise<void> {
    for (const store of this.#more) if (store !== this.store) await store.close();
    await this.#opened.close();
  }

  /** Opens another connection to the same data. `World.close` closes this connection, too. */
  async again(): Promise<Store> {
    const store = await this.#opened.again();
    this.#more.push(store);
    return store;
  }

  begin(): Promise<CallersTransaction> {
    if (!this.#opened.begin) throw new NotApplicable('the store takes part in no transaction of its caller');
    return this.#opened.begin();
  }

  now(): number {
    return this.clock.now();
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  /** Returns the change that creates a job under a reserved id. Does not write it. */
  async newJob(spec: JobSpec = {}): Promise<Change & { readonly after: Job }> {
    return newJob({ id: spec.id ?? (await this.store.reserveIds(1)), created: this.now(), ...spec });
  }

  async newJobs(specs: readonly JobSpec[]): Promise<(Change & { readonly after: Job })[]> {
    const first = await this.store.reserveIds(specs.length);
    return Promise.all(specs.map((spec, index) => this.newJob({ id: first + index, ...spec })));
  }

  async create(spec: JobSpec = {}): Promise<Job> {
    const change = await this.newJob(spec);
    await this.mustWrite([change]);
    return change.after;
  }

  async createAll(specs: readonly JobSpec[]): Promise<Job[]> {
    const changes = await this.newJobs(specs);
    await this.mustWrite(changes);
    return changes.map(({ after }) => after);
  }

  async createRunning(spec: JobSpec = {}, taking: Taking = {}): Promise<RunningJob> {
    const job = await this.create({ type: 'running', ...spec });
    const request = { names: { exact: [job.type] }, kinds: [job.kind], limit: 1, isLeader: true };
    const [taken] = await this.claim({ ...request, ...taking });
    if (taken?.id !== job.id) fail(`could not claim job ${job.id}`);
    return taken;
  }

  /** Creates a run and the children that it waits for. */
  async createFamily(
    size: number,
    spec: JobSpec = {},
    childSpec: JobSpec = {},
  ): Promise<{ parent: Job; children: Job[] }> {
    const running = await this.createRunning({ type: 'family', phase: 'prepare', ...spec });
    const changes = await this.newJobs(Array.from({ length: size }, () => ({ ...childOf(running), ...childSpec })));
    const planned = this.decide(running, { do: 'plan', fence: running.fence, tasks: size });
    await this.mustWrite([planned, ...changes]);
    return { parent: planned.after, children: changes.map(({ after }) => after) };
  }

  async createEnded(spec: JobSpec = {}): Promise<Job> {
    return this.apply(await this.create(spec), { do: 'stop', code: 'admin' });
  }

  decide(job: Job, command: Command, by = 'tester'): Change & { readonly after: Job } {
    const change = step(job, command, { by, now: this.now() });
    if (change instanceof Refusal) return fail(`cannot set the scene: ${change.message}`);
    return change as Change & { readonly after: Job };
  }

  async apply(job: Job, command: Command): Promise<Job> {
    const change = this.decide(job, command);
    await this.mustWrite([change]);
    return change.after;
  }

  async remove(job: Job): Promise<boolean> {
    const [gone] = await this.store.commit({ changes: [removal(job)] });
    return gone === true;
  }

  async mustWrite(changes: readonly Change[]): Promise<void> {
    deepEqual(await this.store.commit({ changes }), changes.map(() => true), 'every change is written');
  }

  async claim(taking: Taking = {}, store = this.store): Promise<RunningJob[]> {
    const changes = await store.claim(askOf(taking), claimAll(taking));
    return changes.map(({ after }) => after).filter((job) => job?.state === 'running');
  }

  async claimIds(taking: Taking = {}, store = this.store): Promise<number[]> {
    return (await this.claim(taking, store)).map(({ id }) => id);
  }

  /** Returns the ids of the jobs that a claim would get, in order, without claiming them. */
  async offered(taking: Taking = {}): Promise<number[]> {
    let ids: number[] = [];
    await this.store.claim(askOf(taking), (candidates) => {
      ids = candidates.map(({ job }) => job.id);
      return [];
    });
    return ids;
  }

  async load(id: number, store = this.store): Promise<Job | undefined> {
    return (await store.load([id]))[0];
  }

  /** Returns all entries of the feed after a cursor. Reads small pages, in order to test paging. */
  async feedAfter(cursor: string | null, limit = 7): Promise<{ job: number; n: number }[]> {
    const feedEvents: { job: number; n: number }[] = [];
    for (let from = cursor; ; ) {
      const { events, cursor: next } = await this.store.eventsAfter(from, limit);
      feedEvents.push(...events.map(({ job, event }) => ({ job, n: event.n })));
      if (events.length === 0) return feedEvents;
      if (feedEvents.length > 100_000) fail('the feed comes to no end');
      from = next;
    }
  }
}

export function newJob(spec: JobSpec & Pick<JobOrigin, 'id' | 'created'>): Change & { readonly after: Job } {
  const { due = spec.created, priority = 0, phase, hold, plan, isFollowed, ...origin } = spec;
  const first: FirstState = {
    due,
    priority,
    ...(phase ? { phase } : {}),
    ...(hold ? { hold } : {}),
    ...(plan ? { plan } : {}),
    ...(isFollowed ? { isFollowed } : {}),
  };
  return create({ ...plainOrigin, ...origin }, first, { by: 'tester', now: spec.created }) as Change & { after: Job };
}

const plainOrigin: Omit<JobOrigin, 'id' | 'created'> = {
  kind: 'run',
  type: 'plain',
  def: null,
  parent: null,
  key: null,
  gate: null,
  unique: null,
  policy: {},
  tags: null,
  input: '{}',
  tick: null,
  follows: null,
  typeVersion: 1,
};

export const childOf = ({ id }: Job): JobSpec => ({ kind: 'task', type: 'child', parent: id });

export const removal = (job: Job): Change => ({ before: job, after: null, events: [] });

export const askOf = ({ holder: _holder, leaseMs: _leaseMs, ...request }: Taking): ClaimRequest => ({
  kinds,
  names: { glob: '*' },
  limit: 1000,
  ...request,
});

/**
 * Returns a function to pass to `store.claim`. It claims every candidate; a candidate that may not start any more ends
 * instead, for example because its parent was cancelled.
 */
export const claimAll =
  ({ holder = 'worker', leaseMs = 60_000 }: Taking = {}) =>
  (candidates: readonly { job: Job; parentCancelled: boolean }[], now: number): Change[] =>
    candidates.map(({ job, parentCancelled }) => {
      const until = leaseMs === null ? null : now + leaseMs;
      const change = step(job, { do: 'claim', holder, until, parentCancelled }, { by: holder, now });
      return change instanceof Refusal ? fail(`job ${job.id} was handed out: ${change.message}`) : change;
    });
