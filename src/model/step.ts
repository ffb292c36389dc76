/**
 * The step: a part of a handler whose result is stored, so that later attempts of the job do not execute it again; a
 * sleep, whose end is stored; or a wait, whose question and answer are stored.
 */
import { Refusal } from '../refusal.ts';

export type StepKind = 'step' | 'sleep' | 'wait';

export interface StoredStep {
  readonly job: number;
  /** Unique within the job. */
  readonly name: string;
  readonly kind: StepKind;
  /** The place among the steps of the job, in the order in which they were stored. 0: an answer that came early. */
  readonly n: number;
  /**
   * The generation of the job in which a retry has last made the job forget the step; 1: no retry has. It is a part of
   * the idempotency key of the step.
   */
  readonly generation: number;
  /** The fence of the claim under which the step was stored. 0: an answer that came before the handler asked for it. */
  readonly fence: number;
  readonly startedAt: number;
  /**
   * When the step ended; for a sleep: when it ends. Null: the wait is open, or the job has forgotten the step, and
   * executes it again.
   */
  readonly endedAt: number | null;
  /** JSON text, for a wait that of `StoredAnswer`; null: it is a sleep, an open wait, or forgotten. */
  readonly result: string | null;
  /** JSON text of the `WaitQuestion` of a wait; null: it is no wait, it was answered before it was asked, or forgotten. */
  readonly question: string | null;
}

/**
 * The end of a step that a worker stores, or the question of a wait. The generation of the step is that of the stored
 * one, or 1.
 */
export type NewStep = Omit<StoredStep, 'generation'>;

/**
 * The end of a wait, or with null its new beginning. It is written in the commit of the event that records it. A wait
 * that the handler has not reached, or has forgotten, gets a row with number 0 and fence 0.
 */
export interface WaitEnd {
  readonly job: number;
  readonly name: string;
  readonly at: number;
  /** JSON text of the `StoredAnswer`; null: the wait is open again. */
  readonly result: string | null;
}

/** Makes a job forget its steps from number `from` on, in the commit that begins the given generation. */
export interface ForgottenSteps {
  readonly job: number;
  readonly from: number;
  readonly generation: number;
}

/** The largest number of steps and sleeps of a job. All of them are read when the handler is called again. */
export const stepsMax = 10_000;

/** The number below that of all steps, from which reads begin. */
export const beforeSteps = -1;

/** The name of `jobResults` in the output of a run, and the prefix of its steps: the planning may use the same names. */
export const gatherName = 'jobResults';
export const gatherPrefix = `${gatherName}/`;

/** How many answers that come before their questions are stored of a job. */
export const earlyAnswersMax = 100;

/**
 * Whether the row is an answer that came before its question, and that no handler has accepted yet. A handler may also
 * use the name for a step or a sleep.
 */
export const isEarlyAnswer = ({ n, endedAt }: StoredStep): boolean => n === 0 && endedAt !== null;

export type EndedStep = StoredStep & { readonly endedAt: number };

export const isEndedStep = (step: StoredStep): step is EndedStep => step.endedAt !== null;

export type OpenWait = StoredStep & { readonly endedAt: null; readonly question: string };

export const isOpenWait = (step: StoredStep): step is OpenWait => step.endedAt === null && step.question !== null;

/**
 * The idempotency key of a step: the same in all attempts and generations of a job, until a retry makes the job forget
 * the step.
 */
export const stepKey = (job: number, name: string, generation: number): string => `${job}.${generation}.${name}`;

/** The refusal of a retry from a step that the job has not finished. */
export function unknownStep(job: number, name: string): Refusal {
  const message = `job ${job} has no finished step or question ${JSON.stringify(name)}: list its steps, and name one of them`;
  return new Refusal('unknown.step', message, { id: job, step: name });
}
