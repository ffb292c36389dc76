/** Reads the steps of a page of jobs: one read for all jobs with few steps, which are most. */
import type { Job } from '../model/job.ts';
import { beforeSteps, type StoredStep } from '../model/step.ts';
import { stepsPage } from '../store/step-row.ts';
import type { Store } from '../store/store.ts';

type StepReader = Pick<Store, 'steps'>;

/** How many steps of each job are read together. */
const fewSteps = 20;

export async function stepsOfJobs(store: StepReader, jobs: readonly Job[]): Promise<ReadonlyMap<number, readonly StoredStep[]>> {
  const ids = jobs.filter(mayHaveSteps).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const found = Map.groupBy(await store.steps(ids, beforeSteps, fewSteps), ({ job }) => job);
  for (const [id, first] of found) {
    if (first.length === fewSteps) found.set(id, await allSteps(store, id));
  }
  return found;
}

/** Only jobs that were claimed or answered have steps. */
const mayHaveSteps = ({ kind, version }: Job): boolean => (kind === 'run' || kind === 'task') && version > 1;

async function allSteps(store: StepReader, id: number): Promise<StoredStep[]> {
  const steps: StoredStep[] = [];
  for (let after = beforeSteps; ; after = steps.at(-1)!.n) {
    const page = await store.steps([id], after, stepsPage);
    steps.push(...page);
    if (page.length < stepsPage) return steps;
  }
}
