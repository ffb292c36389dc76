// Reads the ledger of a storm after its end.
import { readFileSync } from 'node:fs';
import type { Entry } from '../engine/processes/children/ledger.ts';

/**
 * Skips invalid lines: a process that is killed while writing leaves half a line, which may run into the next entry.
 */
export function entriesOf(ledger: string): Entry[] {
  return readFileSync(ledger, 'utf8').split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}
