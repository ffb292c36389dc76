/**
 * A line of waiting jobs that a claim considers one after the other. `admitInOrder` (gate-admission.ts) merges the lines
 * of a claim by the places of their next jobs in claim order.
 */
import { byClaimOrder } from '../model/claim-order.ts';
import type { GateLane, Rank, WaitingJob } from './waiting-job.ts';

/** Whether the gate of a job admits it. It must be asked once for each job, in the order of the merged lines. */
export type Admit = (job: WaitingJob) => boolean;

export interface JobLine {
  /** The place of the next job in claim order; null: all jobs of the line were considered. */
  readonly rank: Rank | null;
  /** Whether more due jobs may follow behind the last one, which were not read. */
  readonly isCut: boolean;
  /** Considers the next job. Returns it if it is admitted, otherwise null. */
  consider(admit: Admit): WaitingJob | null;
}

/** The jobs of lanes in claim order, up to the last job of the first lane that was cut: unread jobs of it may come next. */
export class LaneLine implements JobLine {
  readonly isCut: boolean;
  readonly #jobs: readonly WaitingJob[];
  #next = 0;

  constructor(lanes: readonly GateLane[]) {
    const [end] = lanes.filter(({ isCut }) => isCut).map(({ jobs }) => jobs.at(-1)!).sort(byClaimOrder);
    const jobs = lanes.flatMap((lane) => lane.jobs).sort(byClaimOrder);
    this.isCut = end !== undefined;
    this.#jobs = end === undefined ? jobs : jobs.slice(0, jobs.indexOf(end) + 1);
  }

  get rank(): Rank | null {
    return this.#jobs[this.#next] ?? null;
  }

  consider(admit: Admit): WaitingJob | null {
    const job = this.#jobs[this.#next++]!;
    return admit(job) ? job : null;
  }
}
