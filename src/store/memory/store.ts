/**
 * The memory store: implements the port with plain maps. The engine stores in-memory jobs in it, and the conformance
 * suite compares the other stores with it.
 */
import { mayMakeClaimable, type Change } from '../../model/change.ts';
import type { Edge } from '../../model/following.ts';
import type { Event } from '../../model/event.ts';
import type { NewStep, OpenWait, StoredStep } from '../../model/step.ts';
import { ownRetentionMs, type Job } from '../../model/job.ts';
import type { OutputPosition, OutputSegment } from '../../model/output.ts';
import type { PauseScope } from '../../model/pause.ts';
import type { Position } from '../../model/spread.ts';
import { Refusal } from '../../refusal.ts';
import type { Clock } from '../../time/clock.ts';
import { earlier, GateMemory } from '../gate-admission.ts';
import { edgesOfEach } from '../many-edges.ts';
import { matchesQuery, pageLimitMax, standingOf, type Page, type PageRequest, type Query, type Tally } from '../query.ts';
import type {
  Batch, Beat, BeatReply, ClaimDecision, ClaimRequest, DueJob, EdgeQuery, EdgeTally, FeedPage, FlowTally, FollowingPage, Holding,
  InboxCounts, InboxQuery, InboxRefusal, InboxRequest, InboxTake, Instance, LatestEnd, Leadership, LimitInUseNow, LogLine, ManyEdgesQuery,
  Memo, MemoWrite,
  WaitingVersion,
  Migration, NewInboxRequest, Note, PurgeOptions, Store, StoredVersion, StoreHealth, Writer,
  WaitCursor,
  WaitTally,
} from '../store.ts';
import { TallySum } from '../tally-sum.ts';
import { MemoryInbox } from './inbox.ts';
import { MemoryMemos } from './memos.ts';
import { MemoryLimits } from './limits.ts';
import { MemoryInstances } from './instances.ts';
import { queuePosition, admittedPerGate, aheadInShare, candidates, divideWaiting, isTypePaused, nextDue, oldestDue, waitingVersions } from './claim.ts';
import { definitionVersions } from './definition-versions.ts';
import { latestEnds, startedRuns } from './latest-runs.ts';
import { Records } from './records.ts';
import { MemoryFeed } from './feed.ts';

