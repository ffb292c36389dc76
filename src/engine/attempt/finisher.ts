/**
 * The finisher: stores outcomes of attempts. Outcomes that arrive in one turn of the event loop, or during a commit,
 * share the next commit, up to 1,000.
 *
 * Saves transactions: sixteen outcomes that arrive together are one commit (bench/LEDGER.md, "concurrent calls are
 * sent to the store as one statement"). Applies to all outcomes of this process except the end of a planning phase;
 * an outcome that arrives alone is committed alone, one turn later. Without the finisher, each outcome would be one
 * transaction, and each slot would wait for the transaction of its outcome. If the store refuses a batch because of one
 * malformed outcome, the outcomes are written one by one.
 */
import type { CommandAnswer, CommandRequest } from '../../apply.ts';
import type { Jobs } from '../../jobs.ts';
import type { Command } from '../../model/command.ts';
import type { RunningJob } from '../../model/job.ts';
import { isMalformed, isRefusal, Refusal } from '../../refusal.ts';
import { turn } from '../../time/clock.ts';
import type { LoopParts } from '../../time/loop.ts';
import { FailureLog } from './failure-log.ts';
import type { JobWatchers } from './job-watchers.ts';

export interface FinisherParts extends LoopParts {
  readonly watchers: JobWatchers;
  readonly hidesErrors?: boolean;
}

/** Receives the stored change, or the refusal of the store. Must not throw. */
type OnStored = (answer: CommandAnswer) => void;

interface QueuedOutcome {
  readonly request: CommandRequest;
  readonly onStored: OnStored;
}

const batchMax = 1000;
const patienceMaxMs = 5_000;

export class Finisher {
  readonly #jobs: Jobs;
  readonly #by: string;
  readonly #parts: FinisherParts;
  #queue: QueuedOutcome[] = [];
  #isFlushing = false;
  readonly #retriesEnd = new AbortController();
  readonly #failureLog: FailureLog;

  constructor(jobs: Jobs, by: string, parts: FinisherParts) {
    this.#jobs = jobs;
    this.#by = by;
    this.#parts = parts;
    this.#failureLog = new FailureLog(parts);
  }

  /**
   * Queues an outcome. Its write is retried until the store responds; `onStored` then gets the store's answer. After
   * `stopRetrying`, a write that fails is not retried, and `onStored` gets the refusal `unavailable.store`.
   */
  finish(request: CommandRequest, onStored: OnStored): void {
    this.#queue.push({ request, onStored });
    if (!this.#isFlushing) void this.#flush();
  }

  /**
   * Releases a claimed job whose handler has not been called, so that another instance can claim it, at once or when it
   * is due again. A job whose release is malformed fails: without an outcome it would stay claimed.
   */
  async release(job: RunningJob, due?: number): Promise<void> {
    const { fence } = job;
    const released = await this.#answerTo(job, { do: 'release', fence, ...(due === undefined ? {} : { due }) });
    const answer = isMalformed(released)
      ? await this.#answerTo(job, { do: 'fail', fence, retryable: false, error: { code: 'missing output', message: released.message } })
      : released;
    if (isRefusal(answer)) this.#parts.logger.warn(`cannot release job ${job.id}`, { id: job.id, code: answer.code });
  }

  #answerTo(job: RunningJob, command: Command): Promise<CommandAnswer> {
    return new Promise((resolve) => this.finish({ job, command }, resolve));
  }

  /** From now on, a write that fails is not retried: `onStored` gets the refusal `unavailable.store`. */
  stopRetrying(): void {
    this.#retriesEnd.abort();
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    while (this.#queue.length > 0) {
      // Waits for one turn of the event loop, so that outcomes of the same turn share a commit.
      await turn();
      await this.#writeNext();
    }
    this.#isFlushing = false;
  }

  /** Takes the batch itself: `#flush` would keep it reachable until it has the next one. */
  #writeNext(): Promise<void> {
    return this.#write(this.#queue.splice(0, batchMax));
  }

  async #write(batch: readonly QueuedOutcome[]): Promise<void> {
    const answers = await this.#answersTo(batch);
    if (isRefusal(answers)) return this.#writeOneByOne(batch, answers);
    batch.forEach(({ onStored }, index) => onStored(answers[index]!));
    for (const answer of answers) if (!isRefusal(answer)) this.#failureLog.note(answer);
    if (this.#parts.watchers.hasWaiters) this.#parts.watchers.notify(answers.flatMap(affectedIds));
  }

  /** Writes a batch; returns one answer per outcome. If one outcome is malformed, stores none and returns a refusal. */
  async #answersTo(batch: readonly QueuedOutcome[]): Promise<readonly CommandAnswer[] | Refusal> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#jobs.concludeOwn(batch.map(({ request }) => request), { by: this.#by });
      } catch (error) {
        if (isMalformed(error)) return error;
        if (this.#retriesEnd.signal.aborted) return batch.map(() => notStored(error));
        if (tries === 0) this.#parts.logger.error('cannot store outcomes; retrying', { error, count: batch.length });
        await this.#sleep(tries);
      }
    }
  }

  /** Writes the outcomes of a refused batch one by one, so that only the malformed outcome is refused. */
  async #writeOneByOne(batch: readonly QueuedOutcome[], refusal: Refusal): Promise<void> {
    if (batch.length === 1) return batch[0]!.onStored(refusal);
    for (const queued of batch) await this.#write([queued]);
  }

  #sleep(tries: number): Promise<void> {
    const { clock, random } = this.#parts;
    return clock.sleep(Math.min(patienceMaxMs, 50 * 2 ** tries) * (0.5 + random.next() / 2), this.#retriesEnd.signal);
  }
}

const notStored = (cause: unknown): Refusal =>
  new Refusal('unavailable.store', 'the engine closed before it could reach the store', { cause: String(cause) });

/** Returns the ids of the jobs whose watchers are notified: the changed job and its parent. */
const affectedIds = (answer: CommandAnswer): number[] =>
  isRefusal(answer) || answer.after === null ? [] : [answer.after.id, answer.after.parent].filter((id) => id !== null);
