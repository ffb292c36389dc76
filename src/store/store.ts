/**
 * The port: what Stint needs of a place that keeps jobs. It knows no states and decides nothing: changes come decided,
 * and are written only where the row is still as it was seen. No caller needs a transaction across two calls.
 *
 * Deliberately absent: update by id, state transitions, retries, clocks of workers, sessions, locks that outlive a call.
 */
import type { Change } from '../model/change.ts';
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { Limits } from '../model/gate.ts';
import type { Kind } from '../model/state.ts';
import type { Page, PageRequest, Query, Tally } from './query.ts';

export interface Store {
  /** Store time in ms, as well as it is known without asking. Decisions on leases and due times are made by the store itself. */
  now(): number;

  /** Brings the schema to this version; safe when several instances start at once. Refuses a newer schema. */
  migrate(options?: { readonly dryRun?: boolean }): Promise<Migration>;

  /** The first of `count` ids that no one else gets. They rise; gaps are possible. */
  reserve(count: number): Promise<number>;

  /**
   * Writes changes, each only if its job is still as it was seen (`before.version`), is new (no such id and its unique
   * key is free), or exists to be deleted; answers which were written. `whole`: all or none.
   */
  commit(batch: Batch): Promise<readonly boolean[]>;

  /** Takes the best claimable jobs that nobody else is taking, lets `decide` say what becomes of them, writes it. */
  claim(request: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]>;

  /** The next moment after now at which a job that this request could claim comes due; null: none is known. */
  nextDue(request: Pick<ClaimRequest, 'kinds' | 'names'>): Promise<number | null>;

  /** The jobs with these ids that exist, in no particular order. */
  load(ids: readonly number[]): Promise<readonly Job[]>;

  find(query: Query, page?: PageRequest): Promise<Page>;

