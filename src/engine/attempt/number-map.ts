/**
 * A map from numbers to numbers, in typed arrays: gaining and losing entries all the time makes no garbage.
 *
 * An open-addressing hash table: an entry is in the first free bucket from the one of its hash, and at least half of the
 * buckets are free. Deletion moves the entries after it back, so that no search ends too early.
 */
const bucketsMin = 16;

export class NumberMap {
  /** NaN: the bucket is free. */
  #keys = free(bucketsMin);
  #values = new Float64Array(bucketsMin);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: number): boolean {
    return this.#keys[this.#bucketOf(key)] === key;
  }

  get(key: number): number | undefined {
    const bucket = this.#bucketOf(key);
    return this.#keys[bucket] === key ? this.#values[bucket] : undefined;
  }

  set(key: number, value: number): void {
    let bucket = this.#bucketOf(key);
    if (this.#keys[bucket] !== key) {
      if (this.#size * 2 >= this.#keys.length) {
        this.#grow();
        bucket = this.#bucketOf(key);
      }
      this.#size += 1;
      this.#keys[bucket] = key;
    }
    this.#values[bucket] = value;
  }

  delete(key: number): boolean {
    const bucket = this.#bucketOf(key);
    if (this.#keys[bucket] !== key) return false;
    this.#size -= 1;
    this.#vacate(bucket);
    return true;
  }

  /** Returns the bucket of the key, or the free bucket where it belongs. */
  #bucketOf(key: number): number {
    let bucket = this.#hashOf(key);
    while (this.#keys[bucket] !== key && !Number.isNaN(this.#keys[bucket]!)) bucket = this.#after(bucket);
    return bucket;
  }

  /** Frees a bucket. An entry after it that was not put between its hash's bucket and here moves here, and so on. */
  #vacate(bucket: number): void {
    let vacant = bucket;
    for (let next = this.#after(vacant); !Number.isNaN(this.#keys[next]!); next = this.#after(next)) {
      if (this.#distance(this.#hashOf(this.#keys[next]!), next) < this.#distance(vacant, next)) continue;
      this.#keys[vacant] = this.#keys[next]!;
      this.#values[vacant] = this.#values[next]!;
      vacant = next;
    }
    this.#keys[vacant] = Number.NaN;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = free(keys.length * 2);
    this.#values = new Float64Array(values.length * 2);
    this.#size = 0;
    keys.forEach((key, bucket) => {
      if (!Number.isNaN(key)) this.set(key, values[bucket]!);
    });
  }

  /** Consecutive keys have consecutive buckets. */
  #hashOf(key: number): number {
    return key % this.#keys.length;
  }

  #after(bucket: number): number {
    return (bucket + 1) & (this.#keys.length - 1);
  }

  #distance(from: number, to: number): number {
    return (to - from) & (this.#keys.length - 1);
  }
}

const free = (buckets: number): Float64Array => new Float64Array(buckets).fill(Number.NaN);
