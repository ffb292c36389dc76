/** The bounded map: when it is full, a new key evicts the key that was set longest ago. */

export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** A key that is set again becomes the newest. For least-recently-used eviction, set it on every use. */
  set(key: Key, value: Value): void {
    if (!this.#entries.delete(key) && this.#entries.size >= this.#sizeMax) this.#evict();
    this.#entries.set(key, value);
  }

  /** Returns the value of the key; if there is none, computes and sets it first. */
  getOrSet(key: Key, compute: () => Value): Value {
    const found = this.#entries.get(key);
    if (found !== undefined) return found;
    const value = compute();
    this.set(key, value);
    return value;
  }

  /** Deletes the key; returns whether it was in the map. */
  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  /** A `Map` iterates in insertion order, so its first key is the oldest. */
  #evict(): void {
    const { done, value } = this.#entries.keys().next();
    if (!done) this.#entries.delete(value);
  }
}
