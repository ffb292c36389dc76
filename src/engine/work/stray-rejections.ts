/**
 * Stray rejections: a handler left a promise without a rejection handler. Node would end the process and every job in
 * it. A rejection that AsyncLocalStorage traces to a handler is reported for its job; all others are left to Node.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

type OnRejection = (error: unknown) => void;

const handlers = new AsyncLocalStorage<OnRejection>();
let watches = 0;

/** Calls a handler; its stray rejections are reported, even after it has ended. */
export const captureStrayRejections = <T>(onRejection: OnRejection, call: () =>
  T): T => handlers.run(onRejection, call);

/** Listens until the returned function is called. */
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
  // From no handler, and without another listener: thrown here, it ends the process as Node would have.
  else if (process.listenerCount('unhandledRejection') === 1) throw reason;
}
