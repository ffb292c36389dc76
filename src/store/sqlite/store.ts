/** The SQLite store: one file, shared by any number of processes on one machine. */
import type { DatabaseSync } from 'node:sqlite';
import { mayMakeClaimable, type Change } from '../../model/change.ts';
import type { Edge } from '../../model/following.ts';
import type { Event } from '../../model/event.ts';
import type { NewStep, OpenWait, StoredStep } from '../../model/step.ts';
import type { Job } from '../../model/job.ts';
import type { OutputPosition, OutputSegment } from '../../model/output.ts';
import type { PauseScope } from '../../model/pause.ts';
import type { Position } from '../../model/spread.ts';
import type { Random } from '../../random.ts';
import { Refusal } from '../../refusal.ts';
import { systemClock, type Clock } from '../../time/clock.ts';
import { Turns } from '../../time/turns.ts';
import { earlier, GateMemory } from '../gate-admission.ts';
import { isScalarAt, type Page, type PageRequest, type Query, type Tally } from '../query.ts';
import type {
  Batch, Beat, BeatReply, ClaimDecision, ClaimRequest, DueJob, EdgeQuery, EdgeTally, FeedPage, FlowTally, FollowingPage, Holding,
  WaitingVersion,
  InboxCounts, InboxQuery, InboxRefusal, InboxRequest, InboxTake, Inspection, InspectionLimits, Instance, LatestEnd, Leadership,
  LimitInUseNow, LogLine, ManyEdgesQuery, Memo, MemoWrite, Migration, NewInboxRequest, Note, PurgeOptions, Store, StoreAddress,
  StoredVersion, StoreHealth, StoreTransaction, Writer,
  WaitCursor,
  WaitTally,
} from '../store.ts';
import { Inspector } from '../inspection/inspect.ts';
import { queuePosition } from './claim/queue-position.ts';
import { aheadInShare } from './claim/shares.ts';
import { candidates, nextDue } from './claim/claim.ts';
import { admittedPerGate } from './claim/gates.ts';
import { limitUse } from './claim/limit-use.ts';
import { closeLimit, limitsAt, reopenLimit, spendLimit, spendStarts } from './claim/limits.ts';
import { oldestDue } from './claim/oldest-due.ts';
import { divideWaiting } from './claim/spread-jobs.ts';
import { waitingVersions } from './claim/waiting-versions.ts';
import { writeBatch, writeBatches, writeWithin } from './write/commit.ts';
import { stageChildren } from './write/staging.ts';
import { connectionIn } from './caller/recognize.ts';
import {
  countInbox, enqueue, hasWaiting, inboxRequests, refuseInInbox, removeFromInbox, retryInInbox, takeFromInbox,
} from './write/inbox.ts';
import { memos, writeMemos } from './write/memos.ts';
import { openFile, type Connection, type Durability, type WriteTogether } from './connection.ts';
import { systemDriver, type SqliteDriver } from './driver.ts';
import { count, find, jobsByKey, load } from './read/find.ts';
import { eventsAfter, feedEnd, histories, history } from './read/history.ts';
import { definitionVersions } from './read/definition-versions.ts';
import { latestEnds, startedRuns } from './read/latest-runs.ts';
import { jobsSelect } from './read/inspect.ts';
import { beat, instances, lead, leave } from './maintain/instances.ts';
import { log, writeNotes, progress } from './write/notes.ts';
import { output, outputBytes } from './write/output.ts';
import { openWaits, stepNamed, steps, tallyOpenWaits, writeSteps } from './write/steps.ts';
import { orIfUnavailable } from './errors.ts';
import { migrate, requireKnownSchema } from './schema.ts';
import { orphaned, settleable } from './maintain/families.ts';
import {
  closeEdges, edges, edgesOfMany, endedWithOpenEdges, flowOf, flowRuns, flows, proceedable, stalledFollowers, tallyEdges, tallyFlows,
} from './maintain/following.ts';
import { extend, heldUnderLeaseOf, lapsed } from './maintain/leases.ts';
import { purge } from './maintain/purge.ts';
import { backUp } from './maintain/backup.ts';
import { damage, health } from './maintain/health.ts';
import { EndWatch } from './end-watch.ts';
import { SqliteTransaction } from './store-transaction.ts';
import { Wake } from './wake.ts';

