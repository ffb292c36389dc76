/** A setting of V8 with a free and a limited value. Other runtimes have no such flags: there it does nothing. */
import v8 from 'node:v8';

export class V8Setting {
  readonly #free: string;
  readonly #limited: string;
  #isLimited = false;
  #isImpossible = false;

  constructor(free: string, limited: string) {
    this.#free = free;
    this.#limited = limited;
  }

  limit(isLimited: boolean): void {
    if (this.#isImpossible || isLimited === this.#isLimited) return;
    try {
      v8.setFlagsFromString(isLimited ? this.#limited : this.#free);
      this.#isLimited = isLimited;
    } catch {
      this.#isImpossible = true;
    }
  }
}
