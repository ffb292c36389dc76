/**
 * The records of the memory store: jobs with histories, children, unique keys and notes. A batch that must be written
 * whole is undone if one of its changes cannot be written.
 */
import { leavesLease, startsNewJob, type Change } from '../../model/change.ts';
import type { Event } from '../../model/event.ts';
import type { Job } from '../../model/job.ts';
import { outputStart, type OutputPosition, type OutputSegment } from '../../model/output.ts';
import { keyUntil, neededKey, releasedKey } from '../../model/unique-key.ts';
import type { Clock } from '../../time/clock.ts';
import type { Holding, LogLine, Note } from '../store.ts';
import { MemoryFollowing } from './following.ts';
import { MemorySteps } from './steps.ts';

interface HeldKey {
  readonly job: number;
  /** When the key becomes free; null: when its job ends. */
  readonly until: number | null;
}

export class Records {
  readonly following = new MemoryFollowing();
  readonly steps = new MemorySteps();
  readonly #clock: Clock;
  readonly #jobs = new Map<number, Job>();
  readonly #children = new Map<number, Set<number>>();
  readonly #histories = new Map<number, Event[]>();
  readonly #keys = new Map<string, HeldKey>();
  readonly #progress = new Map<number, string>();
  readonly #logs = new Map<number, LogLine[]>();
  readonly #outputs = new Map<number, OutputSegment[]>();
  /** The steps that undo the changes of the current batch; null: there is no batch, or it need not be written whole. */
  #undo: (() => void)[] | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(id: number): Job | undefined {
    return this.#jobs.get(id);
  }

  all(): IterableIterator<Job> {
    return this.#jobs.values();
  }

  byId(isChosen: (job: Job) => boolean): Job[] {
    return [...this.#jobs.values()].filter(isChosen).sort((a, b) => a.id - b.id);
  }

  history(id: number): readonly Event[] {
    return this.#histories.get(id) ?? [];
  }

  progress(id: number): string | null {
    return this.#progress.get(id) ?? null;
  }

  log(id: number): readonly LogLine[] {
    return this.#logs.get(id) ?? [];
  }

  output(id: number, after: OutputPosition = outputStart): readonly OutputSegment[] {
    const isBehind = ({ fence, upto }: OutputSegment): boolean =>
      fence > after.fence || (fence === after.fence && upto > after.n);
    return (this.#outputs.get(id) ?? []).filter(isBehind);
  }

  holds({ id, fence }: Holding): boolean {
    const job = this.#jobs.get(id);
    return job?.state === 'running' && job.fence === fence;
  }

  isHolder(holder: string): boolean {
    return this.#jobs.values().some((job) => job.state === 'running' && job.lease.holder === holder);
  }

  hasOpenChild(parent: number): boolean {
    for (const child of this.#children.get(parent) ?? []) if (this.#jobs.get(child)?.state !== 'ended') return true;
    return false;
  }

  /** Returns the id of the job that has the key; null: the key is free. */
  jobOfKey(key: string): number | null {
    const held = this.#keys.get(key);
    return held === undefined || isOver(held, this.#clock.now()) ? null : held.job;
  }

  /**
   * Writes changes; returns for each whether it was written. With `whole`, either all changes are written or none. A
   * new job that is running is written only if `mayStart`.
   */
  write(changes: readonly Change[], whole: boolean, mayStart: (job: Job) => boolean): boolean[] {
    const undo: (() => void)[] = [];
    this.#undo = whole ? undo : null;
    const written = changes.map((change) =>
      (startsNewJob(change) && !mayStart(change.after!) ? false : this.#writeIfUnchanged(change)));
    this.#undo = null;
    if (!whole || !written.includes(false)) return written;
    for (const step of undo.toReversed()) step();
    return written.map(() => false);
  }

  extend(holding: Holding, until: number): boolean {
    const job = this.#jobs.get(holding.id);
    if (job?.state !== 'running' || job.fence !== holding.fence || job.lease.until === null) return false;
    if (job.lease.until <= this.#clock.now()) return false;
    this.#jobs.set(job.id, { ...job, lease: { ...job.lease, until: Math.max(job.lease.until, until) } });
    return true;
  }

  writeNote({ id, fence, progress, log = [], output = [] }: Note): boolean {
    if (!this.holds({ id, fence })) return false;
    if (progress !== undefined) this.#progress.set(id, progress);
    const lines = this.#logs.get(id) ?? [];
    this.#logs.set(id, [...lines, ...log.map((line, index) => ({ ...line, n: lines.length + index + 1, fence }))]);
    if (output.length > 0) this.#writeOutput(id, output.map((segment) => ({ ...segment, fence })));
    return true;
  }

  /** Deletes a job with its history, notes and ended children. Releases its unique key, unless the key has a period. */
  deleteJob(id: number): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    for (const child of this.#children.get(id) ?? []) if (this.#jobs.get(child)?.state === 'ended') this.deleteJob(child);
    const restore = this.following.delete(id, job.state === 'ended' ? job.fate : 'cancelled', job.result);
    this.#undo?.push(restore);
    this.steps.delete(id);
    this.#releaseKey({ before: job, after: null });
    if (job.parent !== null) this.#removeChild(job.parent, id);
    for (const map of [this.#jobs, this.#histories, this.#progress, this.#logs, this.#outputs]) this.#delete<unknown>(map, id);
  }

  deleteExpiredKeys(): void {
    for (const [key, held] of this.#keys) if (isOver(held, this.#clock.now())) this.#keys.delete(key);
  }

  #writeIfUnchanged(change: Change): boolean {
    const { before, after } = change;
    const id = (before ?? after)!.id;
    const current = this.#jobs.get(id);
    if (before === null ? current !== undefined : current?.version !== before.version) return false;
    const key = neededKey(change);
    if (key !== null && this.jobOfKey(key) !== null) return false;
    this.#put(change);
    return true;
  }

  #put({ before, after, events }: Change): void {
    if (after === null) return this.deleteJob(before!.id);
    const current = this.#jobs.get(after.id);
    const keepsLease = before !== null && leavesLease(before, after) && current?.state === 'running';
    this.#set(this.#jobs, after.id, keepsLease ? ({ ...after, lease: current.lease } as Job) : after);
    if (before === null && after.parent !== null) this.#addChild(after.parent, after.id);
    this.#set(this.#histories, after.id, [...(this.#histories.get(after.id) ?? []), ...events]);
    const key = neededKey({ before, after });
    if (key !== null) this.#set(this.#keys, key, { job: after.id, until: keyUntil(after) });
    this.#releaseKey({ before, after });
  }

  #writeOutput(id: number, segments: readonly OutputSegment[]): void {
    const stored = this.#outputs.get(id) ?? [];
    const isStored = ({ fence, upto }: OutputSegment): boolean =>
      stored.some((known) => known.fence === fence && known.upto === upto);
    this.#outputs.set(id, [...stored, ...segments.filter((segment) => !isStored(segment))]);
  }

  #releaseKey(change: Pick<Change, 'before' | 'after'>): void {
    const key = releasedKey(change);
    if (key !== null && this.#keys.get(key)?.job === change.before!.id) this.#delete(this.#keys, key);
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
}

const isOver = ({ until }: HeldKey, now: number): boolean => until !== null && until <= now;
