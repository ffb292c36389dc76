/** The steps of the memory store. */
import {
  beforeSteps, isOpenWait, type ForgottenSteps, type NewStep, type OpenWait, type StoredStep, type WaitEnd,
} from '../../model/step.ts';
import type { WaitCursor } from '../store.ts';
import { stepsPage } from '../step-row.ts';

export class MemorySteps {
  readonly #steps = new Map<number, Map<string, StoredStep>>();

  /** Writes the end of a step; returns whether it is stored. */
  write(step: NewStep): boolean {
    const ofJob = this.#steps.get(step.job) ?? new Map<string, StoredStep>();
    const known = ofJob.get(step.name);
    const isReplaced = known === undefined || known.endedAt === null || (known.n === 0 && step.endedAt !== null);
    if (!isReplaced) return known.fence === step.fence;
    this.#steps.set(step.job, ofJob.set(step.name, { ...step, generation: known?.generation ?? 1 }));
    return true;
  }

  forget({ job, from, generation }: ForgottenSteps): void {
    for (const [name, step] of this.#steps.get(job) ?? []) {
      if (step.n >= from && (step.endedAt !== null || step.question !== null)) {
        this.#steps.get(job)!.set(name, { ...step, generation, endedAt: null, result: null, question: null });
      }
    }
  }

  of(jobs: readonly number[], after = beforeSteps, limit = stepsPage): readonly StoredStep[] {
    return [...new Set(jobs)].sort((a, b) => a - b).flatMap((job) =>
      [...(this.#steps.get(job)?.values() ?? [])].filter(({ n }) => n > after).sort(byNumber).slice(0, limit));
  }

  named(job: number, name: string): StoredStep | undefined {
    return this.#steps.get(job)?.get(name);
  }

  endWait({ job, name, at, result }: WaitEnd): void {
    const ofJob = this.#steps.get(job) ?? new Map<string, StoredStep>();
    const fresh = { job, name, n: 0, generation: 1, fence: 0, startedAt: at, endedAt: null, question: null };
    const stored = ofJob.get(name) ?? fresh;
    const isForgotten = stored.endedAt === null && stored.question === null;
    const known = isForgotten ? { ...stored, n: 0, fence: 0 } : stored;
    this.#steps.set(job, ofJob.set(name, { ...known, kind: 'wait', endedAt: result === null ? null : at, result }));
  }

  openWaits(after: WaitCursor | null, limit: number, isOpen: (job: number) => boolean): readonly OpenWait[] {
    const isAfter = ({ job, name }: StoredStep): boolean =>
      after === null || job > after.job || (job === after.job && compareNames(name, after.name) > 0);
    return [...this.#steps.values()].flatMap((ofJob) => [...ofJob.values()]).filter(isOpenWait).filter(isAfter)
      .filter(({ job }) => isOpen(job))
      .sort((a, b) => a.job - b.job || compareNames(a.name, b.name)).slice(0, limit);
  }

  delete(job: number): void {
    this.#steps.delete(job);
  }
}

const byNumber = (a: StoredStep, b: StoredStep): number => a.n - b.n || compareNames(a.name, b.name);

/** In the order of UTF-8, as the databases have it. */
const compareNames = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
