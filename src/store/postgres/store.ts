/** The PostgreSQL store: one schema, shared by any number of instances. */
import { mayMakeClaimable, type Change } from '../../model/change.ts';
import type { Edge } from '../../model/following.ts';
import type { Event } from '../../model/event.ts';
import type { NewStep, OpenWait, StoredStep } from '../../model/step.ts';
import type { Job } from '../../model/job.ts';
import type { OutputPosition, OutputSegment } from '../../model/output.ts';
import type { PauseScope } from '../../model/pause.ts';
import type { Position } from '../../model/spread.ts';
import { isRefusal } from '../../refusal.ts';
import type { Clock } from '../../time/clock.ts';
import { Turns } from '../../time/turns.ts';
import { Batcher, type BatcherOptions } from '../batcher.ts';
import { earlier } from '../gate-admission.ts';
import type { Page, PageRequest, Query, Tally } from '../query.ts';
import type {
  Batch, Beat, BeatReply, ClaimDecision, ClaimRequest, Contradiction, DueJob, EdgeQuery, EdgeTally, FeedPage, FlowTally,
  ManyEdgesQuery, WaitingVersion,
  FollowingPage, Holding, InboxCounts, InboxQuery, InboxRefusal, InboxRequest, InboxTake, Inspection, InspectionLimits,
  Instance, LatestEnd, Leadership, LimitInUseNow, LogLine, Memo, MemoWrite, Migration, NewInboxRequest, Note, PurgeOptions, Store, StoreAddress,
  StoredVersion, StoreHealth, StoreTransaction, Writer,
  WaitCursor,
  WaitTally,
} from '../store.ts';
import { flag, readOptions, text, whole, type OptionReaders } from '../url-options.ts';
import { queuePosition } from './claim/queue-position.ts';
import { aheadInShare } from './claim/shares.ts';
import { claim, type ClaimParts } from './claim/claim.ts';
import { commit, commitForCaller, notifyWithin, reserveIds } from './write/commit.ts';
import { Database, type DatabaseSettings, type Session } from './sql/database.ts';
import { count, find, jobsByKey, load } from './read/find.ts';
import { admittedPerGate } from './claim/gates.ts';
import { limitUse } from './claim/limit-use.ts';
import { closeLimit, reopenLimit, spendLimit } from './claim/limits.ts';
import { nextDue } from './claim/next-due.ts';
import { oldestDue } from './claim/oldest-due.ts';
import { divideWaiting } from './claim/spread-jobs.ts';
import { waitingVersions } from './claim/waiting-versions.ts';
import { ClaimHints } from './claim/claim-by-hint.ts';
import { PostgresGateMemory } from './claim/gate-memory.ts';
import { ScanCursors } from './claim/scan-cursor.ts';
import { eventsAfter, feedEnd, histories, history } from './read/history.ts';
import { definitionVersions } from './read/definition-versions.ts';
import { latestEnds, startedRuns } from './read/latest-runs.ts';
import { awaitClaims } from './read/pauses.ts';
import { beat, instances, lead, leave } from './maintain/instances.ts';
import { hintableChange } from './write/claim-hint.ts';
import {
  countInbox, enqueue, inboxRequests, refuseInInbox, removeFromInbox, retryInInbox, takeFromInbox,
} from './write/inbox.ts';
import { memos, writeMemos } from './write/memos.ts';
import { log, writeNotes, progress } from './write/notes.ts';
import { output, outputBytes } from './write/output.ts';
import { openWaits, stepNamed, steps, tallyOpenWaits, writeSteps } from './write/steps.ts';
import { migrate, requireKnownSchema } from './schema.ts';
import { systemDriver, type PgDriver } from './sql/driver.ts';
import { ServerClock } from './sql/server-clock.ts';
import { parsePostgresUrl } from './sql/url.ts';
import { orphaned, settleable } from './maintain/families.ts';
import {
  closeEdges, edges, edgesOfMany, endedWithOpenEdges, flowOf, flowRuns, flows, proceedable, stalledFollowers, tallyEdges, tallyFlows,
} from './maintain/following.ts';
import { extend, heldUnderLeaseOf, lapsed } from './maintain/leases.ts';
import { purge } from './maintain/purge.ts';
import { contradictions } from './maintain/contradictions.ts';
import { health } from './maintain/health.ts';
import { EndNotices } from './end-notices.ts';
import { Wake } from './wake.ts';
import { Inspector } from '../inspection/inspect.ts';
import { rowSource } from './read/inspect.ts';
import { sessionOn } from './sql/caller-transaction.ts';
import { StatementNames } from './sql/statement-names.ts';
import { stageChildren } from './write/staging.ts';

