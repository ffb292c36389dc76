/**
 * A map from numbers to numbers, in typed arrays: gaining and losing entries all the time makes no garbage.
 *
 * An open-addressing hash table: an entry is in the first free bucket from the one of its hash, and at least half of the
 * buckets are free. Deletion moves the entries after it back, so that no search ends too early.
 */
const bucketsMin = 16;
/** 2^32 divided by the golden ratio. Consecutive multiples of it, modulo 2^32, are far apart. */
const scatter = 0x9e3779b1;

export class NumberMap {
  /** NaN: the bucket is free. */
  #keys = free(bucketsMin);
  #values = new Float64Array(bucketsMin);
  #size = 0;
  #hashShift = shiftFor(bucketsMin);

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
    this.#hashShift = shiftFor(this.#keys.length);
    this.#size = 0;
    keys.forEach((key, bucket) => {
      if (!Number.isNaN(key)) this.set(key, values[bucket]!);
    });
  }

  /** Scatters consecutive keys. If they were neighbours, each deletion would look at all entries after it. */
  #hashOf(key: number): number {
    return Math.imul(key, scatter) >>> this.#hashShift;
  }

  #after(bucket: number): number {
    return (bucket + 1) & (this.#keys.length - 1);
  }

  #distance(from: number, to: number): number {
    return (to - from) & (this.#keys.length - 1);
  }
}

/** How far a product of 32 bits is shifted, so that only as many bits remain as number the buckets. */
const shiftFor = (buckets: number): number => 32 - Math.log2(buckets);

const free = (buckets: number): Float64Array => new Float64Array(buckets).fill(Number.NaN);
