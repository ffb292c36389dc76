// The monitor: wraps the store and checks the invariants on every commit at once.
import { createHash } from 'node:crypto';
import type { Change } from '../../src/model/change.ts';
import type { EventKind } from '../../src/model/event.ts';
import { evolve, blankJob } from '../../src/model/evolve.ts';
import { parseGate, type Limits } from '../../src/model/gate.ts';
import { isOpen, type Job } from '../../src/model/job.ts';
import { isInForce, isPausable, keyOf } from '../../src/model/pause.ts';
import type { LimitUse } from '../../src/model/limit.ts';
import type { NewStep } from '../../src/model/step.ts';
import { originOf } from '../../src/store/row.ts';
import type { Batch, Beat, Holding, Leadership, Note, Store, StoreTransaction, Writer } from '../../src/store/store.ts';
import { checkStep, violation, type Invariant, type Violation } from '../../src/verify.ts';
import { StepLedger } from './asking.ts';
import type { BatchLedger } from './batches.ts';
import type { Success } from './completing.ts';
import type { FileStore } from './file-store.ts';
import { FollowerOracle } from './follower-oracle.ts';
import type { Goals } from './goals.ts';
import { InboxLedger, type StoredRequest } from './inbox.ts';
import { LimitOracle, type ClaimTime } from './limits.ts';
import { ShareOracle } from './shares.ts';
import { batchedType } from './workload.ts';

export interface MonitorParts {
  readonly store: Store;
  readonly limits: Limits;
  readonly goals: Goals;
  readonly batches: BatchLedger;
  readonly onViolation: (violation: Violation) => void;
  /** Called when a claim is committed, before it is answered. */
  readonly onClaimed: (holder: string) => void;
  /** Sets the function that the store calls at each commit; absent: a commit is checked when it has been answered. */
  readonly onCommit?: FileStore['onCommit'];
  /** Commits are read from the store by `observe`. Extensions of the leases of single jobs are unknown then. */
  readonly isReading?: boolean;
}

/** Events that only the holder of a job may write. */
const outcomes: ReadonlySet<EventKind> = new Set<EventKind>(['succeeded', 'retried', 'planned', 'handedOff']);

interface InstanceLease {
  readonly until: number;
  /** When the lease last lapsed and was renewed: claims before that time may be repaired. */
  readonly brokenAt: number;
  /** The process that has it; undefined: the instance has left. */
  readonly boot: string | undefined;
}

/** What the monitor needs to know of a heartbeat. */
export interface RecordedBeat extends Pick<Beat, 'id' | 'leaseMs' | 'takeOver'> {
  readonly about: Pick<Beat['about'], 'boot'>;
}

export class StoreMonitor {
  readonly store: Store;
  readonly #parts: MonitorParts;
  /** Every job after the last commit. */
  readonly #jobs = new Map<number, Job>();
  readonly #deleted = new Set<number>();
  readonly #openChildren = new Map<number, number>();
  readonly #keys = new Map<string, { readonly id: number; readonly until: number }>();
  /** The keys that jobs have had while they were open, each with the number of commits before its last release. */
  readonly #released = new Map<string, number>();
  readonly #admitted = new Map<string, number>();
  readonly #staged = new Map<string, Change[]>();
  readonly #leases = new Map<string, InstanceLease>();
  readonly #extended = new Map<number, number>();
  /** The pauses of types and keys, whether in force or not. */
  readonly #pauses = new Map<number, Job>();
  /** The changes that were written in transactions. */
  readonly #writtenIn = new WeakMap<object, Change[]>();
  /** The claims that somebody ended by cancelling the job at once, and when. */
  readonly #stopped = new Map<string, number>();
  /** The runs that succeeded, and the fences under which they did. */
  readonly succeeded: Success[] = [];
  readonly inbox = new InboxLedger();
  readonly steps = new StepLedger();
  readonly #limits: LimitOracle;
  readonly #shares: ShareOracle;
  readonly #followers: FollowerOracle;
  readonly #trace = createHash('sha256');
  #leader: Leadership | null = null;
  /** The highest store time so far: the clock can be set back, but a lapsed lease stays lapsed. */
  #latest = 0;
  commits = 0;

