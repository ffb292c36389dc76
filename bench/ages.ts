/** Collects the age of each job at its start: workers add ages, a measurement awaits a number of them. */
import { ageMs, type Input } from './payload.ts';

export class Ages {
  readonly #agesMs: number[] = [];
  #onStart = (): void => {};

  readonly start = (input: Input): void => {
    this.#agesMs.push(ageMs(input));
    this.#onStart();
  };

  /** Resolves once `count` ages are there, and removes them; later ages count towards the next call. */
  take(count: number): Promise<readonly number[]> {
    return new Promise((resolve) => {
      this.#onStart = () => {
        if (this.#agesMs.length < count) return;
        this.#onStart = () => {};
        resolve(this.#agesMs.splice(0));
      };
      this.#onStart();
    });
  }
}
