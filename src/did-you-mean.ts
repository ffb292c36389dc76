/** The name that a user most likely meant by an unknown one. */

/** As the end of a sentence: `; did you mean attempts?`, or nothing if no known name is near. */
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

/** `maxAttempts` contains `attempts`, and `schedule` is contained in `schedules`. */
function contained(wanted: string, known: readonly string[]): { readonly name: string } | undefined {
  const isPart = (part: string, whole: string): boolean => part.length >= 4 && whole.includes(part);
  const name = known.find((each) => isPart(each.toLowerCase(), wanted) || isPart(wanted, each.toLowerCase()));
  return name === undefined ? undefined : { name };
}

/** Levenshtein: how many letters to insert, delete or replace. */
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
