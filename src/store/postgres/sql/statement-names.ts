/**
 * The names of the statements that callers' connections prepare. A name follows from its text, because several stores
 * may use one connection.
 */
import { createHash } from 'node:crypto';

export class StatementNames {
  readonly #names = new Map<string, string>();
  #isUsed: boolean;

  constructor(isUsed: boolean) {
    this.#isUsed = isUsed;
  }

  of(text: string): string | undefined {
    if (!this.#isUsed) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = `stint_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
    this.#names.set(text, name);
    return name;
  }

  stop(): void {
    this.#isUsed = false;
  }
}
