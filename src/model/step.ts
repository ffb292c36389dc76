/**
 * The step: a part of a handler whose result is stored, so that later attempts of the job do not execute it again; or a
 * sleep, whose end is stored.
 */
import { Refusal } from '../refusal.ts';

export type StepKind = 'step' | 'sleep';

export interface StoredStep {
  readonly job: number;
  /** Unique within the job. */
  readonly name: string;
  readonly kind: StepKind;
  /** The place among the steps of the job, in the order in which they were stored. */
  readonly n: number;
  /**
   * The generation of the job in which a retry has last made the job forget the step; 1: no retry has. It is a part of
   * the idempotency key of the step.
   */
  readonly generation: number;
  /** The fence of the claim under which the step was stored. */
  readonly fence: number;
  readonly startedAt: number;
  /** When the step ended; for a sleep: when it ends. Null: the job has forgotten the step, and executes it again. */
  readonly endedAt: number | null;
  /** JSON text; null: it is a sleep, or forgotten. */
  readonly result: string | null;
}

/** The end of a step that a worker stores. The generation of the step is that of the stored one, or 1. */
export type NewStep = Omit<StoredStep, 'generation' | 'endedAt'> & { readonly endedAt: number };

/** Makes a job forget its steps from number `from` on, in the commit that begins the given generation. */
export interface ForgottenSteps {
  readonly job: number;
  readonly from: number;
  readonly generation: number;
}

/** The largest number of steps and sleeps of a job. All of them are read when the handler is called again. */
export const stepsMax = 10_000;

export type EndedStep = StoredStep & { readonly endedAt: number };

export const isEndedStep = (step: StoredStep): step is EndedStep => step.endedAt !== null;

/**
 * The idempotency key of a step: the same in all attempts and generations of a job, until a retry makes the job forget
 * the step.
 */
export const stepKey = (job: number, name: string, generation: number): string => `${job}.${generation}.${name}`;

/** The refusal of a retry from a step that the job has not finished. */
export function unknownStep(job: number, name: string): Refusal {
  const message = `job ${job} has no finished step ${JSON.stringify(name)}: list its steps, and name one of them`;
  return new Refusal('unknown.step', message, { id: job, step: name });
}