export interface PostgresOptions extends Partial<DatabaseSettings> {
  /** Replaces the server's clock in tests. */
  readonly clock?: Clock;
  /** Whether instances wake each other by LISTEN and NOTIFY; otherwise they find new jobs when they poll. */
  readonly notify?: boolean;
  /** The URL on which to LISTEN, if the store's URL leads to a transaction pooler. */
  readonly listenUrl?: string;
}

export class PostgresStore implements Store {
  readonly address?: StoreAddress;
  readonly #database: Database;
  readonly #wake: Wake;
  readonly #endNotices: EndNotices;
  readonly #inspector: Inspector;
  readonly #claimParts: ClaimParts;
  readonly #batcher: Batcher<readonly Change[], readonly boolean[]>;
  readonly #stepBatcher: Batcher<readonly NewStep[], readonly boolean[]>;
  readonly #inboxListeners = new Set<() => void>();
  /** Half of the connections: a handler may use the store inside of its transaction, and needs another one for that. */
  readonly #transactTurns: Turns;
  /** The changes that were written in transactions of `transact`, whose ends are announced after the commit. */
  readonly #writtenIn = new WeakMap<object, Change[]>();
  readonly #callerStatements: StatementNames;
  /** The version of the schema, as the last heartbeat or reservation of ids found it. */
  #schemaFound = 0;

