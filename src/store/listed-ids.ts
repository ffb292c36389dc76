/** Ids that were added. While they rise, which is usual, a new one is higher than the last one, and no set is needed. */
export class ListedIds {
  readonly #rising: number[] = [];
  #set: Set<number> | null = null;

  has(id: number): boolean {
    return this.#set === null ? id <= this.#last && this.#asSet().has(id) : this.#set.has(id);
  }

  add(id: number): void {
    if (this.#set === null && id > this.#last) this.#rising.push(id);
    else this.#asSet().add(id);
  }

  clear(): void {
    this.#rising.length = 0;
    this.#set = null;
  }

  get #last(): number {
    return this.#rising.at(-1) ?? -Infinity;
  }

  #asSet(): Set<number> {
    this.#set ??= new Set(this.#rising);
    return this.#set;
  }
}
