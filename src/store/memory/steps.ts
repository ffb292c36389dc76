/** The steps of the memory store. */
import type { ForgottenSteps, NewStep, StoredStep } from '../../model/step.ts';
import { stepsPage } from '../step-row.ts';

export class MemorySteps {
  readonly #steps = new Map<number, Map<string, StoredStep>>();

  /** Writes the end of a step; returns whether it is stored. */
  write(step: NewStep): boolean {
    const ofJob = this.#steps.get(step.job) ?? new Map<string, StoredStep>();
    const known = ofJob.get(step.name);
    if (known !== undefined && known.endedAt !== null) return known.fence === step.fence;
    this.#steps.set(step.job, ofJob.set(step.name, { ...step, generation: known?.generation ?? 1 }));
    return true;
  }

  forget({ job, from, generation }: ForgottenSteps): void {
    for (const [name, step] of this.#steps.get(job) ?? []) {
      if (step.n >= from && step.endedAt !== null) {
        this.#steps.get(job)!.set(name, { ...step, generation, endedAt: null, result: null });
      }
    }
  }

  of(jobs: readonly number[], after = 0, limit = stepsPage): readonly StoredStep[] {
    return [...new Set(jobs)].sort((a, b) => a - b).flatMap((job) =>
      [...(this.#steps.get(job)?.values() ?? [])].filter(({ n }) => n > after).sort((a, b) => a.n - b.n).slice(0, limit));
  }

  delete(job: number): void {
    this.#steps.delete(job);
  }
}
