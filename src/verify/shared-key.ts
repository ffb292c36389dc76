/**
 * Finds a key that two tasks of a run share. A run may have a million tasks, so only hashes of their keys are kept. If
 * two keys have the same hash, the tasks are read again, and the keys themselves are compared.
 */

/** Reads the keys of all tasks of a run, page by page. */
export type ReadKeys = () => AsyncIterable<readonly (string | null)[]>;

/** Returns a key that occurs twice; null: all keys differ. Reads all keys once or twice. */
export async function findSharedKey(read: ReadKeys, hash = fingerprint): Promise<string | null> {
  const repeatedHashes = await repeatedIn(read, hash);
  if (repeatedHashes.size === 0) return null;
  const [shared = null] = await repeatedIn(read, (key) => (repeatedHashes.has(hash(key)) ? key : null));
  return shared;
}

/** Calls `valueOf` with each key, and returns the values that it returned more than once, except null. */
async function repeatedIn<T>(read: ReadKeys, valueOf: (key: string) => T | null): Promise<ReadonlySet<T>> {
  const [seen, repeated] = [new Set<T>(), new Set<T>()];
  for await (const keys of read()) {
    for (const key of keys) {
      const value = key === null ? null : valueOf(key);
      if (value !== null && seen.size === seen.add(value).size) repeated.add(value);
    }
  }
  return repeated;
}

/** Returns a hash of 53 bits. */
function fingerprint(text: string): number {
  let [high, low] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x85ebca6b) ^ (low >>> 15);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