  /** Who holds the unique keys given: key → job id. */
  holders(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;

  count(query: Query): Promise<readonly Tally[]>;

  /**
   * How many jobs of its kind and type could be claimed now and would be taken before this one; at most
   * `queuePositionMax`.
   */
  queuePosition(job: Job): Promise<number>;

  /** How many jobs of these types each gate has admitted. */
  admittedPerGate(types: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Keeps leases that end at a time from ending before `until`, where the fence is still current; answers which. It is
   * no event, so a commit by someone who saw the old end, and leaves the lease as it is, must not undo it.
   */
  extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]>;

  /** Running jobs whose lease is over: its time has come, or its holder's instance is gone. */
  lapsed(limit: number): Promise<readonly Job[]>;

  /** Jobs that an instance holds for as long as it lives. */
  heldBy(instance: string, limit: number): Promise<readonly Job[]>;

  /** The ids of parents that have ended, or are gone, while a child of theirs is open. */
  orphaned(limit: number): Promise<readonly number[]>;

  /** Jobs held by children of which none is open; of the given parents, or of any. */
  settleable(limit: number, parents?: readonly number[]): Promise<readonly Job[]>;

  /** A job's events, from number `from` on. */
  history(id: number, from?: number, limit?: number): Promise<readonly Event[]>;

  /** Events of all jobs in an order that no later commit can slip into. Null cursor: from the oldest kept. */
  eventsAfter(cursor: string | null, limit: number): Promise<FeedPage>;

  /** The cursor of this moment: what is committed later comes after it. */
  feedEnd(): Promise<string>;

  /** Keeps children aside, invisible, until the commit that names them with `staged`. */
  stageChildren(parent: number, fence: number, children: readonly Change[]): Promise<void>;

  /** Writes progress and log of jobs that are still held under their fence; answers which were. */
  writeNotes(notes: readonly Note[]): Promise<readonly boolean[]>;
  progress(id: number): Promise<string | null>;
  log(id: number, after?: number, limit?: number): Promise<readonly LogLine[]>;

  /** Registers an instance or renews its lease, and tells what it should know of the jobs it holds. */
  beat(instance: Beat): Promise<BeatReply>;
  instances(): Promise<readonly Instance[]>;
  /** The instance says goodbye: what it still holds is free to repair at once. */
  leave(instance: string): Promise<void>;

  /** Takes or keeps a named leadership; the term rises with each new leader. */
  lead(role: string, instance: string, leaseMs: number): Promise<Leadership>;

  /** Removes ended jobs past their retention, with all that belongs to them, and feed entries past theirs. */
  purge(options: { readonly limit: number; readonly feedKeptMs: number; readonly retentionMs: number | null }): Promise<number>;

  /** Calls when something may have become claimable. A hint: it may be early, late, doubled or lost. */
  onWake(call: () => void): () => void;

  /** The same inside the caller's own transaction; there `commit` need only write new jobs and edits of open ones. */
  within(transaction: unknown): Writer;

  /**
   * Answers a question in SQL over the view `jobs`, which has the columns of Bedrock's table, and over nothing else. A
   * store that cannot make sure of that does not offer it. Refuses `malformed.query`, `forbidden.query`, `costly.query`.
   */
  inspect?(sql: string, limits: InspectionLimits): Promise<Inspection>;

  /** The health of the store itself; null for what a store does not have or this user may not see. */
  health(): Promise<StoreHealth>;

  close(): Promise<void>;
}

export interface StoreHealth {
  /** Store time, asked just now. */
  readonly time: number;
  readonly bytes: number | null;
  /** Of each part, what is in use and what is held by things that were deleted. */
  readonly bloat: readonly Bloat[];
  /** Commits that wait to be taken over into the file, in bytes. */
  readonly logBytes: number | null;
  /** How long the oldest transaction has been open; null: none is, or nobody can tell. */
  readonly oldestTransactionMs: number | null;
  /** The connections of this process. */
  readonly pool: Pool | null;
  /** The connections of everybody. */
  readonly connections: { readonly open: number; readonly max: number } | null;
}

export interface Bloat {
  readonly part: string;
  readonly live: number;
  readonly dead: number;
}

export interface Pool {
  readonly open: number;
  readonly idle: number;
  /** Who has to wait for one. */
  readonly waiting: number;
  readonly max: number;
}

export interface InspectionLimits {
  readonly rowsMax: number;
  readonly timeMs: number;
}

/** What a question in SQL found. */
export interface Inspection {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export type Cell = string | number | bigint | null;

/** Nobody counts on exactly how far back the end of a long queue is. */
export const queuePositionMax = 10_000;

/** What it takes to create jobs. */
export type Writer = Pick<Store, 'now' | 'reserve' | 'commit' | 'load' | 'holders'>;

export interface Batch {
  readonly changes: readonly Change[];
  readonly whole?: boolean;
  /** Children kept aside that become jobs in this commit. Only with `whole`. */
  readonly staged?: { readonly parent: number; readonly fence: number };
}

export interface ClaimRequest {
  readonly kinds: readonly Kind[];
  readonly names: TypeNames;
  readonly limit: number;
  readonly limits?: Limits;
  readonly isLeader?: boolean;
  /** Only these priorities. */
  readonly priorities?: readonly number[];
}

/** Exact type names, or a GLOB pattern over them. */
export type TypeNames = { readonly exact: readonly string[] } | { readonly glob: string };

/** Pure and at once: it runs while the rows are locked. `parentCancelled`: its parent was asked to give up. */
export type ClaimDecision = (candidates: readonly Candidate[], now: number) => readonly Change[];

export interface Candidate {
  readonly job: Job;
  readonly parentCancelled: boolean;
}

export interface Holding {
  readonly id: number;
  readonly fence: number;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Where to go on, also when nothing came. */
  readonly cursor: string;
}

export interface FeedEvent {
  readonly job: number;
  readonly kind: Kind;
  readonly type: string;
  readonly parent: number | null;
  readonly event: Event;
}

export interface Note {
  readonly id: number;
  readonly fence: number;
  /** JSON text of the whole progress tree. */
  readonly progress?: string;
  readonly log?: readonly Omit<LogLine, 'n'>[];
}

export interface LogLine {
  readonly n: number;
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
}

export interface Beat {
  readonly id: string;
  readonly leaseMs: number;
  /** What others may want to know: host, version, types, slots. */
  readonly about: InstanceAbout;
  /** The jobs it believes to hold. */
  readonly holds: readonly Holding[];
}

export interface BeatReply {
  readonly now: number;
  /** Of the jobs it believes to hold: those it does not hold any more. */
  readonly lost: readonly number[];
  /** Those that were asked to give up. */
  readonly cancelled: readonly number[];
}

export interface InstanceAbout {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly types: readonly string[];
  /** Those of its types that it runs in threads or processes of their own. */
  readonly isolated?: readonly string[];
  readonly slots: number;
  readonly busy: number;
  readonly draining: boolean;
}

export interface Instance {
  readonly id: string;
  readonly started: number;
  readonly beatAt: number;
  readonly leaseUntil: number;
  readonly about: InstanceAbout;
}

export interface Leadership {
  readonly leader: string;
  readonly term: number;
  readonly until: number;
}

export interface Migration {
  readonly from: number;
  readonly to: number;
  /** The statements that were, or would be, run. */
  readonly statements: readonly string[];
}