export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #records: Records;
  readonly #feed = new MemoryFeed();
  readonly #instances = new MemoryInstances();
  readonly #inbox = new MemoryInbox();
  readonly #memos = new MemoryMemos();
  readonly #limits: MemoryLimits;
  readonly #gateMemory = new GateMemory();
  readonly #staged = new Map<string, Change[]>();
  readonly #listeners = new Set<() => void>();
  #lastId: number;
  #isClosed = false;

  constructor(clock: Clock, firstId = 1) {
    this.#clock = clock;
    this.#records = new Records(clock);
    this.#limits = new MemoryLimits(this.#records);
    this.#lastId = firstId - 1;
  }

  now(): number {
    return this.#clock.now();
  }

  migrate(): Promise<Migration> {
    return this.#answer(() => ({ from: 0, to: 0, statements: [] }));
  }

  reserveIds(count: number): Promise<number> {
    return this.#answer(() => (this.#lastId += count) - count + 1);
  }

  commit(batch: Batch): Promise<readonly boolean[]> {
    return this.#answer(() => this.#write(batch));
  }

  claim(request: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]> {
    return this.#answer(() => {
      const now = this.now();
      const limits = this.#limits.at(now);
      const changes = decide(candidates(this.#records, request, limits, this.#gateMemory), now, now);
      const isWritten = this.#write({ changes });
      this.#limits.start(changes, limits);
      return changes.filter((_, index) => isWritten[index]);
    });
  }

  nextDue(request: Pick<ClaimRequest, 'kinds' | 'names'>, after = this.now()): Promise<number | null> {
    return this.#answer(() => earlier(nextDue(this.#records, request, after), this.#gateMemory.opensAt(request)));
  }

  oldestDue(request: Pick<ClaimRequest, 'kinds' | 'names'>): Promise<ReadonlyMap<string, DueJob>> {
    return this.#answer(() => oldestDue(this.#records, request, this.now()));
  }

  load(ids: readonly number[]): Promise<readonly Job[]> {
    return this.#answer(() => [...new Set(ids)].flatMap((id) => this.#records.get(id) ?? []));
  }

  find(query: Query, { order = 'newest', after, limit = 100 }: PageRequest = {}): Promise<Page> {
    return this.#answer(() => {
      const size = Math.min(limit, pageLimitMax);
      const isBeyond = (id: number): boolean => after === undefined || (order === 'newest' ? id < after : id > after);
      const found = [...this.#records.all()]
        .filter((job) => isBeyond(job.id) && matchesQuery(job, query))
        .sort((a, b) => (order === 'newest' ? b.id - a.id : a.id - b.id));
      const jobs = found.slice(0, size);
      return { jobs, next: found.length > size ? (jobs.at(-1)?.id ?? null) : null };
    });
  }

  jobsByKey(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const held = (key: string): [string, number][] => {
      const holder = this.#records.jobOfKey(key);
      return holder === null ? [] : [[key, holder]];
    };
    return this.#answer(() => new Map(keys.flatMap(held)));
  }

  definitionVersions(after: number, limit: number): Promise<readonly StoredVersion[]> {
    return this.#answer(() => definitionVersions(this.#records, after, limit));
  }

  latestEnds(defs: readonly string[]): Promise<ReadonlyMap<string, LatestEnd>> {
    return this.#answer(() => latestEnds(this.#records, defs));
  }

  startedRuns(defs: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> {
    return this.#answer(() => startedRuns(this.#records, defs));
  }

  count(query: Query, dueBy?: number): Promise<readonly Tally[]> {
    return this.#answer(() => {
      const tallies = new TallySum();
      for (const job of this.#records.all()) if (matchesQuery(job, query)) tallies.addJob(job, dueBy);
      return tallies.all();
    });
  }

  queuePosition(job: Job): Promise<number> {
    return this.#answer(() => queuePosition(this.#records, job, this.now()));
  }

  aheadInShare(job: Job): Promise<number> {
    return this.#answer(() => aheadInShare(this.#records, job, this.now()));
  }

  divideWaiting(scope: PauseScope, count: number): Promise<readonly Position[]> {
    return this.#answer(() => divideWaiting(this.#records, scope, count, this.now()));
  }

  waitingVersions(types: readonly string[]): Promise<readonly WaitingVersion[]> {
    return this.#answer(() => waitingVersions(this.#records, types));
  }

  admittedPerGate(types: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#answer(() => admittedPerGate(this.#records, (job) => types.includes(job.type)));
  }

  awaitClaims(): Promise<void> {
    return this.#answer(() => undefined);
  }

  extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]> {
    return this.#answer(() => holdings.map((holding) => this.#records.extend(holding, until)));
  }

  lapsed(limit: number): Promise<readonly Job[]> {
    const isOver = (job: Job): boolean => {
      if (job.state !== 'running') return false;
      const { holder, until } = job.lease;
      return until === null ? this.#instances.isGone(holder, this.now()) : until <= this.now();
    };
    return this.#answer(() => this.#records.byId(isOver).slice(0, limit));
  }

  heldUnderLeaseOf(instance: string, limit: number): Promise<readonly Job[]> {
    const isHeld = (job: Job): boolean =>
      job.state === 'running' && job.lease.holder === instance && job.lease.until === null;
    return this.#answer(() => this.#records.byId(isHeld).slice(0, limit));
  }

  orphaned(limit: number): Promise<readonly number[]> {
    const isOrphan = ({ state, parent }: Job): boolean =>
      state !== 'ended' && parent !== null && (this.#records.get(parent)?.state ?? 'ended') === 'ended';
    return this.#answer(() => {
      const parents = new Set(this.#records.byId(isOrphan).map(({ parent }) => parent!));
      return [...parents].sort((a, b) => a - b).slice(0, limit);
    });
  }

  settleable(limit: number, parents?: readonly number[]): Promise<readonly Job[]> {
    const isChildless = (job: Job): boolean =>
      job.state === 'held' && job.hold === 'children' && (parents?.includes(job.id) ?? true) && !this.#records.hasOpenChild(job.id);
    return this.#answer(() => this.#records.byId(isChildless).slice(0, limit));
  }

  closeEdges(followed: readonly number[]): Promise<readonly number[]> {
    const { following } = this.#records;
    return this.#answer(() => {
      const followers = followed.flatMap((id) => {
        const job = this.#records.get(id);
        if (job === undefined) return following.close(id, 'cancelled');
        return job.state === 'ended' ? following.close(id, job.fate) : [];
      });
      return [...new Set(followers)];
    });
  }

  proceedable(followers: readonly number[]): Promise<readonly Job[]> {
    return this.#answer(() => this.#stalled(followers).flatMap((id) => this.#records.get(id) ?? []));
  }

  tallyEdges(followers: readonly number[]): Promise<ReadonlyMap<number, EdgeTally>> {
    return this.#answer(() => new Map(followers.map((id) => [id, this.#records.following.tally(id)])));
  }

  edges(query: EdgeQuery): Promise<readonly Edge[]> {
    return this.#answer(() => this.#records.following.find(query));
  }

  edgesOfMany(query: ManyEdgesQuery): Promise<readonly Edge[]> {
    return this.#answer(() => edgesOfEach(query, (each) => this.#records.following.find(each)));
  }

  stalledFollowers(after: number, limit: number): Promise<FollowingPage> {
    const isWaiting = (job: Job): boolean => job.state === 'held' && job.hold === 'runs' && job.id > after;
    return this.#answer(() => {
      const ids = this.#records.byId(isWaiting).map(({ id }) => id);
      return { ids: this.#stalled(ids.slice(0, limit)), next: ids.length > limit ? ids[limit - 1]! : null };
    });
  }

  endedWithOpenEdges(after: number, limit: number): Promise<FollowingPage> {
    return this.#answer(() => {
      const open = this.#records.following.openFollowed(after, limit + 1);
      const ids = open.slice(0, limit).filter((id) => (this.#records.get(id)?.state ?? 'ended') === 'ended');
      return { ids, next: open.length > limit ? open[limit - 1]! : null };
    });
  }

  flows(before: number | null, limit: number): Promise<readonly number[]> {
    return this.#answer(() => this.#records.following.flows(before, limit));
  }

  flowRuns(flow: number, after: number, limit: number): Promise<readonly number[]> {
    return this.#answer(() => this.#records.following.flowRuns(flow, after, limit));
  }

  tallyFlows(flows: readonly number[], runsMax: number): Promise<readonly FlowTally[]> {
    return this.#answer(() => flows.flatMap((flow) => {
      const runs = this.#records.following.flowRuns(flow, 0, runsMax).map((id) => this.#records.get(id)!);
      return [...Map.groupBy(runs, (job) => JSON.stringify([job.type, standingOf(job)])).values()].map((some) => ({
        flow, type: some[0]!.type, standing: standingOf(some[0]!), count: some.length, first: some[0]!.id,
        created: Math.min(...some.map(({ created }) => created)),
      }));
    }));
  }

  flowOf(run: number): Promise<number | null> {
    return this.#answer(() => this.#records.following.flowOf(run));
  }

  history(id: number, from = 1, limit = Infinity): Promise<readonly Event[]> {
    return this.#answer(() => this.#records.history(id).filter((event) => event.n >= from).slice(0, limit));
  }

  histories(ids: readonly number[]): Promise<ReadonlyMap<number, readonly Event[]>> {
    return this.#answer(() => {
      const found = ids.map((id) => [id, this.#records.history(id)] as const);
      return new Map(found.filter(([, events]) => events.length > 0));
    });
  }

  eventsAfter(cursor: string | null, limit: number): Promise<FeedPage> {
    return this.#answer(() => this.#feed.after(cursor, limit));
  }

  feedEnd(): Promise<string> {
    return this.#answer(() => this.#feed.end());
  }

  stageChildren(parent: number, fence: number, children: readonly Change[]): Promise<void> {
    return this.#answer(() => {
      const name = stageName(parent, fence);
      this.#staged.set(name, [...(this.#staged.get(name) ?? []), ...children]);
    });
  }

  writeNotes(notes: readonly Note[]): Promise<readonly boolean[]> {
    return this.#answer(() => notes.map((note) => this.#records.writeNote(note)));
  }

  writeSteps(steps: readonly NewStep[]): Promise<readonly boolean[]> {
    const isHeld = ({ job, fence }: NewStep): boolean => this.#records.holds({ id: job, fence });
    return this.#answer(() => steps.map((step) => isHeld(step) && this.#records.steps.write(step)));
  }

  steps(jobs: readonly number[], after?: number, limit?: number): Promise<readonly StoredStep[]> {
    return this.#answer(() => this.#records.steps.of(jobs, after, limit));
  }

  stepNamed(job: number, name: string): Promise<StoredStep | undefined> {
    return this.#answer(() => this.#records.steps.named(job, name));
  }

  async tallyOpenWaits(): Promise<WaitTally> {
    const waits = await this.openWaits(null, Infinity);
    return { count: waits.length, oldest: waits.length === 0 ? null : Math.min(...waits.map(({ startedAt }) => startedAt)) };
  }

  openWaits(after: WaitCursor | null, limit: number): Promise<readonly OpenWait[]> {
    return this.#answer(() => this.#records.steps.openWaits(after, limit, (job) => this.#records.get(job)?.state !== 'ended'));
  }

  progress(id: number): Promise<string | null> {
    return this.#answer(() => this.#records.progress(id));
  }

  log(id: number, after = 0, limit = 1000): Promise<readonly LogLine[]> {
    return this.#answer(() => this.#records.log(id).filter((line) => line.n > after).slice(0, limit));
  }

  output(id: number, after: OutputPosition, limit: number): Promise<readonly OutputSegment[]> {
    return this.#answer(() => this.#records.output(id, after).slice(0, limit));
  }

  outputBytes(id: number): Promise<number> {
    return this.#answer(() => this.#records.output(id).at(-1)?.bytes ?? 0);
  }

  beat(beat: Beat): Promise<BeatReply> {
    return this.#answer(() => {
      const now = this.now();
      this.#instances.beat(beat, now);
      const isHeld = (holding: Holding): boolean => this.#records.holds(holding);
      const lost = beat.holds.filter((holding) => !isHeld(holding)).map(({ id }) => id);
      const cancelled = beat.holds.filter((holding) => isHeld(holding) && this.#records.get(holding.id)!.cancel);
      return { now, lost, cancelled: cancelled.map(({ id }) => id) };
    });
  }

  instances(): Promise<readonly Instance[]> {
    return this.#answer(() => this.#instances.all());
  }

  leave(instance: string): Promise<void> {
    return this.#answer(() => this.#instances.leave(instance, this.#records.isHolder(instance), this.now()));
  }

  lead(role: string, instance: string, leaseMs: number): Promise<Leadership> {
    return this.#answer(() => this.#instances.lead(role, instance, leaseMs, this.now()));
  }

  enqueue(requests: readonly NewInboxRequest[]): Promise<readonly number[]> {
    return this.#answer(() => requests.map((request) => this.#inbox.add(request, this.now())));
  }

  inboxRequests(query: InboxQuery): Promise<readonly InboxRequest[]> {
    return this.#answer(() => this.#inbox.find(query));
  }

  takeFromInbox(takes: readonly InboxTake[]): Promise<readonly boolean[]> {
    const write = (change: Change): boolean => this.#write({ changes: [change] })[0]!;
    return this.#answer(() => takes.map((take) => this.#inbox.take(take, write)));
  }

  refuseInInbox(refusals: readonly InboxRefusal[]): Promise<void> {
    return this.#answer(() => refusals.forEach((refusal) => this.#inbox.refuse(refusal, this.now())));
  }

  retryInInbox(id: number): Promise<InboxRequest | null> {
    return this.#answer(() => this.#inbox.retry(id));
  }

  removeFromInbox(id: number): Promise<InboxRequest | null> {
    return this.#answer(() => this.#inbox.remove(id));
  }

  countInbox(): Promise<InboxCounts> {
    return this.#answer(() => this.#inbox.count());
  }

  memos(prefix: string): Promise<readonly Memo[]> {
    return this.#answer(() => this.#memos.find(prefix));
  }

  writeMemos(writes: readonly MemoWrite[], changes: readonly Change[] = []): Promise<boolean> {
    return this.#answer(() => {
      if (!writes.every((write) => this.#memos.isCurrent(write))) return false;
      if (this.#write({ changes, whole: true }).includes(false)) return false;
      for (const write of writes) this.#memos.write(write);
      return true;
    });
  }

  onInbox(call: () => void): () => void {
    return this.#inbox.listen(call);
  }

  limitUse(name: string, keys: Parameters<Store['limitUse']>[1]): Promise<readonly LimitInUseNow[]> {
    return this.#answer(() => this.#limits.use(name, keys, this.now()));
  }

  closeLimit(name: string, key: string | null, until: number): Promise<void> {
    return this.#answer(() => this.#limits.close(name, key, until));
  }

  reopenLimit(name: string, key: string | null): Promise<void> {
    return this.#answer(() => {
      this.#limits.reopen(name, key);
      this.#wake();
    });
  }

  spendLimit(name: string, key: string | null, cost: number): Promise<void> {
    return this.#answer(() => this.#limits.spend(name, key, cost, this.now()));
  }

  purge({ limit, feedKeptMs, retentionMs }: PurgeOptions): Promise<number> {
    return this.#answer(() => {
      const now = this.now();
      const isPast = (job: Job): boolean => {
        if (job.state !== 'ended' || job.parent !== null) return false;
        const keptMs = ownRetentionMs(job) ?? retentionMs;
        return keptMs !== null && job.endedAt + keptMs <= now;
      };
      const past = this.#records.byId(isPast).slice(0, limit);
      const isPastPause = ({ kind, state, due }: Job): boolean =>
        kind === 'pause' && state === 'pending' && retentionMs !== null && due + retentionMs <= now;
      for (const job of [...past, ...this.#records.byId(isPastPause).slice(0, limit)]) this.#records.deleteJob(job.id);
      this.#records.deleteExpiredKeys();
      this.#feed.dropUntil(now - feedKeptMs);
      for (const name of this.#staged.keys()) if (!this.#records.holds(holdingOf(name))) this.#staged.delete(name);
      if (retentionMs !== null) this.#inbox.purge(now - retentionMs);
      this.#limits.purge(now);
      this.#instances.purge(now, (instance) => this.#records.isHolder(instance));
      return past.length;
    });
  }

  onWake(call: () => void): () => void {
    this.#listeners.add(call);
    return () => this.#listeners.delete(call);
  }

  within(): Writer {
    throw new Refusal('malformed.store', 'the memory store takes part in no transaction: create the job without one');
  }

  health(): Promise<StoreHealth> {
    const none = { bytes: null, logBytes: null, oldestTransactionMs: null, pool: null, connections: null };
    return this.#answer(() => ({ time: this.now(), bloat: [], ...none }));
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    return Promise.resolve();
  }

  /**
   * Runs `work`; refuses if the store is closed. It is async, so that an error of `work` becomes a rejected promise.
   */
  async #answer<T>(work: () => T): Promise<T> {
    if (this.#isClosed) throw new Refusal('unavailable.store', 'the store is closed');
    return work();
  }

  #stalled(followers: readonly number[]): readonly number[] {
    return followers.filter((id) => {
      const job = this.#records.get(id);
      return job?.state === 'held' && job.hold === 'runs' && !this.#records.following.hasOpen(id);
    });
  }

  #write({ changes, whole = false, staged, edges = [], flows = [], forgottenSteps = [], waitEnds = [] }: Batch): readonly boolean[] {
    const stage = staged && stageName(staged.parent, staged.fence);
    const all = stage === undefined ? changes : [...changes, ...(this.#staged.get(stage) ?? [])];
    const written = this.#records.write(all, whole, (job) => !isTypePaused(this.#records, job, this.now()));
    if (stage !== undefined && !(whole && written.includes(false))) this.#staged.delete(stage);
    if (!written.includes(false)) {
      this.#records.following.write(edges, flows);
      for (const forgotten of forgottenSteps) this.#records.steps.forget(forgotten);
      for (const end of waitEnds) this.#records.steps.endWait(end);
    }
    this.#publish(all.filter((_, index) => written[index]));
    return written.slice(0, changes.length);
  }

  #publish(changes: readonly Change[]): void {
    this.#feed.append(changes);
    if (changes.some(mayMakeClaimable)) this.#wake();
  }

  #wake(): void {
    for (const call of this.#listeners) call();
  }
}

const stageName = (parent: number, fence: number): string => `${parent}/${fence}`;

function holdingOf(stage: string): Holding {
  const [id, fence] = stage.split('/').map(Number);
  return { id: id!, fence: fence! };
}
