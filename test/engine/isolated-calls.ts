// Calls of the job types in the fixtures, and ears for what comes back.
import type { Progress } from '../../src/model/progress.ts';
import type { IsolatedCall, IsolatedHooks } from '../../src/engine/isolation/isolation.ts';

export const fixture = (name: string): string => new URL(`./fixtures/${name}.ts`, import.meta.url).href;

export const callOf = (type: string, rest: Partial<IsolatedCall> & { input?: unknown } = {}): IsolatedCall => {
  const { input = null, ...given } = rest;
  return {
    module: fixture('isolated-types'),
    type,
    phase: 'run',
    data: { input },
    facts: {
      run: { id: 12, type, def: null, dueTime: new Date(1_000), tickTime: null, attempt: 2, tags: { tenant: 'a' } },
      idempotencyKey: '12.1',
      fence: 5,
      token: '12.5.00',
      limitNames: [],
    },
    ...given,
  };
};

export const deaf = (): IsolatedHooks => ({
  signal: new AbortController().signal,
  onProgress: () => {},
  onLog: () => {},
  onSpend: () => {},
  onChild: () => {},
});

/** Records all reports, and can wait for a line of the log. */
export class Ears implements IsolatedHooks {
  readonly abort = new AbortController();
  readonly log: string[] = [];
  readonly progress: Progress[] = [];
  #onHeard: () => void = () => {};

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  readonly onLog = (level: string, text: string): void => {
    this.log.push(`${level}: ${text}`);
    this.#onHeard();
  };

  readonly onProgress = (progress: Progress): void => {
    this.progress.push(progress);
    this.#onHeard();
  };

  readonly spent: [string, number][] = [];
  readonly onSpend = (limit: string, cost: number): void => void this.spent.push([limit, cost]);
  readonly onChild = (): void => {};

  until(isHeard: (ears: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#onHeard = () => {
        if (isHeard(this)) resolve();
      };
      this.#onHeard();
    });
  }
}
