/**
 * Stops the engine of a command at SIGINT or SIGTERM. The command prints at once which jobs it waits for, and exits in
 * bounded time even if the database does not respond.
 */
import type { Engine } from '../open.ts';
import { systemClock } from '../time/clock.ts';
import { settlesWithin } from '../time/settles-within.ts';
import { counted, printError } from './print.ts';

/** How long running handlers may take to end after the signal. Then they are interrupted, and their jobs released. */
const graceMs = 30_000;
/**
 * How long the store may take to record outcomes and the end of the instance, after the handlers have ended or been
 * interrupted. After this time the process exits.
 */
const storeMs = 10_000;
/** How long a stop takes at most: platforms must not kill the process before. */
export const stopMaxMs = graceMs + storeMs;
const pollMs = 100;
const shownMax = 5;
const exitCodes = { forced: 130, unfinished: 1 } as const;

type CloseServers = () => Promise<unknown>;

/** Resolves with the first SIGINT or SIGTERM. A second signal ends this process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(exitCodes.forced);
        isStopping = true;
        resolve(signal);
      });
    }
  });
}

/** Waits until the engine is open. A signal before that ends this process at once, because no job runs yet. */
export async function openUnlessStopped<T>(stopped: Promise<NodeJS.Signals>, opening: Promise<T>): Promise<T> {
  let isOpening = true;
  void stopped.then(() => {
    if (isOpening) process.exit(exitCodes.forced);
  });
  try {
    return await opening;
  } finally {
    isOpening = false;
  }
}

export async function untilStopped(
  stopped: Promise<NodeJS.Signals>, engine: Engine, closeServers: CloseServers = async () => {},
): Promise<void> {
  const signal = await stopped;
  printError(stopText(engine.running, signal));
  const closed = closeServers().then(() => engine.close({ patience: `${graceMs}ms` }));
  if (await closesInTime(engine, closed)) return;
  printError(
    'Stopped without the database, which does not answer: other instances take over when the lease has lapsed.',
  );
  process.exit(exitCodes.unfinished);
}

function stopText(running: readonly number[], signal: NodeJS.Signals): string {
  if (running.length === 0) return 'Stopping.';
  const more = running.length > shownMax ? ', …' : '';
  const jobs = `${counted(running.length, 'running job')} (${running.slice(0, shownMax).join(', ')}${more})`;
  const force = signal === 'SIGINT' ? 'Press Ctrl+C again' : 'Send the signal again';
  return `Stopping: waiting up to ${graceMs / 1000} s for ${jobs}. ${force} to stop at once.`;
}

/**
 * Returns whether everything was closed in time. `storeMs` begins when no handler runs any more, at the latest after
 * `graceMs`.
 */
async function closesInTime(engine: Engine, closed: Promise<unknown>): Promise<boolean> {
  const start = systemClock.monotonic();
  while (engine.running.length > 0 && systemClock.monotonic() - start < graceMs) {
    if (await settlesWithin(systemClock, pollMs, closed)) return true;
  }
  return settlesWithin(systemClock, storeMs, closed);
}
