/**
 * Notes: writes the progress, log lines and output of all running jobs of an instance to the store.
 *
 * The notes of all jobs are written together, in batches, at most four times a second, and the last notes of a job when
 * its attempt ends. Much output is written sooner, and the output of a step before its end. There is one write at a time,
 * so that older notes never overwrite newer ones. A failed write is retried with exponential backoff, with the latest
 * progress and all buffered lines and chunks. If a write succeeded but its response was lost, its lines may be stored
 * twice; chunks of output are not, since the store knows their numbers.
 */
import type { NewChunk } from '../../model/output.ts';
import type { Progress } from '../../model/progress.ts';
import type { Holding, Store } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import type { LogLevel } from '../handler/job-log.ts';
import { EndedAttempts } from './ended-attempts.ts';
import { JobNotes, type NoteDraft, type BufferRoom } from './job-notes.ts';
import { flushBytes } from './output-buffer.ts';

export const notesEveryMs = 250;

const retryMsMax = 10_000;
const lastTriesMax = 5;
const notesPerWriteMax = 1_000;
const bytesPerWriteMax = 4_194_304;
const bytesWaitingMax = 67_108_864;

export interface NotesOptions {
  readonly store: Pick<Store, 'writeNotes'>;
  readonly clock: Clock;
  /** Called once when the store reports that the job is no longer claimed under this fence. */
  readonly onLost: (id: number, fence: number) => void;
  /** Called when output of the job has been stored. */
  readonly onOutput?: (id: number) => void;
  /** Called once per outage, when the store is unreachable or refuses a write. */
  readonly onError?: (error: unknown) => void;
}

export class Notes {
  readonly #options: NotesOptions;
  readonly #jobs = new Map<string, JobNotes>();
  /** Their notes are dropped. */
  readonly #ended = new EndedAttempts();
  readonly #finishing = new Map<string, Promise<boolean>>();
  readonly #room: BufferRoom = { bytes: bytesWaitingMax };
  readonly #wanted = new Set<JobNotes>();
  #lastRound = Promise.resolve();
  #nextRound: Promise<void> | null = null;
  #disarm: (() => void) | null = null;
  #failures = 0;
  #isClosed = false;
  #givesUp = false;

  constructor(options: NotesOptions) {
    this.#options = options;
  }

  /** `isImplied`: the progress follows from what is stored elsewhere. It is written only to replace progress that does not. */
  progress(holding: Holding, progress: Progress, isImplied = false): void {
    const job = this.#jobOf(holding);
    if (job === undefined) return;
    job.setProgress(progress, isImplied);
    if (job.isDirty) this.#arm();
  }

  log(holding: Holding, level: LogLevel, text: string): void {
    const job = this.#jobOf(holding);
    if (job === undefined) return;
    job.log({ at: this.#options.clock.now(), level, text });
    this.#arm();
  }

  /** Appends a chunk; resolves when there is room for more. Returns null if the attempt has ended or was lost. */
  output(holding: Holding, chunk: NewChunk): Promise<void> | null {
    const job = this.#jobOf(holding);
    if (job === undefined) return null;
    job.output.add(chunk);
    if (job.output.bytes >= flushBytes) void this.#writeNow(job);
    this.#arm();
    return job.output.room();
  }

  /**
   * Writes the output of a job; resolves when what was written before the call is stored, or the attempt has ended or was
   * lost. Null: there is none.
   */
  flushOutput(holding: Holding): Promise<void> | null {
    const job = this.#jobs.get(keyOf(holding));
    return job === undefined || job.output.isEmpty ? null : this.#flush(job);
  }

  /**
   * Writes the remaining notes of a job and drops later ones; returns null if no notes remain. Never rejects: after
   * five failed writes it drops the notes, because the outcome of the job is stored only after `finish`. Output is not
   * dropped, as an outcome is not: it is tried until `stopRetrying`. Resolves to whether all output is stored, or the job
   * was lost.
   */
  finish(holding: Holding): Promise<boolean> | null {
    this.#ended.add(holding);
    if (this.#jobs.size === 0 && this.#finishing.size === 0) return null;
    const key = keyOf(holding);
    const finishing = this.#finishing.get(key);
    if (finishing !== undefined) return finishing;
    const job = this.#jobs.get(key);
    this.#jobs.delete(key);
    if (job === undefined) return null;
    job.end();
    if (!job.isDirty) return null;
    const finished = this.#writeLast(job).finally(() => this.#finishing.delete(key));
    this.#finishing.set(key, finished);
    return finished;
  }

  /** Writes the remaining notes of a job by `store`, in the transaction of a caller, and drops later ones. */
  async finishIn(store: Pick<Store, 'writeNotes'>, holding: Holding): Promise<void> {
    this.#ended.add(holding);
    const job = this.#jobs.get(keyOf(holding));
    if (job === undefined) return;
    this.#jobs.delete(keyOf(holding));
    job.end();
    if (!job.isDirty) return;
    const { note, written } = job.draft();
    const [isHeld] = await store.writeNotes([note]);
    if (isHeld) written();
    else job.drop();
  }

  /** Gives up the notes that cannot be written. */
  stopRetrying(): void {
    this.#givesUp = true;
  }

  /** Writes the remaining notes of all jobs and drops later ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#givesUp = true;
    this.#disarm?.();
    for (const { holding } of this.#jobs.values()) void this.finish(holding);
    await Promise.all(this.#finishing.values());
  }

  #jobOf(holding: Holding): JobNotes | undefined {
    const key = keyOf(holding);
    const known = this.#jobs.get(key);
    if (known !== undefined || this.#isClosed || this.#ended.has(holding)) return known;
    const job = new JobNotes(holding, this.#room);
    this.#jobs.set(key, job);
    return job;
  }

  #arm(): void {
    this.#disarm ??= this.#options.clock.after(retryMs(this.#failures), () => void this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    for (const job of this.#jobs.values()) if (job.isDirty) this.#wanted.add(job);
    await this.#round();
    this.#disarm = null;
    if (this.#jobs.values().some(({ isDirty }) => isDirty)) this.#arm();
  }

  async #writeLast(job: JobNotes): Promise<boolean> {
    let isWhole = true;
    for (let tries = 1; job.isDirty; tries++) {
      await this.#writeNow(job);
      if (job.isDirty && tries >= lastTriesMax && (job.output.isEmpty || this.#givesUp)) {
        isWhole = job.output.isEmpty;
        job.drop();
      }
      if (job.isDirty) await this.#options.clock.sleep(retryMs(tries - 1));
    }
    return isWhole;
  }

  async #flush(job: JobNotes): Promise<void> {
    const last = job.output.added;
    const isDone = (): boolean => job.output.isStored(last) || this.#jobs.get(keyOf(job.holding)) !== job;
    for (let tries = 1; !isDone(); tries++) {
      await this.#writeNow(job);
      if (!isDone()) await this.#options.clock.sleep(retryMs(tries - 1));
    }
  }

  #writeNow(job: JobNotes): Promise<void> {
    this.#wanted.add(job);
    return this.#round();
  }

  /** Returns the next round of writes; all calls before its start share the round. */
  #round(): Promise<void> {
    this.#nextRound ??= this.#lastRound.then(() => {
      this.#nextRound = null;
      return this.#writeWanted();
    });
    this.#lastRound = this.#nextRound;
    return this.#nextRound;
  }

