/** Suggests a known name for an unknown name, which is probably misspelt. */

/** Returns the end of an error message, such as `; did you mean attempts?`; empty if no known name is similar. */
export function didYouMean(given: string, known: readonly string[]): string {
  const name = nearest(given, known);
  return name === undefined ? '' : `; did you mean ${name}?`;
}

const nameMax = 40;

function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = given.slice(0, nameMax).toLowerCase();
  const ranked = known
    .map((name) => ({ name, distance: distance(wanted, name.toLowerCase()) }))
    .filter(({ name, distance: apart }) => apart <= Math.ceil(Math.min(wanted.length, name.length) / 3))
    .sort((a, b) => a.distance - b.distance);
  return (ranked[0] ?? contained(wanted, known))?.name;
}

/** Finds a known name that is part of the wanted name or contains it, such as `attempts` for `maxAttempts`. */
function contained(wanted: string, known: readonly string[]): { readonly name: string } | undefined {
  const isPart = (part: string, whole: string): boolean => part.length >= 4 && whole.includes(part);
  const name = known.find((each) => isPart(each.toLowerCase(), wanted) || isPart(wanted, each.toLowerCase()));
  return name === undefined ? undefined : { name };
}

/** The Levenshtein distance: how many letters must be inserted, deleted or replaced to turn one name into the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