export interface SqliteOptions {
  readonly clock?: Clock;
  /** `full`: every commit survives a power cut. `normal`: a power cut may lose the newest commits. Default: `full`. */
  readonly durability?: Durability;
  /** Whether a file that does not exist is created. Default: true. */
  readonly create?: boolean;
  /** Decides at which key the turns of a group begin (share-stops.ts). */
  readonly random?: Random;
}

export class SqliteStore implements Store {
  readonly address?: StoreAddress;
  readonly #connection: Connection<DatabaseSync>;
  readonly #clock: Clock;
  readonly #writeBatches: WriteTogether<Batch, readonly boolean[]>;
  readonly #wake: Wake;
  readonly #endWatch: EndWatch;
  readonly #inspector: Inspector;
  readonly #path: string;
  readonly #gateMemory: GateMemory;
  readonly #durability: Durability;
  readonly #driver: SqliteDriver;
  readonly #inboxListeners = new Set<() => void>();
  readonly #transactTurns = new Turns(1);
  /** The connection for `transact`: on the main one, other writes would become a part of the transaction. */
  #transactConnection: Connection<DatabaseSync> | null = null;

  constructor(
    path: string,
    { clock = systemClock, durability = 'full', create = true, random }: SqliteOptions = {},
    driver = systemDriver,
  ) {
    this.#connection = openFile(path, { durability, create }, driver);
    this.#driver = driver;
    this.#connection.checkBeforeWrite = () => requireKnownSchema(this.#connection);
    this.#path = path;
    this.#durability = durability;
    if (path !== ':memory:' && clock === systemClock) this.address = { url: `sqlite:${path}`, options: { durability } };
    this.#clock = clock;
    this.#gateMemory = new GateMemory(random);
    this.#writeBatches = (batches) => writeBatches(this.#connection, batches, this.now());
    this.#wake = new Wake(this.#connection, path);
    this.#endWatch = new EndWatch(this.#connection, this.#wake);
    this.#inspector = new Inspector({ path, select: jobsSelect });
    this.#connection.db.function('has_scalar', { deterministic: true }, hasScalar);
  }

  now(): number {
    return this.#clock.now();
  }

