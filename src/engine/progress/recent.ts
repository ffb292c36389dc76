/** What was last said of the newest of many names: at least `size` of them are remembered, at most twice as many. */
export class Recent<Name, Said> {
  readonly #size: number;
  #newer = new Map<Name, Said>();
  #older = new Map<Name, Said>();

  constructor(size: number) {
    this.#size = size;
  }

  add(name: Name, said: Said): void {
    this.#newer.set(name, said);
    if (this.#newer.size < this.#size) return;
    [this.#older, this.#newer] = [this.#newer, new Map()];
  }

  get(name: Name): Said | undefined {
    return this.#newer.get(name) ?? this.#older.get(name);
  }
}
