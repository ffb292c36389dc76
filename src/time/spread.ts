/**
 * The spread: delays the runs of a definition by a time that is computed from its name, so that a thousand definitions
 * that are scheduled at 02:00 do not start at the same time.
 */

/** Returns a delay from 0 to `spreadMs` ms, always the same for the same name. */
export function spreadOf(name: string, spreadMs: number): number {
  return Math.floor((hash(name) / 2 ** 32) * (spreadMs + 1));
}

/**
 * Returns 32 bits of FNV-1a, followed by the finalizer of MurmurHash3. Without the finalizer, names that differ only at
 * the end would get similar delays.
 */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) bits = Math.imul(bits ^ text.charCodeAt(index), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
