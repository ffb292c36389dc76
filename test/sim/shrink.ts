// Shrinks a list of faults to those that are needed: drops ever smaller parts while the violation still happens.

/** Limited to `trialsMax` trials: each is a complete simulation. */
export async function shrink(
  faults: readonly string[],
  stillHappens: (faults: readonly string[]) => Promise<boolean>,
  trialsMax: number,
): Promise<readonly string[]> {
  let [left, parts, trials] = [faults, 2, 0];
  while (left.length > 0 && trials < trialsMax) {
    const size = Math.ceil(left.length / parts);
    let isSmaller = false;
    for (let from = 0; from < left.length && trials < trialsMax; from += size) {
      const rest = [...left.slice(0, from), ...left.slice(from + size)];
      trials += 1;
      if (!(await stillHappens(rest))) continue;
      [left, isSmaller] = [rest, true];
      from -= size;
    }
    if (!isSmaller && size === 1) return left;
    parts = isSmaller ? Math.max(2, parts - 1) : Math.min(left.length, parts * 2);
  }
  return left;
}
