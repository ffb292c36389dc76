/** The bounded map: when it is full, a new key evicts the key that was set longest ago. */

export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  /**
   * A `Map` iterates in the order of insertion. Every key that this iterator has passed was evicted, so its next key is
   * the oldest. A new iterator would first skip the deleted entries: 27 µs instead of 0.3 µs with 10,000 keys.
   */
  readonly #fromOldest = this.#entries.keys();
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

  getOrSet(key: Key, compute: () => Value): Value {
    const found = this.#entries.get(key);
    if (found !== undefined) return found;
    const value = compute();
    this.set(key, value);
    return value;
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  #evict(): void {
    const { done, value } = this.#fromOldest.next();
    if (!done) this.#entries.delete(value);
  }
}
