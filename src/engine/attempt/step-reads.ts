/**
 * Reads the stored steps of jobs, those of many jobs by one query. When many runs have slept until the same time, each
 * would otherwise cost a query of its own.
 *
 * The steps of jobs that are claimed together are read ahead, if jobs of their types had stored steps before. They cannot
 * become stale: under its fence only the attempt writes steps, and answers that come after the claim change the version of
 * the job, which a sleep compares. The attempts that ask for other steps in the same turn of the event loop, or during a
 * read, share a query.
 */
import type { RunningJob } from '../../model/job.ts';
import { beforeSteps, earlyAnswersMax, type StoredStep } from '../../model/step.ts';
import { isUnavailable } from '../../refusal.ts';
import { Batcher } from '../../store/batcher.ts';
import type { Store } from '../../store/store.ts';

/** Steps of a job with numbers above a given one; `isWhole`: all of them. */
export interface StepPage {
  readonly steps: readonly StoredStep[];
  readonly isWhole: boolean;
}

const pageSize = 1000;
/** How many steps of each job are read ahead. Jobs with more are read when their handlers ask. */
const aheadMax = 10;
const aheadMin = 2;
const runningMax = 2;

export class StepReads {
  readonly #store: Pick<Store, 'steps'>;
  /** The types of which a job had stored steps. */
  readonly #types = new Set<string>();
  readonly #ahead = new WeakMap<RunningJob, Promise<ReadonlyMap<number, StepPage>>>();
  readonly #firstPages = new Batcher<number, StepPage>((take) => this.#readFirst(take()), {
    runningMax,
    isForAll: isUnavailable,
  });

  constructor(store: Pick<Store, 'steps'>) {
    this.#store = store;
  }

  /** Call with jobs that were claimed together, before they start. */
  readAhead(jobs: readonly RunningJob[]): void {
    if (this.#types.size === 0) return;
    const likely = jobs.filter((job) => this.#types.has(job.type) && mayHaveSteps(job));
    if (likely.length < aheadMin) return;
    // If the read fails, each attempt reads its steps itself, and reports the error.
    const pages = this.#pagesOf(likely.map(({ id }) => id), aheadMax).catch(() => new Map<number, StepPage>());
    for (const job of likely) this.#ahead.set(job, pages);
  }

  /** Returns the first steps of a job. */
  async first(job: RunningJob): Promise<StepPage> {
    const ahead = (await this.#ahead.get(job))?.get(job.id);
    const page = ahead?.isWhole ? ahead : await this.#firstPages.add(job.id);
    if (page.steps.length > 0) this.#types.add(job.type);
    return page;
  }

  async after({ id }: RunningJob, n: number): Promise<StepPage> {
    const steps = await this.#store.steps([id], n, pageSize);
    return { steps, isWhole: steps.length < pageSize };
  }

  async #readFirst(jobs: readonly number[]): Promise<readonly StepPage[]> {
    // The numbers of early answers are equal, so that no page may end between them.
    const pages = await this.#pagesOf(jobs, Math.max(earlyAnswersMax + 1, Math.ceil(pageSize / jobs.length)));
    return jobs.map((job) => pages.get(job)!);
  }

  async #pagesOf(jobs: readonly number[], limit: number): Promise<ReadonlyMap<number, StepPage>> {
    const found = Map.groupBy(await this.#store.steps(jobs, beforeSteps, limit), ({ job }) => job);
    return new Map(jobs.map((job) => {
      const steps = found.get(job) ?? [];
      return [job, { steps, isWhole: steps.length < limit }];
    }));
  }
}

/** A job that was created and claimed, and nothing else, has no steps, and no answer came early. */
export const mayHaveSteps = ({ fence, version }: RunningJob): boolean => fence !== 1 || version !== 2;
