/**
 * A setting of V8 with a free and a limited value. It is left alone if the program was started with a flag of its own for
 * it. Other runtimes have no such flags: there it does nothing.
 */
import v8 from 'node:v8';

interface V8Flags {
  readonly free: string;
  readonly limited: string;
  /** Matches the flags that a program may have been started with. */
  readonly own: RegExp;
}

export class V8Setting {
  readonly #flags: V8Flags;
  #isLimited = false;
  #isLeftAlone: boolean;

  constructor(flags: V8Flags) {
    this.#flags = flags;
    this.#isLeftAlone = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((text) => flags.own.test(text));
  }

  limit(isLimited: boolean): void {
    if (this.#isLeftAlone || isLimited === this.#isLimited) return;
    try {
      v8.setFlagsFromString(isLimited ? this.#flags.limited : this.#flags.free);
      this.#isLimited = isLimited;
    } catch {
      this.#isLeftAlone = true;
    }
  }
}
