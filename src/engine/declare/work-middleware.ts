/** The middleware around attempts: calls the handler inside the `work` functions of an engine's middleware. */
import type { MaybePromise } from '../../time/maybe-promise.ts';
import { callThrough } from './middleware-chain.ts';
import type { Middleware, WorkAttempt } from './middleware.ts';

/** Calls `handle`, the handler of an attempt, inside the middleware, and returns its result. */
export type AroundWork = (attempt: WorkAttempt, handle: () => MaybePromise<unknown>) => Promise<unknown>;

/** Returns null if no middleware has a `work`: then handlers are called directly, at no cost. */
export function aroundWork(middleware: readonly Middleware[]): AroundWork | null {
  const layers = middleware.flatMap((one) => (one.work ? [one.work.bind(one)] : []));
  if (layers.length === 0) return null;
  return async (attempt, handle) => {
    let result: unknown;
    const innermost = async (): Promise<void> => void (result = await handle());
    await callThrough({ layers, merge: same, innermost }, attempt);
    return result;
  };
}

const same = (attempt: WorkAttempt): WorkAttempt => attempt;
