/** Collects the age of each job at its start: workers add ages, a measurement awaits a number of them. */
import { ageMs, type Input } from './payload.ts';

/** A job that has started. */
export interface Start {
  /** Identifies the job, see `stampedInput`. */
  readonly madeMs: number;
  readonly ageMs: number;
}

export class Ages {
  readonly #starts: Start[] = [];
  #onStart = (): void => {};

  readonly start = (input: Input): void => {
    this.#starts.push({ madeMs: input.madeMs, ageMs: ageMs(input) });
    this.#onStart();
  };

  /** Resolves once `count` ages are there, and removes them; later ages count towards the next call. */
  async take(count: number): Promise<readonly number[]> {
    return (await this.takeStarts(count)).map((start) => start.ageMs);
  }

  /** The same, with the jobs. */
  takeStarts(count: number): Promise<readonly Start[]> {
    return new Promise((resolve) => {
      this.#onStart = () => {
        if (this.#starts.length < count) return;
        this.#onStart = () => {};
        resolve(this.#starts.splice(0));
      };
      this.#onStart();
    });
  }
}
