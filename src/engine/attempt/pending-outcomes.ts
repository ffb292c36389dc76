/** Pending outcomes: outcomes of attempts that are not stored yet. Their slots execute other jobs meanwhile. */
import type { CommandAnswer } from '../../apply.ts';
import type { Command } from '../../model/command.ts';
import type { RunningJob } from '../../model/job.ts';
import { isMalformed, isRefusal } from '../../refusal.ts';
import { andThen, type MaybePromise } from '../../time/maybe-promise.ts';
import type { Finisher } from './finisher.ts';
import type { LoopParts } from '../../time/loop.ts';
import type { Notes } from '../progress/notes.ts';
import type { Attempt } from './attempt.ts';
import type { AttemptCounts } from './attempt-counts.ts';

export interface PendingOutcomesParts extends LoopParts {
  readonly finisher: Finisher;
  readonly notes: Notes;
  readonly counts: AttemptCounts;
  /** Called after the outcome of a job was stored or refused. */
  readonly onOutcomeStored: (job: RunningJob) => MaybePromise<void>;
}

export class PendingOutcomes {
  readonly #parts: PendingOutcomesParts;
  readonly #onDone: (attempt: Attempt) => void;
  #open = 0;
  #waiting: (() => void)[] = [];

  constructor(parts: PendingOutcomesParts, onDone: (attempt: Attempt) => void) {
    this.#parts = parts;
    this.#onDone = onDone;
  }

  get open(): number {
    return this.#open;
  }

  whenNoneOpen(): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Stores the last notes of an attempt, then its command; null: there is no command to store. Logs a refusal. Without its
   * output, the outcome is not stored: the store could not be reached until the engine closed.
   */
  add(attempt: Attempt, command: Command | null): void {
    this.#open += 1;
    const lastNotes = this.#parts.notes.finish(attempt.holding);
    if (lastNotes) void lastNotes.then((isWhole) => this.#store(attempt, isWhole ? command : null));
    else this.#store(attempt, command);
  }

  #store(attempt: Attempt, command: Command | null): void {
    const { job } = attempt;
    if (command === null) return attempt.isCompleted ? this.#completed(attempt) : this.#done(attempt);
    this.#parts.finisher.finish({ job, command }, (answer) => {
      if (isMalformed(answer)) this.#storeFailure(attempt, answer.message);
      else this.#stored(attempt, answer);
    });
  }

  #completed(attempt: Attempt): void {
    this.#parts.counts.note(attempt.job.type, 'succeeded');
    this.#followUp(attempt);
  }

  /** Fails a job whose outcome the store refused as malformed. Without an outcome the job would stay claimed. */
  #storeFailure(attempt: Attempt, message: string): void {
    const { job } = attempt;
    const error = { code: 'missing output', message } as const;
    const command = { do: 'fail', fence: job.fence, retryable: false, error } as const;
    this.#parts.finisher.finish({ job, command }, (answer) => this.#stored(attempt, answer));
  }

  #stored(attempt: Attempt, answer: CommandAnswer): void {
    const { job } = attempt;
    const { logger, counts } = this.#parts;
    const { id, type } = job;
    if (isRefusal(answer)) logger.warn(`the store refused the outcome of job ${id}`, { id, code: answer.code });
    else counts.note(type, answer.events.at(-1)?.kind);
    this.#followUp(attempt);
  }

  #followUp(attempt: Attempt): void {
    void andThen(this.#parts.onOutcomeStored(attempt.job), () => this.#done(attempt));
  }

  #done(attempt: Attempt): void {
    this.#open -= 1;
    this.#onDone(attempt);
    if (this.#open === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