  async #writeWanted(): Promise<void> {
    const jobs = [...this.#wanted];
    this.#wanted.clear();
    for (const drafts of batches(jobs)) if (!(await this.#write(drafts))) return;
  }

  async #write(drafts: readonly NoteDraft[]): Promise<boolean> {
    const answers = await this.#note(drafts);
    answers?.forEach((isHeld, index) => (isHeld ? this.#written(drafts[index]!) : this.#lost(drafts[index]!)));
    return answers !== null;
  }

  async #note(drafts: readonly NoteDraft[]): Promise<readonly boolean[] | null> {
    try {
      const answers = await this.#options.store.writeNotes(drafts.map(({ note }) => note));
      this.#failures = 0;
      return answers;
    } catch (error) {
      this.#failed(drafts, error);
      return null;
    }
  }

  #failed(drafts: readonly NoteDraft[], error: unknown): void {
    const isFirstFailure = this.#failures === 0 && drafts.some(({ job }) => !job.isSuspect);
    this.#failures += 1;
    for (const { job } of drafts) this.#suspect(job);
    if (isFirstFailure) this.#options.onError?.(error);
  }

  #written({ job, note, written }: NoteDraft): void {
    job.isSuspect = false;
    written();
    if (note.output !== undefined) this.#options.onOutput?.(note.id);
  }

  #lost({ job }: NoteDraft): void {
    const { id, fence } = job.holding;
    job.drop();
    this.#jobs.delete(keyOf(job.holding));
    this.#ended.add(job.holding);
    this.#options.onLost(id, fence);
  }

  /** Moves the job to the end of `#jobs`: its notes may have caused the failure, so those of other jobs come first. */
  #suspect(job: JobNotes): void {
    job.isSuspect = true;
    const key = keyOf(job.holding);
    if (this.#jobs.delete(key)) this.#jobs.set(key, job);
  }
}

const retryMs = (failures: number): number => Math.min(notesEveryMs * 2 ** failures, retryMsMax);

const keyOf = ({ id, fence }: Holding): string => `${id}/${fence}`;

/**
 * Yields the notes in batches of limited size, then the notes of each suspect job in a batch of its own. As a
 * generator, it makes each batch just before the write, so that the batch contains the latest notes.
 */
function* batches(jobs: readonly JobNotes[]): Generator<readonly NoteDraft[]> {
  const { suspects = [], others = [] } = Object.groupBy(jobs, ({ isSuspect }) => (isSuspect ? 'suspects' : 'others'));
  let batch: NoteDraft[] = [];
  let bytes = 0;
  for (const job of others) {
    if (!job.isDirty) continue;
    const draft = job.draft();
    batch.push(draft);
    bytes += draft.bytes;
    if (bytes < bytesPerWriteMax && batch.length < notesPerWriteMax) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
  for (const job of suspects) if (job.isDirty) yield [job.draft()];
}
