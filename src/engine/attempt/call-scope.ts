/** The call scope: whether code is called by the work of a step, or by the work of `complete`. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Refusal } from '../../refusal.ts';

/** The name of the step whose work is being executed. */
export const stepScope = new AsyncLocalStorage<string>();

/** True: the work of `complete` is being executed. */
export const completeScope = new AsyncLocalStorage<true>();

/**
 * Refuses a step or a sleep in the work of `complete`. On SQLite its write would wait for the transaction of `complete`,
 * which would wait for the step; on PostgreSQL it would be stored although the transaction may be rolled back.
 */
export function refuseInComplete(what: 'step' | 'sleep', name: string): void {
  if (completeScope.getStore() === undefined) return;
  const message = `cannot call ${what} (${JSON.stringify(name)}) inside complete(): call it before complete()`;
  throw new Refusal('malformed.option', message, { step: name });
}

/** Refuses `complete` in the work of a step: it waits until no step is running, so it would wait for itself. */
export function refuseInStep(): void {
  const outer = stepScope.getStore();
  if (outer === undefined) return;
  const message = `cannot call complete() inside the step ${JSON.stringify(outer)}: it ends the job, so call it after the steps`;
  throw new Refusal('malformed.option', message, { step: outer });
}
