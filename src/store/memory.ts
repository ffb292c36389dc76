/** The memory store: the port in plain maps. It is the oracle of the others and the home of jobs that no database shall see. */
import { leavesLease, type Change } from '../model/change.ts';
import type { Event } from '../model/event.ts';
import { Turnstile, noLimits } from '../model/gate.ts';
import { matches, parseGlob } from '../model/glob.ts';
import { isOpen, type Job } from '../model/job.ts';
import { Refusal } from '../refusal.ts';
import type { Clock } from '../time/clock.ts';
import { isMeant, pageLimitMax, standingOf, type Page, type PageAsk, type Query, type Tally } from './query.ts';
import { aheadMax } from './store.ts';
import type {
  Batch, Beat, BeatReply, Candidate, ClaimAsk, ClaimDecision, Feed, FeedEvent, Holding, Instance, Leadership, LogLine,
  Migration, Names, Note, Store, Vitals, Writer,
} from './store.ts';

interface TakenKey {
  readonly job: number;
  /** Null: until its job ends. */
  readonly until: number | null;
}

export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #jobs = new Map<number, Job>();
  readonly #children = new Map<number, Set<number>>();
  readonly #histories = new Map<number, Event[]>();
  readonly #keys = new Map<string, TakenKey>();
  readonly #staged = new Map<string, Change[]>();
  readonly #progress = new Map<number, string>();
  readonly #logs = new Map<number, LogLine[]>();
  readonly #instances = new Map<string, Instance>();
  readonly #leaders = new Map<string, Leadership>();
  readonly #listeners = new Set<() => void>();
  #feed: FeedEvent[] = [];
  #feedStart = 0;
  #lastId = 0;
  /** How to go back, step by step, while a whole batch is written. */
  #undo: (() => void)[] | null = null;

  constructor(clock: Clock, firstId = 1) {
    this.#clock = clock;
    this.#lastId = firstId - 1;
  }

  now(): number {
    return this.#clock.now();
  }

  migrate(): Promise<Migration> {
    return Promise.resolve({ from: 0, to: 0, statements: [] });
  }

  reserve(count: number): Promise<number> {
    const first = this.#lastId + 1;
    this.#lastId += count;
    return Promise.resolve(first);
  }

  commit({ changes, whole = false, staged }: Batch): Promise<readonly boolean[]> {
    const all = staged ? [...changes, ...(this.#staged.get(stageName(staged.parent, staged.fence)) ?? [])] : changes;
    this.#undo = whole ? [] : null;
    const written = all.map((change) => this.#writeIfUnchanged(change));
    const undo = this.#undo ?? [];
    this.#undo = null;
    if (whole && written.includes(false)) {
      for (const step of undo.toReversed()) step();
      return Promise.resolve(changes.map(() => false));
    }
    if (staged) this.#staged.delete(stageName(staged.parent, staged.fence));
    this.#tell(all.filter((_, index) => written[index]));
    return Promise.resolve(written.slice(0, changes.length));
  }

  claim(ask: ClaimAsk, decide: ClaimDecision): Promise<readonly Change[]> {
    const now = this.now();
    const changes = decide(this.#candidates(ask, now), now);
    const written = changes.filter((change) => this.#writeIfUnchanged(change));
    this.#tell(written);
    return Promise.resolve(written);
  }

  nextDue({ kinds, names }: Pick<ClaimAsk, 'kinds' | 'names'>): Promise<number | null> {
    const isNamed = namePredicate(names);
    let next: number | null = null;
    for (const job of this.#jobs.values()) {
      if (job.state !== 'pending' || !kinds.includes(job.kind) || !isNamed(job.type) || job.due <= this.now()) continue;
      next = Math.min(next ?? Infinity, job.due);
    }
    return Promise.resolve(next);
  }

  load(ids: readonly number[]): Promise<readonly Job[]> {
    return Promise.resolve([...new Set(ids)].flatMap((id) => this.#jobs.get(id) ?? []));
  }

  find(query: Query, { order = 'newest', after, limit = 100 }: PageAsk = {}): Promise<Page> {
    const size = Math.min(limit, pageLimitMax);
    const isBeyond = (id: number): boolean => after === undefined || (order === 'newest' ? id < after : id > after);
    const found = [...this.#jobs.values()]
      .filter((job) => isBeyond(job.id) && isMeant(job, query))
      .sort((a, b) => (order === 'newest' ? b.id - a.id : a.id - b.id));
    const jobs = found.slice(0, size);
    return Promise.resolve({ jobs, next: found.length > size ? (jobs.at(-1)?.id ?? null) : null });
  }

  holders(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const taken = keys.filter((key) => !this.#isFree(key));
    return Promise.resolve(new Map(taken.map((key) => [key, this.#keys.get(key)!.job])));
  }

  count(query: Query): Promise<readonly Tally[]> {
    const tallies = new Map<string, { -readonly [K in keyof Tally]: Tally[K] }>();
    for (const job of this.#jobs.values()) {
      if (!isMeant(job, query)) continue;
      const { kind, type } = job;
      const standing = standingOf(job);
      const name = JSON.stringify([kind, type, standing]);
      const tally = tallies.get(name) ?? { kind, type, standing, count: 0 };
      tally.count += 1;
      tallies.set(name, tally);
    }
    return Promise.resolve([...tallies.values()]);
  }

  ahead(job: Job): Promise<number> {
    const now = this.now();
    const isAhead = (other: Job): boolean =>
      other.state === 'pending' && other.due <= now &&
      other.kind === job.kind && other.type === job.type && byUrgency(other, job) < 0;
    return Promise.resolve(Math.min(aheadMax, [...this.#jobs.values()].filter(isAhead).length));
  }

  behindGates(types: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return Promise.resolve(this.#behind((job) => types.includes(job.type)));
  }

  extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]> {
    return Promise.resolve(holdings.map((holding) => this.#extendOne(holding, until)));
  }

  lapsed(limit: number): Promise<readonly Job[]> {
    const isOver = (job: Job): boolean => {
      if (job.state !== 'running') return false;
      if (job.lease.until !== null) return job.lease.until <= this.now();
      const instance = this.#instances.get(job.lease.holder);
      return instance !== undefined && instance.leaseUntil <= this.now();
    };
    return Promise.resolve(this.#byId(isOver).slice(0, limit));
  }

  heldBy(instance: string, limit: number): Promise<readonly Job[]> {
    const isHeld = (job: Job): boolean =>
      job.state === 'running' && job.lease.holder === instance && job.lease.until === null;
    return Promise.resolve(this.#byId(isHeld).slice(0, limit));
  }

  orphaned(limit: number): Promise<readonly number[]> {
    const isOrphan = ({ state, parent }: Job): boolean =>
      state !== 'ended' && parent !== null && (this.#jobs.get(parent)?.state ?? 'ended') === 'ended';
    const parents = new Set(this.#byId(isOrphan).map(({ parent }) => parent!));
    return Promise.resolve([...parents].sort((a, b) => a - b).slice(0, limit));
  }

  settleable(limit: number, parents?: readonly number[]): Promise<readonly Job[]> {
    const isWaitingForNobody = (job: Job): boolean =>
      job.state === 'held' && job.hold === 'children' && (parents?.includes(job.id) ?? true) && !this.#hasOpenChild(job.id);
    return Promise.resolve(this.#byId(isWaitingForNobody).slice(0, limit));
  }

  history(id: number, from = 1, limit = Infinity): Promise<readonly Event[]> {
    const events = this.#histories.get(id) ?? [];
    return Promise.resolve(events.filter((event) => event.n >= from).slice(0, limit));
  }

  eventsAfter(cursor: string | null, limit: number): Promise<Feed> {
    const from = cursor === null ? this.#feedStart : cursorNumber(cursor);
    const events = this.#feed.slice(Math.max(0, from - this.#feedStart), Math.max(0, from - this.#feedStart) + limit);
    return Promise.resolve({ events, cursor: String(Math.max(from, this.#feedStart) + events.length) });
  }

  feedEnd(): Promise<string> {
    return Promise.resolve(String(this.#feedStart + this.#feed.length));
  }

  stage(parent: number, fence: number, children: readonly Change[]): Promise<void> {
    const name = stageName(parent, fence);
    this.#staged.set(name, [...(this.#staged.get(name) ?? []), ...children]);
    return Promise.resolve();
  }

  note(notes: readonly Note[]): Promise<readonly boolean[]> {
    return Promise.resolve(notes.map((note) => this.#noteOne(note)));
  }

  progress(id: number): Promise<string | null> {
    return Promise.resolve(this.#progress.get(id) ?? null);
  }

  log(id: number, after = 0, limit = 1000): Promise<readonly LogLine[]> {
    return Promise.resolve((this.#logs.get(id) ?? []).filter((line) => line.n > after).slice(0, limit));
  }

  beat({ id, leaseMs, about, holds }: Beat): Promise<BeatReply> {
    const now = this.now();
    const started = this.#instances.get(id)?.started ?? now;
    this.#instances.set(id, { id, started, beatAt: now, leaseUntil: now + leaseMs, about });
    const lost = holds.filter((holding) => !this.#holds(holding)).map((holding) => holding.id);
    const cancelled = holds.filter((holding) => this.#holds(holding) && this.#jobs.get(holding.id)!.cancel).map(({ id: job }) => job);
    return Promise.resolve({ now, lost, cancelled });
  }

  instances(): Promise<readonly Instance[]> {
    return Promise.resolve([...this.#instances.values()]);
  }

  leave(instance: string): Promise<void> {
    const known = this.#instances.get(instance);
    const holdsSome = this.#byId((job) => job.state === 'running' && job.lease.holder === instance).length > 0;
    if (known && holdsSome) this.#instances.set(instance, { ...known, leaseUntil: this.now() });
    else this.#instances.delete(instance);
    for (const [role, { leader, term }] of this.#leaders) {
      if (leader === instance) this.#leaders.set(role, { leader, term, until: this.now() });
    }
    return Promise.resolve();
  }

  lead(role: string, instance: string, leaseMs: number): Promise<Leadership> {
    const now = this.now();
    const current = this.#leaders.get(role);
    if (current && current.leader !== instance && current.until > now) return Promise.resolve(current);
    const goesOn = current?.leader === instance && current.until > now;
    const leadership = { leader: instance, term: goesOn ? current.term : (current?.term ?? 0) + 1, until: now + leaseMs };
    this.#leaders.set(role, leadership);
    return Promise.resolve(leadership);
  }

  purge({ limit, feedKeptMs, retentionMs }: Parameters<Store['purge']>[0]): Promise<number> {
    const now = this.now();
    const isPast = (job: Job): boolean => {
      if (job.state !== 'ended' || job.parent !== null) return false;
      const kept = job.policy.retentionMs ?? retentionMs;
      return kept !== null && job.endedAt + kept <= now;
    };
    const past = this.#byId(isPast).slice(0, limit);
    for (const job of past) this.#forget(job.id);
    const kept = this.#feed.findIndex(({ event }) => event.at > now - feedKeptMs);
    const dropped = kept === -1 ? this.#feed.length : kept;
    this.#feed = this.#feed.slice(dropped);
    this.#feedStart += dropped;
    for (const [key, { until }] of this.#keys) if (until !== null && until <= now) this.#keys.delete(key);
    for (const name of this.#staged.keys()) if (!this.#holds(holdingOf(name))) this.#staged.delete(name);
    return Promise.resolve(past.length);
  }

  onWake(call: () => void): () => void {
    this.#listeners.add(call);
    return () => this.#listeners.delete(call);
  }

  within(): Writer {
    throw new Refusal('malformed.store', 'the memory store takes part in no transaction: create the job without one');
  }

  vitals(): Promise<Vitals> {
    const none = { bytes: null, logBytes: null, oldestTransactionMs: null, pool: null, connections: null };
    return Promise.resolve({ time: this.now(), bloat: [], ...none });
  }

  close(): Promise<void> {
    this.#listeners.clear();
    return Promise.resolve();
  }

  #candidates({ kinds, names, limit, limits = noLimits, isLeader = false, priorities }: ClaimAsk, now: number): Candidate[] {
    const isNamed = namePredicate(names);
    const turnstile = new Turnstile(this.#behind(() => true), limits, isLeader);
    const isClaimable = (job: Job): boolean =>
      job.state === 'pending' && job.due <= now && kinds.includes(job.kind) && isNamed(job.type) &&
      (priorities?.includes(job.priority) ?? true);
    const chosen: Candidate[] = [];
    for (const job of [...this.#jobs.values()].filter(isClaimable).sort(byUrgency)) {
      if (chosen.length >= limit) break;
      if (job.gate !== null && !job.admitted && !turnstile.pass(job.gate)) continue;
      chosen.push({ job, parentCancelled: job.parent !== null && Boolean(this.#jobs.get(job.parent)?.cancel) });
    }
    return chosen;
  }

  #behind(isCounted: (job: Job) => boolean): Map<string, number> {
    const behind = new Map<string, number>();
    for (const job of this.#jobs.values()) {
      if (job.gate !== null && job.admitted && isCounted(job)) behind.set(job.gate, (behind.get(job.gate) ?? 0) + 1);
    }
    return behind;
  }

  #writeIfUnchanged(change: Change): boolean {
    const { before, after } = change;
    const id = (before ?? after)!.id;
    const current = this.#jobs.get(id);
    if (before === null ? current !== undefined : current?.version !== before.version) return false;
    if (after !== null && wantsKey(before, after) && !this.#isFree(after.unique!.key)) return false;
    this.#put(change);
    return true;
  }

  #put({ before, after, events }: Change): void {
    const job = (before ?? after)!;
    if (after === null) return this.#forget(job.id);
    const current = this.#jobs.get(after.id);
    const keepsLease = before !== null && leavesLease(before, after) && current?.state === 'running';
    this.#set(this.#jobs, after.id, keepsLease ? ({ ...after, lease: current.lease } as Job) : after);
    if (before === null && after.parent !== null) this.#addChild(after.parent, after.id);
    this.#set(this.#histories, after.id, [...(this.#histories.get(after.id) ?? []), ...events]);
    if (wantsKey(before, after)) this.#set(this.#keys, after.unique!.key, { job: after.id, until: keyUntil(after) });
    if (before !== null && isOpen(before) && !isOpen(after)) this.#freeKey(after);
  }

  #forget(id: number): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    for (const child of this.#children.get(id) ?? []) if (this.#jobs.get(child)?.state === 'ended') this.#forget(child);
    if (isOpen(job)) this.#freeKey(job);
    if (job.parent !== null) this.#removeChild(job.parent, id);
    for (const map of [this.#jobs, this.#histories, this.#progress, this.#logs]) this.#delete<unknown>(map, id);
  }

  #addChild(parent: number, child: number): void {
    const children = this.#children.get(parent) ?? new Set();
    this.#set(this.#children, parent, children.add(child));
    this.#undo?.push(() => children.delete(child));
  }

  #removeChild(parent: number, child: number): void {
    const children = this.#children.get(parent);
    if (!children?.delete(child)) return;
    this.#undo?.push(() => children.add(child));
    if (children.size === 0) this.#delete(this.#children, parent);
  }

  #set<K, V>(map: Map<K, V>, key: K, value: V): void {
    this.#remember(map, key);
    map.set(key, value);
  }

  #delete<V>(map: Map<number, V>, key: number): void;
  #delete<V>(map: Map<string, V>, key: string): void;
  #delete<K, V>(map: Map<K, V>, key: K): void {
    this.#remember(map, key);
    map.delete(key);
  }

  #remember<K, V>(map: Map<K, V>, key: K): void {
    if (!this.#undo) return;
    const [wasThere, value] = [map.has(key), map.get(key)];
    this.#undo.push(() => void (wasThere ? map.set(key, value!) : map.delete(key)));
  }

  #freeKey({ id, unique }: Job): void {
    if (unique && unique.forMs === null && this.#keys.get(unique.key)?.job === id) this.#delete(this.#keys, unique.key);
  }

  #isFree(key: string): boolean {
    const taken = this.#keys.get(key);
    return taken === undefined || (taken.until !== null && taken.until <= this.now());
  }

  #tell(changes: readonly Change[]): void {
    for (const { after, events } of changes) {
      if (after === null) continue;
      const { id: job, kind, type, parent } = after;
      for (const event of events) this.#feed.push({ job, kind, type, parent, event });
    }
    if (changes.some(({ after }) => after?.state === 'pending')) for (const call of this.#listeners) call();
  }

  #extendOne(holding: Holding, until: number): boolean {
    const job = this.#jobs.get(holding.id);
    if (job?.state !== 'running' || job.fence !== holding.fence || job.lease.until === null) return false;
    if (job.lease.until <= this.now()) return false;
    this.#jobs.set(job.id, { ...job, lease: { ...job.lease, until: Math.max(job.lease.until, until) } });
    return true;
  }

  #noteOne({ id, fence, progress, log = [] }: Note): boolean {
    if (!this.#holds({ id, fence })) return false;
    if (progress !== undefined) this.#progress.set(id, progress);
    const lines = this.#logs.get(id) ?? [];
    this.#logs.set(id, [...lines, ...log.map((line, index) => ({ ...line, n: lines.length + index + 1 }))]);
    return true;
  }

  #holds({ id, fence }: Holding): boolean {
    const job = this.#jobs.get(id);
    return job?.state === 'running' && job.fence === fence;
  }

  #hasOpenChild(parent: number): boolean {
    for (const child of this.#children.get(parent) ?? []) if (this.#jobs.get(child)?.state !== 'ended') return true;
    return false;
  }

  #byId(isChosen: (job: Job) => boolean): Job[] {
    return [...this.#jobs.values()].filter(isChosen).sort((a, b) => a.id - b.id);
  }
}

const byUrgency = (a: Job, b: Job): number => b.priority - a.priority || a.due - b.due || a.id - b.id;

const wantsKey = (before: Job | null, after: Job): boolean =>
  after.unique !== null && isOpen(after) && (before === null || (!isOpen(before) && after.unique.forMs === null));

const keyUntil = ({ unique, created }: Job): number | null =>
  unique === null || unique.forMs === null ? null : created + unique.forMs;

const stageName = (parent: number, fence: number): string => `${parent}/${fence}`;

function holdingOf(stage: string): Holding {
  const [id, fence] = stage.split('/').map(Number);
  return { id: id!, fence: fence! };
}

function namePredicate(names: Names): (type: string) => boolean {
  if ('exact' in names) {
    const exact = new Set(names.exact);
    return (type) => exact.has(type);
  }
  const glob = parseGlob(names.glob);
  return (type) => matches(glob, type);
}

function cursorNumber(cursor: string): number {
  const number = /^\d+$/.test(cursor) ? Number(cursor) : NaN;
  if (!Number.isSafeInteger(number)) {
    throw new Refusal('malformed.cursor', 'this cursor was not made by this store: start again without one', { cursor });
  }
  return number;
}