  constructor(url: string, given: PostgresOptions = {}, driver: PgDriver = systemDriver) {
    const parsed = parsePostgresUrl(url);
    const { clock, notify, listenUrl, ...settings } = { ...defaults, ...optionsOf(parsed.options), ...given };
    this.#database = new Database(parsed, settings, new ServerClock(clock, driver.clock), driver);
    if (clock === undefined && driver === systemDriver) this.address = { url, options: { ...settings, notify, listenUrl } };
    this.#callerStatements = new StatementNames(settings.prepare);
    this.#transactTurns = new Turns(Math.max(1, Math.floor(settings.max / 2)));
    const cursors = new ScanCursors(driver.clock);
    const hints = new ClaimHints(cursors, driver.clock);
    this.#claimParts = { database: this.#database, cursors, hints, gateMemory: new PostgresGateMemory(driver.random, driver.clock) };
    const wakeUrl = listenUrl === undefined ? parsed : parsePostgresUrl(listenUrl);
    this.#endNotices = new EndNotices((text) => this.#wake.sendNotice(text), driver.clock);
    this.#wake = new Wake(this.#database, { ...settings, url: wakeUrl, notify }, {
      onHint: (hint) => hints.receive(hint),
      onNotice: (text) => this.#endNotices.receive(text),
      onInbox: () => this.#wakeInbox(),
      onListening: () => {
        this.#endNotices.announceAll();
        this.#wakeInbox();
      },
    });
    this.#inspector = new Inspector(rowSource(this.#database));
    this.#batcher = new Batcher<readonly Change[], readonly boolean[]>((take) => this.#commitTogether(take()), batching);
    this.#stepBatcher = new Batcher<readonly NewStep[], readonly boolean[]>((take) => this.#writeStepsTogether(take()), batching);
  }

  now(): number {
    return this.#database.time.now();
  }

  /** If store time is unknown, opens a connection, which reads the server's clock; otherwise returns undefined. */
  synchronize(): Promise<void> | undefined {
    return this.#database.time.isKnown ? undefined : this.#database.use(() => Promise.resolve());
  }

  migrate(options?: { readonly dryRun?: boolean }): Promise<Migration> {
    return this.#database.withoutTimeout(() => migrate(this.#database, options));
  }

  async reserveIds(amount: number): Promise<number> {
    return reserveIds(this.#database, amount, (version) => this.#noteSchema(version));
  }

  async commit(batch: Batch): Promise<readonly boolean[]> {
    requireKnownSchema(this.#schemaFound);
    const isSeparate = batch.whole || batch.staged;
    try {
      const written = await (isSeparate ? this.#commit(batch) : this.#batcher.add(batch.changes));
      if (mayWake(batch)) this.#wake.wakeOwn();
      this.#endNotices.noteEnds(batch.changes.filter((_, index) => written[index]));
      return written;
    } finally {
      // `recordWrite` is called after an error, too, because the changes may have been written.
      if (mayWake(batch)) this.#recordWrite();
    }
  }

  async claim(request: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]> {
    requireKnownSchema(this.#schemaFound);
    const claimed = await claim(this.#claimParts, request, decide);
    this.#endNotices.noteEnds(claimed);
    return claimed;
  }

  async nextDue(request: Pick<ClaimRequest, 'kinds' | 'names'>, after?: number): Promise<number | null> {
    const { cursors, hints, gateMemory } = this.#claimParts;
    if (hints.isScanDue(request)) return Math.ceil(this.now() + afterHintMs);
    if (cursors.lastScan(request)?.isEmpty) return null;
    const next = await this.#database.transaction((transaction) => nextDue(transaction, request, after));
    const due = earlier(next, gateMemory.opensAt(request));
    const scanMs = earlier(cursors.nextScanIn(request), gateMemory.cursors.nextScanIn(request));
    return scanMs === null ? due : Math.min(due ?? Infinity, Math.ceil(this.now() + scanMs));
  }

  oldestDue(request: Pick<ClaimRequest, 'kinds' | 'names'>): Promise<ReadonlyMap<string, DueJob>> {
    return this.#database.transaction((transaction) => oldestDue(transaction, request));
  }

  load(ids: readonly number[]): Promise<readonly Job[]> {
    return load(this.#database, ids);
  }

  find(query: Query, page?: PageRequest): Promise<Page> {
    return find(this.#database, query, page);
  }

  jobsByKey(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return jobsByKey(this.#database, keys);
  }

  definitionVersions(after: number, limit: number): Promise<readonly StoredVersion[]> {
    return definitionVersions(this.#database, after, limit);
  }

  latestEnds(defs: readonly string[]): Promise<ReadonlyMap<string, LatestEnd>> {
    return this.#database.transaction((transaction) => latestEnds(transaction, defs));
  }

  startedRuns(defs: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> {
    return this.#database.transaction((transaction) => startedRuns(transaction, defs));
  }

  count(query: Query, dueBy?: number): Promise<readonly Tally[]> {
    return count(this.#database, query, dueBy);
  }

  queuePosition(job: Job): Promise<number> {
    return queuePosition(this.#database, job);
  }

  aheadInShare(job: Job): Promise<number> {
    return aheadInShare(this.#database, job);
  }

  divideWaiting(scope: PauseScope, count: number): Promise<readonly Position[]> {
    return this.#database.transaction((transaction) => divideWaiting(transaction, scope, count));
  }

  waitingVersions(types: readonly string[]): Promise<readonly WaitingVersion[]> {
    return this.#database.transaction((transaction) => waitingVersions(transaction, types));
  }

  admittedPerGate(types: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return admittedPerGate(this.#database, types);
  }

  awaitClaims(): Promise<void> {
    return awaitClaims(this.#database);
  }

  extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]> {
    return extend(this.#database, holdings, until);
  }

  lapsed(limit: number): Promise<readonly Job[]> {
    return lapsed(this.#database, limit);
  }

  heldUnderLeaseOf(instance: string, limit: number): Promise<readonly Job[]> {
    return heldUnderLeaseOf(this.#database, instance, limit);
  }

  orphaned(limit: number): Promise<readonly number[]> {
    return orphaned(this.#database, limit);
  }

  settleable(limit: number, parents?: readonly number[]): Promise<readonly Job[]> {
    return settleable(this.#database, limit, parents);
  }

  async closeEdges(followed: readonly number[]): Promise<readonly number[]> {
    requireKnownSchema(this.#schemaFound);
    return closeEdges(this.#database, followed, true);
  }

  proceedable(followers: readonly number[]): Promise<readonly Job[]> {
    return proceedable(this.#database, followers);
  }

  tallyEdges(followers: readonly number[]): Promise<ReadonlyMap<number, EdgeTally>> {
    return tallyEdges(this.#database, followers);
  }

  edges(query: EdgeQuery): Promise<readonly Edge[]> {
    return edges(this.#database, query);
  }

  edgesOfMany(query: ManyEdgesQuery): Promise<readonly Edge[]> {
    return edgesOfMany(this.#database, query);
  }

  stalledFollowers(after: number, limit: number): Promise<FollowingPage> {
    return stalledFollowers(this.#database, after, limit);
  }

  endedWithOpenEdges(after: number, limit: number): Promise<FollowingPage> {
    return endedWithOpenEdges(this.#database, after, limit);
  }

  flows(before: number | null, limit: number): Promise<readonly number[]> {
    return flows(this.#database, before, limit);
  }

  flowRuns(flow: number, after: number, limit: number): Promise<readonly number[]> {
    return flowRuns(this.#database, flow, after, limit);
  }

  tallyFlows(flowIds: readonly number[], runsMax: number): Promise<readonly FlowTally[]> {
    return tallyFlows(this.#database, flowIds, runsMax);
  }

  flowOf(run: number): Promise<number | null> {
    return flowOf(this.#database, run);
  }

  history(id: number, from?: number, limit?: number): Promise<readonly Event[]> {
    return history(this.#database, id, from, limit);
  }

  histories(ids: readonly number[]): Promise<ReadonlyMap<number, readonly Event[]>> {
    return histories(this.#database, ids);
  }

  eventsAfter(cursor: string | null, limit: number): Promise<FeedPage> {
    return eventsAfter(this.#database, cursor, limit);
  }

  feedEnd(): Promise<string> {
    return feedEnd(this.#database);
  }

  async stageChildren(parent: number, fence: number, children: readonly Change[]): Promise<void> {
    requireKnownSchema(this.#schemaFound);
    return stageChildren(this.#database, parent, fence, children);
  }

  async writeNotes(notes: readonly Note[]): Promise<readonly boolean[]> {
    requireKnownSchema(this.#schemaFound);
    return writeNotes(this.#database, notes);
  }

  async writeSteps(ends: readonly NewStep[]): Promise<readonly boolean[]> {
    requireKnownSchema(this.#schemaFound);
    return this.#stepBatcher.add(ends);
  }

  steps(jobs: readonly number[], after?: number, limit?: number): Promise<readonly StoredStep[]> {
    return steps(this.#database, jobs, after, limit);
  }

  stepNamed(job: number, name: string): Promise<StoredStep | undefined> {
    return stepNamed(this.#database, job, name);
  }

  tallyOpenWaits(): Promise<WaitTally> {
    return tallyOpenWaits(this.#database);
  }

  openWaits(after: WaitCursor | null, limit: number): Promise<readonly OpenWait[]> {
    return openWaits(this.#database, after, limit);
  }

  progress(id: number): Promise<string | null> {
    return progress(this.#database, id);
  }

  log(id: number, after?: number, limit?: number): Promise<readonly LogLine[]> {
    return log(this.#database, id, after, limit);
  }

  output(id: number, after: OutputPosition, limit: number): Promise<readonly OutputSegment[]> {
    return output(this.#database, id, after, limit);
  }

  outputBytes(id: number): Promise<number> {
    return outputBytes(this.#database, id);
  }

  async beat(instance: Beat): Promise<BeatReply> {
    // An instance that can no longer write must let its lease lapse, so that other instances repair its jobs.
    requireKnownSchema(this.#schemaFound);
    return beat(this.#database, instance, (version) => this.#noteSchema(version));
  }

  instances(): Promise<readonly Instance[]> {
    return instances(this.#database);
  }

  leave(instance: string): Promise<void> {
    return leave(this.#database, instance);
  }

  lead(role: string, instance: string, leaseMs: number): Promise<Leadership> {
    return lead(this.#database, role, instance, leaseMs);
  }

  enqueue(requests: readonly NewInboxRequest[]): Promise<readonly number[]> {
    return enqueue(this.#database, requests);
  }

  inboxRequests(query: InboxQuery): Promise<readonly InboxRequest[]> {
    return inboxRequests(this.#database, query);
  }

  async takeFromInbox(takes: readonly InboxTake[]): Promise<readonly boolean[]> {
    requireKnownSchema(this.#schemaFound);
    const batch = { changes: takes.flatMap(({ change }) => change ?? []) };
    const notify = (session: Session): void => {
      if (mayWake(batch)) this.#wake.notifyOthers(session, null);
    };
    try {
      const taken = await takeFromInbox(this.#database, takes, notify);
      if (mayWake(batch)) this.#wake.wakeOwn();
      return taken;
    } finally {
      if (mayWake(batch)) this.#recordWrite();
    }
  }

  memos(prefix: string): Promise<readonly Memo[]> {
    return memos(this.#database, prefix);
  }

  async writeMemos(writes: readonly MemoWrite[], changes: readonly Change[] = []): Promise<boolean> {
    requireKnownSchema(this.#schemaFound);
    const mayWakeOthers = mayWake({ changes });
    const notify = (session: Session): void => {
      if (mayWakeOthers) this.#wake.notifyOthers(session, null);
    };
    try {
      const isWritten = await writeMemos(this.#database, writes, changes, notify);
      if (mayWakeOthers) this.#wake.wakeOwn();
      return isWritten;
    } finally {
      if (mayWakeOthers) this.#recordWrite();
    }
  }

  async refuseInInbox(refusals: readonly InboxRefusal[]): Promise<void> {
    requireKnownSchema(this.#schemaFound);
    await refuseInInbox(this.#database, refusals);
  }

  async retryInInbox(id: number): Promise<InboxRequest | null> {
    const request = await retryInInbox(this.#database, id);
    this.#wake.announceInbox();
    return request;
  }

  removeFromInbox(id: number): Promise<InboxRequest | null> {
    return removeFromInbox(this.#database, id);
  }

  countInbox(): Promise<InboxCounts> {
    return countInbox(this.#database);
  }

  onInbox(call: () => void): () => void {
    this.#inboxListeners.add(call);
    this.#wake.listenForNotices();
    return () => this.#inboxListeners.delete(call);
  }

  limitUse(name: string, keys: Parameters<Store['limitUse']>[1]): Promise<readonly LimitInUseNow[]> {
    return limitUse(this.#database, name, keys);
  }

  async closeLimit(name: string, key: string | null, until: number): Promise<void> {
    requireKnownSchema(this.#schemaFound);
    await closeLimit(this.#database, name, key, until);
  }

  async reopenLimit(name: string, key: string | null): Promise<void> {
    requireKnownSchema(this.#schemaFound);
    await reopenLimit(this.#database, name, key);
    this.#wake.wakeOwn();
    this.#wake.notifyOthers(this.#database, null);
  }

  async spendLimit(name: string, key: string | null, cost: number): Promise<void> {
    requireKnownSchema(this.#schemaFound);
    await spendLimit(this.#database, name, key, cost);
  }

  purge(options: PurgeOptions): Promise<number> {
    return purge(this.#database, options);
  }

  onWake(call: () => void): () => void {
    return this.#wake.listen(call);
  }

  onEnd(id: number, call: () => void): () => void {
    this.#wake.listenForNotices();
    return this.#endNotices.wait(id, call);
  }

  /**
   * Returns a writer for the caller's transaction: the `pg` client on which the caller has begun it, or the transaction
   * of another library (see `caller/recognize.ts`). Ids are reserved outside of the transaction: inside, the row lock
   * of the counter would block all other producers until the commit. The notification is a part of the transaction:
   * when the transaction commits, the listeners of all processes, including this one, get the notification.
   */
  within(transaction: unknown): Writer {
    const session = sessionOn(transaction, this.#database, this.#callerStatements);
    return {
      isReservingApart: true,
      now: () => this.now(),
      synchronize: () => this.synchronize(),
      reserveIds: (amount) => this.reserveIds(amount),
      commit: async (batch) => {
        requireKnownSchema(this.#schemaFound);
        const notice = mayWake(batch) ? this.#wake.jobsNoticeWithin(hintableChange(batch.changes)) : null;
        const written = await commitForCaller(session, batch, notice);
        await this.#noteEndsWithin(transaction as object, session, batch.changes.filter((_, index) => written[index]));
        return written;
      },
      load: (ids) => load(session, ids),
      find: (query, page) => find(session, query, page),
      count: (query, dueBy) => count(session, query, dueBy),
      jobsByKey: (keys) => jobsByKey(session, keys),
      settleable: (limit, parents) => settleable(session, limit, parents),
      closeEdges: (followed) => closeEdges(session, followed),
      proceedable: (followers) => proceedable(session, followers),
      tallyEdges: (followers) => tallyEdges(session, followers),
      steps: (ids, after, limit) => steps(session, ids, after, limit),
      edges: (query) => edges(session, query),
      edgesOfMany: (query) => edgesOfMany(session, query),
    };
  }

  async transact<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T> {
    const written: Change[] = [];
    const answer = await this.#transactTurns.take(() => this.#database.transactOnce((session) => {
      const transaction: StoreTransaction = {
        query: async <Row extends object>(text: string, values?: readonly unknown[]) =>
          ({ rows: await session.runUnprepared<Row>(text, values).catch(throwPlain) }),
      };
      this.#writtenIn.set(transaction, written);
      return work(transaction);
    }));
    this.#endNotices.noteEnds(written);
    return answer;
  }

  inspect(sql: string, limits: InspectionLimits): Promise<Inspection> {
    return this.#inspector.inspect(sql, limits);
  }

  health(): Promise<StoreHealth> {
    return health(this.#database);
  }

  contradictions(): Promise<readonly Contradiction[]> {
    return contradictions(this.#database);
  }

  async close(): Promise<void> {
    this.#wake.close();
    this.#inspector.close();
    await this.#database.close();
  }

  /** Sends end notices when the transaction commits: by `transact` if it is one of this store, by its commit otherwise. */
  async #noteEndsWithin(transaction: object, session: Session, changes: readonly Change[]): Promise<void> {
    const noted = this.#writtenIn.get(transaction);
    if (noted) return void noted.push(...changes);
    for (const text of this.#endNotices.textsFor(changes)) {
      const notice = this.#wake.noticeWithin(text);
      if (notice) await notifyWithin(session, notice);
    }
  }

  #wakeInbox(): void {
    for (const call of this.#inboxListeners) call();
  }

  /**
   * Records the version of the schema. If a newer Stint has migrated it, refuses this call and later commits, claims,
   * notes, staged children and heartbeats.
   */
  #noteSchema(version: number): void {
    this.#schemaFound = version;
    requireKnownSchema(version);
  }

  async #commitTogether(groups: readonly (readonly Change[])[]): Promise<readonly (readonly boolean[])[]> {
    return perGroup(groups, await this.#commit({ changes: groups.flat() }));
  }

  async #writeStepsTogether(groups: readonly (readonly NewStep[])[]): Promise<readonly (readonly boolean[])[]> {
    return perGroup(groups, await writeSteps(this.#database, groups.flat()));
  }

  /** Records that this process may have written jobs before the positions at which its claims continue. */
  #recordWrite(): void {
    const { cursors, gateMemory } = this.#claimParts;
    cursors.recordWrite();
    gateMemory.cursors.recordWrite();
  }

  #commit(batch: Batch): Promise<readonly boolean[]> {
    return commit(this.#database, batch, (session) => {
      if (mayWake(batch)) this.#wake.notifyOthers(session, hintableChange(batch.changes));
    });
  }
}

function perGroup(groups: readonly (readonly unknown[])[], written: readonly boolean[]): readonly (readonly boolean[])[] {
  let offset = 0;
  return groups.map(({ length }) => written.slice(offset, (offset += length)));
}

/** Throws the error of a handler's own statement. A table that is missing is the user's, not one of Stint's schema. */
function throwPlain(error: unknown): never {
  throw isRefusal(error) && error.code === 'older.schema' ? new Error(String(error.detail['cause'])) : error;
}

const defaults: DatabaseSettings & PostgresOptions & { readonly notify: boolean } = {
  schema: 'stint',
  max: 8,
  prepare: true,
  notify: true,
  statementTimeoutMs: 60_000,
  silenceMs: 2_000,
  patienceMs: 15_000,
};

const timeMaxMs = 3_600_000;

const urlOptions: OptionReaders = {
  schema: text,
  max: whole(1, 1_000),
  prepare: flag,
  notify: flag,
  listenUrl: text,
  statementTimeoutMs: whole(1_000, timeMaxMs),
  silenceMs: whole(500, timeMaxMs),
  patienceMs: whole(0, timeMaxMs),
};

const optionsOf = (texts: Readonly<Record<string, string>>): PostgresOptions =>
  readOptions('PostgreSQL', urlOptions, texts);

/**
 * How changes are batched. `isForAll`: a refusal concerns the database, not one change, so it rejects the whole group.
 * After any other error, each commit of the group is tried again alone.
 */
const batching = {
  runningMax: 2,
  sizeMax: 2000,
  sizeOf: ({ length }: readonly unknown[]) => length,
  isForAll: isRefusal,
} satisfies BatcherOptions<readonly unknown[]>;

/** A claim by hint scans no lanes. They are scanned this long after the claim, so that the claimed job starts first. */
const afterHintMs = 2;

const mayWake = ({ changes, staged }: Batch): boolean =>
  staged !== undefined || changes.some(mayMakeClaimable);
