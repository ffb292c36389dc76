// What the handler of batches said about each job, to compare with how the job ended.
import type { Job } from '../../src/model/job.ts';
import { violation, type Violation } from '../../src/verify.ts';

/** The message with which a handler of batches fails a job. */
export const refusedMessage = 'it did not work';

export class BatchLedger {
  readonly #isDone = new Map<string, boolean>();

  said(job: number, fence: number, isDone: boolean): void {
    this.#isDone.set(`${job}.${fence}`, isDone);
  }

  /** The result of a job, which no other job has. */
  resultOf(job: number, fence: number): string {
    return `done ${job}.${fence}`;
  }

  /** S44: a job of a batch ends as the handler said about it. Call when a job ends. */
  ended(job: Job): Violation[] {
    const { id, fence, result, error } = job;
    const isDone = this.#isDone.get(`${id}.${fence}`);
    const sentence = `job ${id} of a batch has ${job.state === 'ended' ? job.fate : job.state}, its handler said ${isDone}`;
    if (job.state !== 'ended' || job.fate === 'cancelled') return [];
    if (job.fate === 'failed') return error?.message === refusedMessage && isDone !== false ? [violation('S44', id, sentence)] : [];
    return isDone && result === JSON.stringify(this.resultOf(id, fence)) ? [] : [violation('S44', id, sentence)];
  }
}
