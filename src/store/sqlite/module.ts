/** Loads the module node:sqlite when the first file is opened, so that runtimes without it can use the other stores. */
import type * as Sqlite from 'node:sqlite';
import { Refusal } from '../../refusal.ts';

const checked = new WeakSet<typeof Sqlite>();

export function sqliteModule(): typeof Sqlite {
  const found = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined;
  if (found === undefined) throw refusal('this runtime has no node:sqlite', 'no node:sqlite');
  if (!checked.has(found) && !bindsNumberedParameters(found)) {
    throw refusal('the node:sqlite of this runtime is too old', 'old node:sqlite');
  }
  checked.add(found);
  return found;
}

const refusal = (cause: string, reason: string): Refusal =>
  new Refusal('unavailable.store', `${cause}: use Node 22.23, 24.15 or newer, or a database of PostgreSQL`, { reason });

/** Before Node 22.20, a statement that uses a numbered parameter twice fails with "column index out of range". */
function bindsNumberedParameters({ DatabaseSync }: typeof Sqlite): boolean {
  const db = new DatabaseSync(':memory:');
  try {
    return db.prepare('SELECT ?1 AS one, ?1 AS other').get(1) !== undefined;
  } catch {
    return false;
  } finally {
    db.close();
  }
}
