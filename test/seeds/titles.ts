// The titles of the tests in a file of this folder, as they are written there.
import { readFileSync } from 'node:fs';

/** Of the tests whose title begins with the number of a statement. */
export function titlesIn(path: string): string[] {
  const found = readFileSync(path, 'utf8').matchAll(/\btest(?:\.fails)?\('(\d\.\d\d (?:[^'\\]|\\.)+)'/g);
  return [...found].map(([, title]) => title!.replaceAll(/\\(.)/g, '$1'));
}
