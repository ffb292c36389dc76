/**
 * Strays: promises that a handler left behind, rejected when nobody listened. Node would end the process for one, and
 * with it every job that runs there; what can be traced to a handler is passed to it instead. The others are left to Node.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

type OnRejection = (error: unknown) => void;

const handlers = new AsyncLocalStorage<OnRejection>();
let watches = 0;

/** Calls a handler; its stray rejections are passed on, even long after it has ended. */
export const captureStrayRejections = <T>(onRejection: OnRejection, call: () =>
  T): T => handlers.run(onRejection, call);

/** From now on, until the answer is called. */
export function watchStrayRejections(): () => void {
  watches += 1;
  if (watches === 1) process.on('unhandledRejection', judge);
  return () => {
    watches -= 1;
    if (watches === 0) process.off('unhandledRejection', judge);
  };
}

function judge(reason: unknown): void {
  const onRejection = handlers.getStore();
  if (onRejection) onRejection(reason);
  // It is no handler's, and nobody else listens: thrown here, it ends the process as it would have without us.
  else if (process.listenerCount('unhandledRejection') === 1) throw reason;
}
