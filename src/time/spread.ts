/**
 * The spread: delays the runs of a schedule by its name, so that a thousand schedules at 02:00 do not start at once.
 */

/** From 0 to `spreadMs`; always the same for the same name. */
export function spreadOf(name: string, spreadMs: number): number {
  return Math.floor((hash(name) / 2 ** 32) * (spreadMs + 1));
}

/** FNV-1a with the finalizer of MurmurHash3: without it, names that differ only at the end would get similar delays. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) bits = Math.imul(bits ^ text.charCodeAt(index), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
