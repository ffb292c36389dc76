// The ledger of a storm, read when it is over.
import { readFileSync } from 'node:fs';
import type { Entry } from '../engine/processes/children/ledger.ts';

/** Whoever was killed while it wrote has left half a line, and another's may follow in it: that one is no evidence. */
export function entriesOf(ledger: string): Entry[] {
  return readFileSync(ledger, 'utf8').split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}
