/** The last value of each of the newest names: at least `size` of them are remembered, at most twice as many. */
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