  constructor(parts: MonitorParts) {
    this.#parts = parts;
    this.#limits = new LimitOracle(parts.goals);
    this.#shares = new ShareOracle(parts.goals, (id) => this.#jobs.get(id));
    this.#followers = new FollowerOracle(parts.goals);
    const { store } = parts;
    parts.onCommit?.((batch, written) => this.#checkCommit(batch, written));
    const intercepted: Partial<Store> = {
      commit: (batch) => this.#commit(batch),
      claim: async (ask, decide) => {
        const changes = await store.claim(ask, decide);
        this.#checkChanges(changes, 'claim');
        return changes;
      },
      stageChildren: async (parent, fence, children) => {
        await store.stageChildren(parent, fence, children);
        const name = `${parent}/${fence}`;
        this.#staged.set(name, [...(this.#staged.get(name) ?? []), ...children]);
      },
      ...(store.transact && { transact: (work) => this.#transact(work), within: (tx) => this.#within(tx) }),
      ...this.#inboxMethods(store),
      ...this.#limits.methods(store),
      beat: (beat) => this.#beat(beat),
      leave: async (instance) => {
        await store.leave(instance);
        this.#recordLeave(instance);
      },
      extend: (holdings, until) => this.#extend(holdings, until),
      writeSteps: (steps) => this.#writeSteps(steps),
      writeNotes: (notes) => this.#note(notes),
      lead: (role, instance, leaseMs) => this.#lead(role, instance, leaseMs),
    };
    this.store = new Proxy(store, {
      get: (target, name) => {
        const own = (intercepted as Record<PropertyKey, unknown>)[name];
        if (own !== undefined) return own;
        const property: unknown = Reflect.get(target, name, target);
        return typeof property === 'function' ? (property as Method).bind(target) : property;
      },
    });
  }

  get jobs(): ReadonlyMap<number, Job> {
    return this.#jobs;
  }

  isDeleted(id: number): boolean {
    return this.#deleted.has(id);
  }

  /**
   * Whether the job was cancelled at once, during the last lease, while it ran under this fence. Its holder learns that by its
   * next heartbeat, and starts nothing when the lease is over with which it claimed.
   */
  wasJustStopped({ id, fence }: Holding, leaseMs: number): boolean {
    const stoppedAt = this.#stopped.get(`${id}/${fence}`);
    return stoppedAt !== undefined && this.#now() - stoppedAt <= leaseMs;
  }

  /** Checks a commit that was read from the store, not seen by a call. `since`: when its transaction began. */
  observe(changes: readonly Change[], since = this.#now()): void {
    this.#checkChanges(changes, 'read', since);
  }

  /** Checks the write of a step that was read from the store. `before`: the job before that commit. */
  observeStep(step: Pick<NewStep, 'job' | 'name' | 'fence'>, before: Job | undefined): void {
    this.#reportAll(this.steps.stored(step, before, this.#jobs.get(step.job)));
  }

  /** Checks the inbox as it was read from the store after a commit that created so many runs without keys for its requests. */
  observeInbox(stored: readonly StoredRequest[], created: number): void {
    const read = this.inbox.read(stored, this.commits);
    const taken = read.filter(({ key }) => key === null).length;
    for (const { id, key, since } of read) {
      if (key === null || this.#wasTaken(key, since)) continue;
      this.#report('S46', null, `request ${id} is gone, and no job has had its key ${key} since it was written`);
    }
    if (read.length > 0) this.#parts.goals.reach('request of the inbox taken');
    if (stored.some(({ isRefused }) => isRefused)) this.#parts.goals.reach('request of the inbox refused');
    if (taken !== created) this.#report('S46', null, `${taken} requests were taken by a commit that created ${created} runs for them`);
  }

  /** Whether a job has the unique key, or has released it after so many commits. */
  #wasTaken(key: string, since: number): boolean {
    return this.#keys.has(key) || (this.#released.get(key) ?? -1) > since;
  }

  observeClosing(use: Pick<LimitUse, 'name' | 'key'>, until: number): void {
    this.#limits.closed(use, { at: this.#now(), until });
  }

  /** Checks a heartbeat that was read from the store. */
  observeBeat(beat: RecordedBeat, now: number): void {
    this.#recordBeat(beat, now);
  }

  observeLeave(instance: string): void {
    this.#recordLeave(instance);
  }

  /** A hash of all commits so far. */
  trace(): string {
    return this.#trace.copy().digest('hex').slice(0, 16);
  }

  async #commit(batch: Batch): Promise<readonly boolean[]> {
    const written = await this.#parts.store.commit(batch);
    if (!this.#parts.onCommit) this.#checkCommit(batch, written);
    return written;
  }

  #checkCommit(batch: Batch, written: readonly boolean[]): void {
    const changes = batch.changes.filter((_, index) => written[index]);
    this.#checkRefusals(batch.changes.filter((_, index) => !written[index]));
    const isComplete = changes.length === batch.changes.length;
    const staged = batch.staged && isComplete ? this.#unstage(`${batch.staged.parent}/${batch.staged.fence}`) : [];
    this.#checkChanges([...changes, ...staged], 'commit');
  }

  #inboxMethods(store: Store): Partial<Store> {
    return {
      enqueue: async (requests) => {
        const ids = await store.enqueue(requests);
        this.inbox.wrote(ids);
        return ids;
      },
      takeFromInbox: async (takes) => {
        const taken = await store.takeFromInbox(takes);
        const done = takes.filter((_, index) => taken[index]);
        for (const found of this.inbox.took(done)) this.#parts.onViolation(found);
        this.#checkChanges(done.flatMap(({ change }) => change ?? []), 'inbox');
        if (done.length > 0) this.#parts.goals.reach('request of the inbox taken');
        return taken;
      },
      writeMemos: async (writes, changes = []) => {
        const isWritten = await store.writeMemos(writes, changes);
        if (isWritten) this.#checkChanges(changes, 'memos');
        return isWritten;
      },
      refuseInInbox: async (refusals) => {
        await store.refuseInInbox(refusals);
        this.inbox.refused(refusals);
        this.#parts.goals.reach('request of the inbox refused');
      },
      retryInInbox: async (id) => {
        const request = await store.retryInInbox(id);
        if (request !== null) this.inbox.retried(id);
        return request;
      },
      removeFromInbox: async (id) => {
        const request = await store.removeFromInbox(id);
        if (request !== null) this.inbox.removed(id);
        return request;
      },
    };
  }

  async #writeSteps(steps: readonly NewStep[]): Promise<readonly boolean[]> {
    const before = steps.map(({ job }) => this.#jobs.get(job));
    const stored = await this.#parts.store.writeSteps(steps);
    for (const [at, step] of steps.entries()) {
      if (!stored[at]) this.#parts.goals.reach('step refused');
      const found = stored[at] ? this.steps.stored(step, before[at], this.#jobs.get(step.job)) : [];
      for (const one of found) this.#parts.onViolation(one);
    }
    return stored;
  }

  async #transact<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    const changes: Change[] = [];
    const answer = await this.#parts.store.transact!((tx) => {
      this.#writtenIn.set(tx, changes);
      return work(tx);
    });
    this.#checkChanges(changes, 'transaction');
    if (changes.length > 0) this.#parts.goals.reach('completed with its writes');
    return answer;
  }

  #within(transaction: unknown): Writer {
    const writer = this.#parts.store.within(transaction);
    const commit = async (batch: Batch): Promise<readonly boolean[]> => {
      const written = await writer.commit(batch);
      this.#writtenIn.get(transaction as object)!.push(...batch.changes.filter((_, index) => written[index]));
      return written;
    };
    return { ...writer, commit };
  }

  #unstage(name: string): Change[] {
    const children = this.#staged.get(name) ?? [];
    this.#staged.delete(name);
    return children;
  }

  #checkRefusals(refused: readonly Change[]): void {
    const { goals } = this.#parts;
    for (const { before, events } of refused) {
      if (before?.state === 'running') goals.reach('fence rejection');
      if (events.some(({ kind }) => kind === 'ticked')) goals.reach('deposed leader write rejected');
    }
  }

  #checkChanges(changes: readonly Change[], how: string, since = this.#now()): void {
    const claim = { since, now: this.#now() };
    this.commits += 1;
    this.#latest = Math.max(this.#latest, this.#now());
    this.#trace.update(`${how} ${this.#now()}\n`);
    const createdChildren = new Map<number, number>();
    for (const { before, after } of changes) {
      if (before === null && after?.parent != null) add(createdChildren, after.parent, 1);
    }
    for (const change of changes) this.#checkChange(change, createdChildren, claim);
    this.#reportAll(this.#followers.committed(changes));
    for (const found of changes.flatMap((change) => this.steps.changed(change))) this.#parts.onViolation(found);
    this.#parts.goals.record(changes, this.#openChildren);
    for (const { after } of changes) if (after) this.#checkCounts(after);
  }

  #checkChange(change: Change, createdChildren: ReadonlyMap<number, number>, claim: ClaimTime): void {
    const { before, after, events } = change;
    const id = (before ?? after)!.id;
    this.#trace.update(`${id} ${after?.version ?? 'gone'} ${events.map(({ kind }) => kind).join()}\n`);
    const known = this.#known(id, before);
    const [basedOn, stored] = [before?.version ?? 0, known?.version ?? 0];
    if (basedOn !== stored) this.#report('S28', id, `job ${id} was written from version ${basedOn}, not ${stored}`);
    if (after === null) return this.#remove(id, known);
    let current = before ?? blankJob(originOf(after));
    for (const event of events) {
      const next = evolve(current, event);
      for (const found of checkStep({ before: current, event, after: next })) this.#parts.onViolation(found);
      this.#checkEvent(current, event, createdChildren, claim);
      current = next;
    }
    this.#store(known, after);
    if (after.type === batchedType && before?.state === 'running') this.#reportAll(this.#parts.batches.ended(after));
    if (after.kind === 'pause') this.#pauses.set(id, after);
    if (after.kind === 'limit') this.#limits.changed(after, claim.now);
  }

  /** Returns the job as last written; undefined if it is created anew, as a pause is whose predecessor was purged. */
  #known(id: number, before: Job | null): Job | undefined {
    const known = this.#jobs.get(id);
    const isPurged = before === null && known?.kind === 'pause' && known.due <= this.#latest;
    return isPurged ? undefined : known;
  }

  #checkEvent(
    before: Job, event: Change['events'][number], createdChildren: ReadonlyMap<number, number>, claim: ClaimTime,
  ): void {
    const { id } = before;
    const open = this.#openChildren.get(id) ?? 0;
    this.#checkWriter(before, event);
    switch (event.kind) {
      case 'claimed':
        this.#extended.delete(id);
        this.#parts.onClaimed(event.holder);
        this.#checkPauses(before);
        this.#checkLimits(before, claim);
        this.#reportAll(this.#shares.claimed(before, event.at));
        if (before.parent !== null && this.#jobs.get(before.parent)?.cancel) {
          this.#report('S16', id, `job ${id} was claimed after job ${before.parent} was cancelled`);
        }
        break;
      case 'lapsed':
        this.#checkLapse(before, event.by);
        break;
      case 'planned':
        if ((before.phase === 'prepare' || before.kind === 'run') && (createdChildren.get(id) ?? 0) !== event.tasks) {
          const stored = createdChildren.get(id) ?? 0;
          this.#report('S13', id, `run ${id} planned ${event.tasks} tasks or children and ${stored} were stored with it`);
        }
        break;
      case 'settled':
        if (open > 0) this.#report('S15', id, `job ${id} continued while ${open} of its children were open`);
        break;
      case 'cancelled':
        if (before.state === 'running') this.#stopped.set(`${id}/${before.fence}`, this.#now());
        break;
      case 'succeeded':
        if (before.kind === 'run') this.succeeded.push({ type: before.type, job: id, fence: before.fence });
        if (open > 0) this.#report('S12', id, `job ${id} succeeded while ${open} of its children were open`);
        break;
      default:
    }
  }

  /** S40: no pause of the job's type or key is in force. A run that its gate has admitted goes on. */
  #checkPauses(job: Job): void {
    const key = job.gate === null || job.admitted ? null : parseGate(job.gate).key;
    for (const pause of isPausable(job.kind) ? this.#pauses.values() : []) {
      if (pause.type !== job.type || !isInForce(pause, this.#now())) continue;
      const paused = keyOf(pause);
      if (paused !== null && paused !== key) continue;
      this.#report('S40', job.id, `job ${job.id} was claimed while ${job.type} ${paused ?? ''} was paused`);
    }
  }

  /** S39, S40: named limits let the job start. */
  #checkLimits(job: Job, claim: ClaimTime): void {
    if (job.gate === null || job.admitted) return;
    this.#reportAll(this.#limits.claimed(job, claim));
  }

  /** S4: only the holder of a job, or a client with its token, writes the outcome of an attempt. */
  #checkWriter(before: Job, { kind, by }: Change['events'][number]): void {
    if (!outcomes.has(kind) || before.state !== 'running' || before.kind === 'bedrock' || by === 'token') return;
    const { id, lease: { holder, until } } = before;
    if (until !== null || by === holder) return;
    this.#report('S4', id, `job ${id} was ${kind} by ${by} while ${holder} held it`);
  }

  /** S6: the lease of the holder has lapsed since the claim, or a process of the same name gives the job up. */
  #checkLapse(before: Job, by: string): void {
    if (before.state !== 'running' || by === before.lease.holder) return;
    const { holder, until } = before.lease;
    if (until !== null && this.#parts.isReading) return;
    const lease = this.#leases.get(holder);
    const ends = until === null ? (lease?.until ?? Infinity) : Math.max(until, this.#extended.get(before.id) ?? 0);
    const wasBroken = until === null && lease !== undefined && lease.brokenAt >= (before.startedAt ?? 0);
    if (ends <= this.#latest || wasBroken) return;
    const sentence = `job ${before.id} was taken from ${holder} ${ends - this.#latest} ms before its lease was over`;
    this.#report('S6', before.id, sentence);
  }

  #store(before: Job | undefined, after: Job): void {
    this.#count(before, -1);
    this.#count(after, 1);
    this.#shares.changed(before, after, this.#now());
    this.#jobs.set(after.id, after);
    this.#takeKey(before, after);
  }

  #count(job: Job | undefined, sign: 1 | -1): void {
    if (!job || !isOpen(job)) return;
    if (job.parent !== null) add(this.#openChildren, job.parent, sign);
    if (!job.admitted || job.gate === null) return;
    for (const [scope] of this.#limitsOf(job)) add(this.#admitted, scope, sign);
    this.#limits.count(job, sign);
  }

  /** S10, S11: no other job has the unique key. */
  #takeKey(before: Job | undefined, after: Job): void {
    if (after.unique === null) return;
    const { key, forMs } = after.unique;
    const holder = this.#keys.get(key);
    const isTaking = isOpen(after) && (before === undefined || (!isOpen(before) && forMs === null));
    if (isTaking) {
      const isStolen = holder && holder.id !== after.id && holder.until > this.#latest;
      const sentence = `job ${after.id} took the key ${key} of job ${holder?.id}`;
      if (isStolen) this.#report(forMs === null ? 'S11' : 'S10', after.id, sentence);
      this.#keys.set(key, { id: after.id, until: forMs === null ? Infinity : after.created + forMs });
    } else if (!isOpen(after) && forMs === null && holder?.id === after.id) this.#releaseKey(key);
  }

  #releaseKey(key: string): void {
    this.#keys.delete(key);
    this.#released.set(key, this.commits);
  }

  #remove(id: number, known: Job | undefined): void {
    this.#count(known, -1);
    this.#shares.changed(known, null, this.#now());
    const unique = known?.unique;
    if (unique?.forMs === null && this.#keys.get(unique.key)?.id === id) this.#releaseKey(unique.key);
    this.#jobs.delete(id);
    this.#deleted.add(id);
    this.#forgetChildren(id);
  }

  /** The store deletes the ended children of a deleted job with it; child runs can have children themselves. */
  #forgetChildren(id: number): void {
    for (const [child, { parent, state, kind }] of this.#jobs) {
      if (parent !== id || state !== 'ended') continue;
      this.#jobs.delete(child);
      this.#deleted.add(child);
      if (kind === 'run') this.#forgetChildren(child);
    }
  }

  /** S32: a gate never admits more jobs than its limit. */
  #checkCounts(job: Job): void {
    if (!isOpen(job) || !job.admitted || job.gate === null) return;
    for (const [scope, limit] of this.#limitsOf(job)) {
      const count = this.#admitted.get(scope) ?? 0;
      if (count > limit) this.#report('S32', job.id, `${count} jobs are admitted for ${scope}: the limit is ${limit}`);
    }
  }

  #limitsOf({ gate }: Job): (readonly [string, number])[] {
    const { type, def, key, typeMax, defMax } = parseGate(gate!);
    const { limits } = this.#parts;
    return [
      [`type ${type}`, limits.types.get(type) ?? typeMax ?? Infinity],
      ...(def === null ? [] : [[`def ${def}`, limits.defs.get(def) ?? defMax ?? Infinity] as const]),
      ...(key === null ? [] : [[`key ${type} ${key}`, limits.keys.get(type) ?? Infinity] as const]),
    ];
  }

  async #beat(beat: Beat): ReturnType<Store['beat']> {
    const reply = await this.#parts.store.beat(beat);
    this.#recordBeat(beat, reply.now);
    return reply;
  }

  #recordBeat(beat: RecordedBeat, now: number): void {
    this.#latest = Math.max(this.#latest, now);
    const before = this.#leases.get(beat.id);
    if (before !== undefined && before.until > now) this.#checkBoot(beat, before);
    const isBroken = before !== undefined && before.until <= this.#latest;
    const brokenAt = isBroken ? now : (before?.brokenAt ?? -Infinity);
    this.#leases.set(beat.id, { until: now + beat.leaseMs, brokenAt, boot: beat.about.boot });
  }

  #recordLeave(instance: string): void {
    this.#leases.set(instance, { until: this.#now(), brokenAt: this.#now(), boot: undefined });
  }

  /** S5: a process does not get the name of another one whose lease has not lapsed. */
  #checkBoot({ id, about, takeOver = false }: RecordedBeat, { boot }: InstanceLease): void {
    if (boot === undefined || boot === about.boot || takeOver) return;
    this.#report('S5', null, `process ${about.boot} has the name ${id} during the lease of process ${boot}`);
  }

  async #extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]> {
    const extended = await this.#parts.store.extend(holdings, until);
    holdings.forEach((holding, index) => {
      if (!extended[index]) return;
      this.#checkHolding(holding, 'extended its lease');
      this.#extended.set(holding.id, Math.max(until, this.#extended.get(holding.id) ?? 0));
    });
    return extended;
  }

  async #note(notes: readonly Note[]): Promise<readonly boolean[]> {
    const noted = await this.#parts.store.writeNotes(notes);
    notes.forEach((note, index) => {
      if (noted[index]) this.#checkHolding(note, 'noted something');
      else this.#parts.goals.reach('fence rejection');
    });
    return noted;
  }

  /** S4: only the current holder of a job can write to it. */
  #checkHolding({ id, fence }: Holding, what: string): void {
    const job = this.#jobs.get(id);
    if (job?.state === 'running' && job.fence === fence) return;
    const is = job ? `${job.state} under fence ${job.fence}` : 'gone';
    this.#report('S4', id, `a holder under fence ${fence} ${what} of job ${id}, which is ${is}`);
  }

  /** S24: a new leader has a higher term. */
  async #lead(role: string, instance: string, leaseMs: number): Promise<Leadership> {
    const led = await this.#parts.store.lead(role, instance, leaseMs);
    const before = this.#leader;
    const isSameTerm = led.term === before?.term && led.leader !== before.leader;
    if (before && (led.term < before.term || isSameTerm)) {
      this.#report(
        'S24', null, `${led.leader} leads in term ${led.term} after ${before.leader} in term ${before.term}`,
      );
    }
    this.#leader = led;
    return led;
  }

  #now(): number {
    return this.#parts.store.now();
  }

  #reportAll(found: readonly Violation[]): void {
    for (const each of found) this.#parts.onViolation(each);
  }

  #report(invariant: Invariant, job: number | null, sentence: string): void {
    this.#parts.onViolation(violation(invariant, job, sentence));
  }
}

type Method = (...values: unknown[]) => unknown;

function add<Key>(counts: Map<Key, number>, key: Key, sign: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + sign;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
