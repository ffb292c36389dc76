/** The callbacks of callers in this process that wait for a change, by the id of the object that changes. */

export class CallbacksById {
  readonly #calls = new Map<number, Set<() => void>>();

  get size(): number {
    return this.#calls.size;
  }

  get ids(): readonly number[] {
    return [...this.#calls.keys()];
  }

  has(id: number): boolean {
    return this.#calls.has(id);
  }

  /** Adds a function; returns a function that removes it. */
  add(id: number, call: () => void): () => void {
    const calls = this.#calls.get(id) ?? new Set();
    this.#calls.set(id, calls.add(call));
    return () => {
      calls.delete(call);
      if (calls.size === 0 && this.#calls.get(id) === calls) this.#calls.delete(id);
    };
  }

  call(ids: Iterable<number>): void {
    if (this.size === 0) return;
    for (const id of ids) for (const call of this.#calls.get(id) ?? []) call();
  }
}
