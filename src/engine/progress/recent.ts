/** The newest of many names: at least `size` of them are remembered, at most twice as many. */
export class Recent<Name> {
  readonly #size: number;
  #newer = new Set<Name>();
  #older = new Set<Name>();

  constructor(size: number) {
    this.#size = size;
  }

  add(name: Name): void {
    this.#newer.add(name);
    if (this.#newer.size < this.#size) return;
    [this.#older, this.#newer] = [this.#newer, new Set()];
  }

  has(name: Name): boolean {
    return this.#newer.has(name) || this.#older.has(name);
  }
}
