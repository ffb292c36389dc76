/** The call scope: whether code is called by the work of a step, or by the work of `complete`. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Refusal } from '../../refusal.ts';
import type { Attempt } from './attempt.ts';

/** What a scope belongs to. A step can create a job whose handler is called in the same asynchronous context. */
type ScopeOwner = Attempt;

/** The step whose work is being executed. */
export const stepScope = new AsyncLocalStorage<StepScope>();

/** One call of the work of a step: a retry of the step within the attempt has another one. */
interface StepScope {
  readonly of: ScopeOwner;
  readonly name: string;
}

/** The attempt whose work of `complete` is being executed. */
export const completeScope = new AsyncLocalStorage<ScopeOwner>();

export type StepCall = 'step' | 'sleep' | 'waitFor';

/**
 * Refuses a step or a sleep in the work of `complete`. On SQLite its write would wait for the transaction of `complete`,
 * which would wait for the step; on PostgreSQL it would be stored although the transaction may be rolled back.
 */
export function refuseInComplete(attempt: ScopeOwner, what: StepCall, name: string): void {
  if (completeScope.getStore() !== attempt) return;
  const message = `cannot call ${what} (${JSON.stringify(name)}) inside complete(): call it before complete()`;
  throw new Refusal('malformed.option', message, { step: name });
}

/** Refuses `complete` in the work of a step: it waits until no step is running, so it would wait for itself. */
export function refuseInStep(attempt: ScopeOwner): void {
  const outer = outerStep(attempt);
  if (outer === null) return;
  const message = `cannot call complete() inside the step ${JSON.stringify(outer)}: it ends the job, so call it after the steps`;
  throw new Refusal('malformed.option', message, { step: outer });
}

/**
 * Refuses `step`, `sleep` and `waitFor` in the work of a step. A step that is called again would use the names inside it
 * a second time; a sleep and a wait would wait for the step that waits for them.
 */
export function refuseNested(attempt: ScopeOwner, what: StepCall, name: string): void {
  const outer = outerStep(attempt);
  if (outer === null) return;
  const where = `inside the step ${JSON.stringify(outer)}`;
  const message = what === 'sleep'
    ? `cannot sleep (${JSON.stringify(name)}) ${where}: sleep between steps`
    : `cannot call ${what} (${JSON.stringify(name)}) ${where}: call it before or after that step`;
  throw new Refusal('malformed.option', message, { step: outer });
}

/** Returns the step whose work is being executed, if any, and an object that stands for this call of it. */
export function scopeOf(attempt: ScopeOwner): { readonly step: string | null; readonly call: object } {
  const scope = stepScope.getStore();
  return scope?.of === attempt ? { step: scope.name, call: scope } : { step: null, call: attempt };
}

const outerStep = (attempt: ScopeOwner): string | null => scopeOf(attempt).step;
