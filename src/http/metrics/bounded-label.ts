/** The bounded label: the first names have a value of their own, all further names share one. */

export class BoundedLabel {
  readonly #named = new Set<string>();
  readonly #max: number;
  readonly #rest: string;

  constructor(max: number, rest: string) {
    this.#max = max;
    this.#rest = rest;
  }

  of(name: string): string {
    if (this.#named.size < this.#max) this.#named.add(name);
    return this.#named.has(name) ? name : this.#rest;
  }

  /** Makes room for another name. */
  remove(name: string): void {
    this.#named.delete(name);
  }
}
