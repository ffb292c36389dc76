/** The ages at which jobs were started: told by the workers, awaited by those who measure. */
import { ageMs, type Input } from './payload.ts';

export class Ages {
  readonly #agesMs: number[] = [];
  #onStart = (): void => {};

  readonly start = (input: Input): void => {
    this.#agesMs.push(ageMs(input));
    this.#onStart();
  };

  /** Once there are so many; from then on they are counted anew. */
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