  migrate(options?: { readonly dryRun?: boolean }): Promise<Migration> {
    return migrate(this.#connection, options);
  }

  reserveIds(amount: number): Promise<number> {
    return this.#connection.write(() => reserveIds(this.#connection, amount));
  }

  async commit(batch: Batch): Promise<readonly boolean[]> {
    const written = await this.#connection.writeTogether(this.#writeBatches, batch);
    const changes = batch.changes.filter((_, index) => written[index]);
    if (batch.staged || changes.some(mayMakeClaimable)) this.#wake.all();
    this.#endWatch.noteEnds(changes);
    return written;
  }

  async claim(request: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]> {
    const claimed = await this.#connection.write(() => {
      const now = this.now();
      const limits = limitsAt(this.#connection, now);
      const changes = decide(candidates(this.#connection, request, this.#gateMemory, limits), now, now);
      if (changes.length > 0) writeBatch(this.#connection, { changes }, now);
      spendStarts(this.#connection, changes, limits);
      return changes;
    });
    this.#endWatch.noteEnds(claimed);
    return claimed;
  }

  nextDue(request: Pick<ClaimRequest, 'kinds' | 'names'>, after = this.now()): Promise<number | null> {
    return this.#read(() => earlier(nextDue(this.#connection, request, after), this.#gateMemory.opensAt(request)));
  }

  oldestDue(request: Pick<ClaimRequest, 'kinds' | 'names'>): Promise<ReadonlyMap<string, DueJob>> {
    return this.#read(() => oldestDue(this.#connection, request, this.now()));
  }

  load(ids: readonly number[]): Promise<readonly Job[]> {
    return this.#read(() => load(this.#connection, ids));
  }

  find(query: Query, page?: PageRequest): Promise<Page> {
    return find(this.#connection, this.#clock, query, page);
  }

  jobsByKey(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#read(() => jobsByKey(this.#connection, keys, this.now()));
  }

  definitionVersions(after: number, limit: number): Promise<readonly StoredVersion[]> {
    return this.#read(() => definitionVersions(this.#connection, after, limit));
  }

  latestEnds(defs: readonly string[]): Promise<ReadonlyMap<string, LatestEnd>> {
    return this.#read(() => latestEnds(this.#connection, defs));
  }

  startedRuns(defs: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> {
    return this.#read(() => startedRuns(this.#connection, defs));
  }

  count(query: Query, dueBy?: number): Promise<readonly Tally[]> {
    return count(this.#connection, this.#clock, query, dueBy);
  }

  queuePosition(job: Job): Promise<number> {
    return this.#read(() => queuePosition(this.#connection, job, this.now()));
  }

  aheadInShare(job: Job): Promise<number> {
    return this.#read(() => aheadInShare(this.#connection, job, this.now()));
  }

  divideWaiting(scope: PauseScope, count: number): Promise<readonly Position[]> {
    return this.#read(() => divideWaiting(this.#connection, scope, count, this.now()));
  }

  waitingVersions(types: readonly string[]): Promise<readonly WaitingVersion[]> {
    return this.#read(() => waitingVersions(this.#connection, types));
  }

  admittedPerGate(types: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#read(() => admittedPerGate(this.#connection, types));
  }

  /** Claims are write transactions: one that begins after the commit of a pause sees the pause. */
  awaitClaims(): Promise<void> {
    return Promise.resolve();
  }

  extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]> {
    return this.#connection.write(() => extend(this.#connection, holdings, until, this.now()));
  }

  /**
   * Returns jobs with lapsed leases. If there are any, reads them again in a write transaction, because another process
   * may be extending their leases in an open transaction.
   */
  async lapsed(limit: number): Promise<readonly Job[]> {
    const find = (): Job[] => lapsed(this.#connection, limit, this.now());
    return find().length === 0 ? [] : this.#connection.write(find);
  }

  heldUnderLeaseOf(instance: string, limit: number): Promise<readonly Job[]> {
    return this.#read(() => heldUnderLeaseOf(this.#connection, instance, limit));
  }

  orphaned(limit: number): Promise<readonly number[]> {
    return this.#read(() => orphaned(this.#connection, limit));
  }

  settleable(limit: number, parents?: readonly number[]): Promise<readonly Job[]> {
    return this.#read(() => settleable(this.#connection, limit, parents));
  }

  closeEdges(followed: readonly number[]): Promise<readonly number[]> {
    return this.#connection.write(() => closeEdges(this.#connection, followed));
  }

  proceedable(followers: readonly number[]): Promise<readonly Job[]> {
    return this.#read(() => proceedable(this.#connection, followers));
  }

  tallyEdges(followers: readonly number[]): Promise<ReadonlyMap<number, EdgeTally>> {
    return this.#read(() => tallyEdges(this.#connection, followers));
  }

  edges(query: EdgeQuery): Promise<readonly Edge[]> {
    return this.#read(() => edges(this.#connection, query));
  }

  edgesOfMany(query: ManyEdgesQuery): Promise<readonly Edge[]> {
    return this.#read(() => edgesOfMany(this.#connection, query));
  }

  stalledFollowers(after: number, limit: number): Promise<FollowingPage> {
    return this.#read(() => stalledFollowers(this.#connection, after, limit));
  }

  endedWithOpenEdges(after: number, limit: number): Promise<FollowingPage> {
    return this.#read(() => endedWithOpenEdges(this.#connection, after, limit));
  }

  flows(before: number | null, limit: number): Promise<readonly number[]> {
    return this.#read(() => flows(this.#connection, before, limit));
  }

  flowRuns(flow: number, after: number, limit: number): Promise<readonly number[]> {
    return this.#read(() => flowRuns(this.#connection, flow, after, limit));
  }

  tallyFlows(flowIds: readonly number[], runsMax: number): Promise<readonly FlowTally[]> {
    return this.#read(() => tallyFlows(this.#connection, flowIds, runsMax));
  }

  flowOf(run: number): Promise<number | null> {
    return this.#read(() => flowOf(this.#connection, run));
  }

  history(id: number, from?: number, limit?: number): Promise<readonly Event[]> {
    return this.#read(() => history(this.#connection, id, from, limit));
  }

  histories(ids: readonly number[]): Promise<ReadonlyMap<number, readonly Event[]>> {
    return this.#read(() => histories(this.#connection, ids));
  }

  eventsAfter(cursor: string | null, limit: number): Promise<FeedPage> {
    return this.#read(() => eventsAfter(this.#connection, cursor, limit));
  }

  feedEnd(): Promise<string> {
    return this.#read(() => feedEnd(this.#connection));
  }

  stageChildren(parent: number, fence: number, children: readonly Change[]): Promise<void> {
    return this.#connection.write(() => stageChildren(this.#connection, parent, fence, children, this.now()));
  }

  writeNotes(notes: readonly Note[]): Promise<readonly boolean[]> {
    return this.#connection.write(() => writeNotes(this.#connection, notes));
  }

  writeSteps(ends: readonly NewStep[]): Promise<readonly boolean[]> {
    return this.#connection.write(() => writeSteps(this.#connection, ends));
  }

  steps(jobs: readonly number[], after?: number, limit?: number): Promise<readonly StoredStep[]> {
    return this.#read(() => steps(this.#connection, jobs, after, limit));
  }

  stepNamed(job: number, name: string): Promise<StoredStep | undefined> {
    return this.#read(() => stepNamed(this.#connection, job, name));
  }

  tallyOpenWaits(): Promise<WaitTally> {
    return this.#read(() => tallyOpenWaits(this.#connection));
  }

  openWaits(after: WaitCursor | null, limit: number): Promise<readonly OpenWait[]> {
    return this.#read(() => openWaits(this.#connection, after, limit));
  }

  progress(id: number): Promise<string | null> {
    return this.#read(() => progress(this.#connection, id));
  }

  log(id: number, after?: number, limit?: number): Promise<readonly LogLine[]> {
    return this.#read(() => log(this.#connection, id, after, limit));
  }

  output(id: number, after: OutputPosition, limit: number): Promise<readonly OutputSegment[]> {
    return this.#read(() => output(this.#connection, id, after, limit));
  }

  outputBytes(id: number): Promise<number> {
    return this.#read(() => outputBytes(this.#connection, id));
  }

  beat(instance: Beat): Promise<BeatReply> {
    return this.#connection.write(() => beat(this.#connection, instance, this.now()));
  }

  instances(): Promise<readonly Instance[]> {
    return this.#read(() => instances(this.#connection));
  }

  leave(instance: string): Promise<void> {
    return this.#connection.write(() => leave(this.#connection, instance, this.now()));
  }

  lead(role: string, instance: string, leaseMs: number): Promise<Leadership> {
    return this.#connection.write(() => lead(this.#connection, role, instance, leaseMs, this.now()));
  }

  async enqueue(requests: readonly NewInboxRequest[]): Promise<readonly number[]> {
    const ids = await this.#connection.write(() => enqueue(this.#connection, requests, this.now()));
    for (const call of this.#inboxListeners) call();
    return ids;
  }

  inboxRequests(query: InboxQuery): Promise<readonly InboxRequest[]> {
    return this.#read(() => inboxRequests(this.#connection, query));
  }

  async takeFromInbox(takes: readonly InboxTake[]): Promise<readonly boolean[]> {
    const taken = await this.#connection.write(() => takeFromInbox(this.#connection, takes, this.now()));
    if (takes.some(({ change }, index) => taken[index] && change && mayMakeClaimable(change))) this.#wake.all();
    return taken;
  }

  memos(prefix: string): Promise<readonly Memo[]> {
    return this.#read(() => memos(this.#connection, prefix));
  }

  async writeMemos(writes: readonly MemoWrite[], changes: readonly Change[] = []): Promise<boolean> {
    const isWritten = await this.#connection.write(() => writeMemos(this.#connection, writes, changes, this.now()));
    if (isWritten && changes.some(mayMakeClaimable)) this.#wake.all();
    return isWritten;
  }

  refuseInInbox(refusals: readonly InboxRefusal[]): Promise<void> {
    return this.#connection.write(() => refuseInInbox(this.#connection, refusals, this.now()));
  }

  async retryInInbox(id: number): Promise<InboxRequest | null> {
    const request = await this.#connection.write(() => retryInInbox(this.#connection, id));
    for (const call of this.#inboxListeners) call();
    return request;
  }

  removeFromInbox(id: number): Promise<InboxRequest | null> {
    return this.#connection.write(() => removeFromInbox(this.#connection, id));
  }

  countInbox(): Promise<InboxCounts> {
    return this.#read(() => countInbox(this.#connection));
  }

  /** After each commit of another connection, the inbox is queried, which takes microseconds. */
  onInbox(call: () => void): () => void {
    this.#inboxListeners.add(call);
    const stopListening = this.#wake.listenToOthers(() => {
      if (this.#connection.db.isOpen && orIfUnavailable(() => hasWaiting(this.#connection), true)) call();
    });
    return () => {
      this.#inboxListeners.delete(call);
      stopListening();
    };
  }

  limitUse(name: string, keys: Parameters<Store['limitUse']>[1]): Promise<readonly LimitInUseNow[]> {
    return this.#read(() => limitUse(this.#connection, name, keys, this.now()));
  }

  closeLimit(name: string, key: string | null, until: number): Promise<void> {
    return this.#connection.write(() => closeLimit(this.#connection, name, key, until));
  }

  async reopenLimit(name: string, key: string | null): Promise<void> {
    await this.#connection.write(() => reopenLimit(this.#connection, name, key));
    this.#wake.all();
  }

  spendLimit(name: string, key: string | null, cost: number): Promise<void> {
    return this.#connection.write(() => spendLimit(this.#connection, name, key, cost, this.now()));
  }

  purge(options: PurgeOptions): Promise<number> {
    return this.#connection.write(() => purge(this.#connection, options, this.now()));
  }

  onWake(call: () => void): () => void {
    return this.#wake.listen(call);
  }

  onEnd(id: number, call: () => void): () => void {
    return this.#endWatch.wait(id, call);
  }

  /**
   * Returns a writer for the caller's transaction. `transaction` is the caller's connection to the same file, on which
   * the caller has begun a transaction. Its commit changes the -wal file, which the watchers of all processes notice,
   * this one included.
   */
  within(transaction: unknown): Writer {
    const connection = connectionIn(transaction, this.#path);
    requireKnownSchema(connection);
    return {
      now: () => this.now(),
      reserveIds: async (amount) => reserveIds(connection, amount),
      commit: async (batch) => writeWithin(connection, batch, this.now()),
      writeNotes: async (notes) => writeNotes(connection, notes),
      load: async (ids) => load(connection, ids),
      find: (query, page) => find(connection, this.#clock, query, page),
      count: (query, dueBy) => count(connection, this.#clock, query, dueBy),
      jobsByKey: async (keys) => jobsByKey(connection, keys, this.now()),
      settleable: async (limit, parents) => settleable(connection, limit, parents),
      closeEdges: async (followed) => closeEdges(connection, followed),
      proceedable: async (followers) => proceedable(connection, followers),
      tallyEdges: async (followers) => tallyEdges(connection, followers),
      steps: async (ids, after, limit) => steps(connection, ids, after, limit),
      edges: async (query) => edges(connection, query),
      edgesOfMany: async (query) => edgesOfMany(connection, query),
    };
  }

  async transact<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T> {
    if (this.#path === ':memory:') {
      throw new Refusal('malformed.store', 'a SQLite store in memory has one connection: use a file for complete()');
    }
    return this.#transactTurns.take(() => {
      this.#connection.checkOpen();
      this.#transactConnection ??= openFile(this.#path, { durability: this.#durability, create: false }, this.#driver);
      const connection = this.#transactConnection;
      return connection.transact(() => work(new SqliteTransaction(connection.db)));
    });
  }

  inspect(sql: string, limits: InspectionLimits): Promise<Inspection> {
    return this.#inspector.inspect(sql, limits);
  }

  damage(): Promise<readonly string[]> {
    return this.#read(() => damage(this.#connection));
  }

  async backUp(path: string): Promise<void> {
    backUp(this.#connection, path);
  }

  health(): Promise<StoreHealth> {
    return this.#read(() => health(this.#connection, this.#path, this.now()));
  }

  close(): Promise<void> {
    this.#endWatch.close();
    this.#wake.close();
    this.#inspector.close();
    this.#transactConnection?.close();
    this.#connection.close();
    return Promise.resolve();
  }

  /**
   * Runs `work` on one snapshot. node:sqlite throws errors synchronously; this function is async, so that they become
   * rejected promises.
   */
  async #read<T>(work: () => T): Promise<T> {
    return this.#connection.read(work);
  }
}

function reserveIds(connection: Connection, amount: number): number {
  const sql = `UPDATE counter SET value = value + ? WHERE name = 'id' RETURNING value`;
  return connection.get<{ value: number }>(sql, amount)!.value - amount + 1;
}

function hasScalar(input: unknown, wanted: unknown): number {
  const { path, equals } = JSON.parse(String(wanted)) as NonNullable<Query['input']>;
  return isScalarAt(String(input), path, equals) ? 1 : 0;
}
