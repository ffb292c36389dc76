/** Memos: small named texts, written under the version that was read. Implements `port/memos.ts`. */
import type { Change } from '../../../model/change.ts';
import type { Memo, MemoWrite } from '../../store.ts';
import type { Database, Session } from '../sql/database.ts';
import { ignore } from '../sql/errors.ts';
import { commitWithin, type AfterWrite } from './commit.ts';
import { currentXid, isOneCommitted } from './unknown-outcome.ts';

export async function memos(session: Session, prefix: string): Promise<readonly Memo[]> {
  const text = `select name, version, value from ${session.schema}.memo where starts_with(name, $1) order by name`;
  return session.run<Memo>(text, [prefix]);
}

/**
 * Writes memos in the order of their names, so that two writers do not wait for each other, then the changes. If the
 * connection is lost during the commit, the retry finds other versions; the state of the lost transaction then shows
 * whether it has written them.
 */
export async function writeMemos(
  database: Database,
  writes: readonly MemoWrite[],
  changes: readonly Change[],
  afterWrite: AfterWrite,
): Promise<boolean> {
  const ordered = writes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const sent: string[] = [];
  const isWritten = await database.transaction(async (transaction) => {
    const [xid, areWritten] = await Promise.all([currentXid(transaction), writeAll(transaction, ordered)]);
    if (!areWritten || !(await writeChanges(transaction, changes))) {
      await transaction.rollback();
      return false;
    }
    sent.push(xid);
    const committing = transaction.commit();
    afterWrite(transaction);
    await committing;
    return true;
  }, ignore);
  return isWritten || (sent.length > 0 && isOneCommitted(database, sent));
}

async function writeAll(session: Session, writes: readonly MemoWrite[]): Promise<boolean> {
  for (const write of writes) if (!(await writeOne(session, write))) return false;
  return true;
}

async function writeChanges(session: Session, changes: readonly Change[]): Promise<boolean> {
  if (changes.length === 0) return true;
  return !(await commitWithin(session, { changes, whole: true })).includes(false);
}

async function writeOne(session: Session, { name, version, value }: MemoWrite): Promise<boolean> {
  const memo = `${session.schema}.memo`;
  if (value === null) {
    return isOne(await session.run(`delete from ${memo} where name = $1 and version = $2 returning 1`, [name, version]));
  }
  if (version === 0) {
    const text = `insert into ${memo} (name, version, value) values ($1, 1, $2) on conflict do nothing returning 1`;
    return isOne(await session.run(text, [name, value]));
  }
  const text = `update ${memo} set value = $3, version = version + 1 where name = $1 and version = $2 returning 1`;
  return isOne(await session.run(text, [name, version, value]));
}

const isOne = (rows: readonly unknown[]): boolean => rows.length === 1;
