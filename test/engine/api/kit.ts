// What the examples of the library share: engines that close themselves, handlers that wait, short questions.
import { onTestFinished } from 'vitest';
import type { Engine } from '../../../src/index.ts';
import type { Event, TickOutcome } from '../../../src/model/event.ts';
import { Refusal } from '../../../src/refusal.ts';
import { testEngine, type TestEngine, type TestOptions } from '../../../src/testing/index.ts';

export type { Job } from '../../../src/index.ts';
export type { TestEngine } from '../../../src/testing/index.ts';

/** The moment at which examples start unless they say another: a Thursday. */
export const newYear = Date.parse('2026-01-01T00:00:00Z');
export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Closed when the test has ended. */
export async function start(options: TestOptions = {}): Promise<TestEngine> {
  const t = await testEngine(options);
  onTestFinished(() => t.close());
  return t;
}

/** A door in a handler: it waits there until the test opens it. */
export class Door {
  readonly #open = Promise.withResolvers<void>();
  #knocks = 0;

  /** How many have come to it. */
  get knocks(): number {
    return this.#knocks;
  }

  open(): void {
    this.#open.resolve();
  }

  pass(): Promise<void> {
    this.#knocks += 1;
    return this.#open.promise;
  }
}

/** Waits until its signal aborts, and then rejects immediately, as a well-behaved handler does. */
export const untilTold = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const tell = (): void => reject(signal.reason as Error);
    if (signal.aborted) tell();
    else signal.addEventListener('abort', tell, { once: true });
  });

export const forever = (): Promise<never> => new Promise(() => {});

/** The code of the refusal that this ends with. */
export async function refused(asked: Promise<unknown>): Promise<string> {
  return (await refusal(asked)).code;
}

export async function refusal(asked: Promise<unknown>): Promise<Refusal> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

export const thrown = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(() => 'nothing was thrown', (error: unknown) => error);

export const kindsOf = (events: readonly Event[]): string[] => events.map(({ kind }) => kind);

/** What became of every occurrence of a definition's schedules, oldest first. */
export async function ticksOf(engine: Engine, def: string): Promise<TickOutcome[]> {
  const { job } = await engine.definition(def);
  return (await engine.history(job.id)).flatMap((event) => (event.kind === 'ticked' ? event.ticks : []));
}

/** As `run` or as the reason for which it was skipped, by nominal time. */
export const told = (tick: TickOutcome): string =>
  `${new Date(tick.nominal).toISOString().slice(0, 16)} ${'run' in tick ? 'run' : tick.skipped}`;

/** When something was, shortly. */
export const at = (time: number): string => new Date(time).toISOString().slice(11, 19);
