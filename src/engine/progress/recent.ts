/** A map that evicts its oldest names: it contains at least the `size` newest, and at most twice as many. */
export class Recent<Name, Value> {
  readonly #size: number;
  #newer = new Map<Name, Value>();
  #older = new Map<Name, Value>();

  constructor(size: number) {
    this.#size = size;
  }

  add(name: Name, value: Value): void {
    this.#newer.set(name, value);
    if (this.#newer.size < this.#size) return;
    [this.#older, this.#newer] = [this.#newer, new Map()];
  }

  get(name: Name): Value | undefined {
    return this.#newer.get(name) ?? this.#older.get(name);
  }
}
