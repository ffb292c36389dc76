// Reading the stored steps of many jobs: few queries, and all steps of each job.
import { expect, test } from 'vitest';
import { StepReads } from '../../src/engine/attempt/step-reads.ts';
import type { RunningJob } from '../../src/model/job.ts';
import { beforeSteps, type StoredStep } from '../../src/model/step.ts';

const jobOf = (id: number, fence = 2): RunningJob => ({ id, fence, version: fence * 2, type: 'nap' }) as RunningJob;

const stepOf = (job: number, n: number, name = `step ${n}`): StoredStep =>
  ({ job, name, kind: 'step', n, generation: 1, fence: 1, startedAt: 1, endedAt: 1, result: '1', question: null });

/** A store of steps that counts its reads, and may fail. */
class Shelf {
  readonly reads: (readonly number[])[] = [];
  failure: Error | null = null;
  readonly #rows: readonly StoredStep[];

  constructor(rows: readonly StoredStep[]) {
    this.#rows = rows;
  }

  steps(jobs: readonly number[], after = beforeSteps, limit = 1000): Promise<readonly StoredStep[]> {
    this.reads.push(jobs);
    if (this.failure !== null) return Promise.reject(this.failure);
    const of = (job: number): readonly StoredStep[] => this.#rows.filter((row) => row.job === job && row.n > after);
    return Promise.resolve(jobs.flatMap((job) => of(job).slice(0, limit)));
  }
}

const namesOf = (steps: readonly StoredStep[]): string[] => steps.map(({ name }) => name);

test('attempts that ask in the same turn of the event loop share a query', async () => {
  const shelf = new Shelf([stepOf(1, 1), stepOf(2, 1, 'other')]);
  const reads = new StepReads(shelf);
  const pages = await Promise.all([jobOf(1), jobOf(2), jobOf(3)].map((job) => reads.first(job)));
  expect(pages.map(({ steps, isWhole }) => [namesOf(steps), isWhole])).toEqual([
    [['step 1'], true], [['other'], true], [[], true],
  ]);
  expect(shelf.reads).toEqual([[1, 2, 3]]);
});

test('jobs that are claimed together, and have started before, are read by one query, once a job of their type had steps', async () => {
  const shelf = new Shelf([1, 2, 3].map((id) => stepOf(id, 1)));
  const reads = new StepReads(shelf);
  reads.readAhead([jobOf(2), jobOf(3)]);
  expect(shelf.reads).toEqual([]);
  await reads.first(jobOf(1));
  const claimed = [jobOf(2), jobOf(3), jobOf(4, 1)];
  reads.readAhead(claimed);
  for (const job of claimed.slice(0, 2)) await reads.first(job);
  expect(shelf.reads).toEqual([[1], [2, 3]]);
});

test('a job that is claimed alone is not read before its handler asks', async () => {
  const shelf = new Shelf([1, 2].map((id) => stepOf(id, 1)));
  const reads = new StepReads(shelf);
  await reads.first(jobOf(1));
  const alone = jobOf(2);
  reads.readAhead([alone]);
  expect(shelf.reads).toEqual([[1]]);
  expect(namesOf((await reads.first(alone)).steps)).toEqual(['step 1']);
});

test('a job with more steps than are read ahead gets all of them', async () => {
  const shelf = new Shelf([stepOf(1, 1), ...Array.from({ length: 40 }, (_, index) => stepOf(2, index + 1))]);
  const reads = new StepReads(shelf);
  await reads.first(jobOf(1));
  const job = jobOf(2);
  reads.readAhead([jobOf(1), job]);
  expect(await reads.first(job)).toMatchObject({ steps: { length: 40 }, isWhole: true });
});

test('early answers, whose numbers are equal, are read in one page', async () => {
  const early = Array.from({ length: 100 }, (_, index) => stepOf(1, 0, `answer ${index}`));
  const many = Array.from({ length: 200 }, (_, index) => jobOf(index + 1));
  const reads = new StepReads(new Shelf(early));
  const [page] = await Promise.all(many.map((job) => reads.first(job)));
  expect(page).toMatchObject({ steps: { length: 100 }, isWhole: true });
});

test('the steps after a page are those of one job', async () => {
  const shelf = new Shelf([stepOf(1, 1), stepOf(1, 2), stepOf(2, 2)]);
  expect(namesOf((await new StepReads(shelf).after(jobOf(1), 1)).steps)).toEqual(['step 2']);
});

test('after a read ahead that failed, each attempt reads its steps', async () => {
  const shelf = new Shelf([1, 2, 3].map((id) => stepOf(id, 1)));
  const reads = new StepReads(shelf);
  await reads.first(jobOf(1));
  shelf.failure = new Error('the store is away');
  const [job, other] = [jobOf(2), jobOf(3)];
  reads.readAhead([job, other]);
  await expect(reads.first(job)).rejects.toThrow('away');
  shelf.failure = null;
  expect(namesOf((await reads.first(job)).steps)).toEqual(['step 1']);
});
