/**
 * Stray rejections: promises of a job handler that reject without a `catch`. By default, Node then ends the process and
 * every job in it. A rejection that AsyncLocalStorage traces to a job handler is only logged, with the id of the job.
 * Other rejections have the same effect as without Stint, if Node has its default mode for unhandled rejections.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

type OnRejection = (error: unknown) => void;

const handlers = new AsyncLocalStorage<OnRejection>();
let watches = 0;

/**
 * Calls a job handler. `onRejection` gets each of its stray rejections, even after the handler has returned. What the
 * handler enters by `enterWith` ends with the call. `handlers.run` would copy the values of all storages twice instead of
 * once.
 */
export const captureStrayRejections = <T>(onRejection: OnRejection, call: () => T): T =>
  new AsyncResource('StintHandler').runInAsyncScope(callCaptured<T>, undefined, onRejection, call);

function callCaptured<T>(onRejection: OnRejection, call: () => T): T {
  handlers.enterWith(onRejection);
  return call();
}

/** Listens for stray rejections in this process until the returned function is called. Engines share one listener. */
export function watchStrayRejections(): () => void {
  watches += 1;
  if (watches === 1) process.on('unhandledRejection', handleRejection);
  return () => {
    watches -= 1;
    if (watches === 0) process.off('unhandledRejection', handleRejection);
  };
}

function handleRejection(reason: unknown): void {
  const onRejection = handlers.getStore();
  if (onRejection) onRejection(reason);
  // No job handler caused it, and the application has no listener: throwing ends the process, as Node does by default.
  else if (process.listenerCount('unhandledRejection') === 1) throw reason;
}
