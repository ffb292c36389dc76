/** Commits batches: sorts changes by the way they go, and keeps their order where it matters. */
import type { Change } from '../../../model/change.ts';
import { isOpen } from '../../../model/job.ts';
import type { Batch } from '../../store.ts';
import { nameArray, numberArray } from '../sql/row-parameters.ts';
import { ignore, type Connection, type OnDoubt, type Session, type Transaction } from '../sql/connection.ts';
import { settleDoubt } from './unknown-outcome.ts';
import { isUniqueViolation } from '../sql/errors.ts';
import { forget } from '../maintain/purge.ts';
import { freedKey, movesAside, wantedKey, type Places } from './fields.ts';
import { unstage } from './staging.ts';
import { idOf, wayOf, write, lockById, type Care, type Way } from './statements.ts';
import type { Written } from './single-row.ts';

/** Which changes were written. What `behind` sends goes in the same packet, and is done when they are committed. */
export async function commit(connection: Connection, batch: Batch, behind: Behind = ignore): Promise<boolean[]> {
  if (batch.changes.length === 0 && !batch.staged) return [];
  let inDoubt = false;
  const doubt = (): void => {
    inDoubt = true;
  };
  const attempt = (care: Care): Promise<boolean[]> =>
    writeBatch({ connection, care: () => (inDoubt ? 'careful' : care), behind }, batch, doubt);
  const written = await attempt('quick').catch((error: unknown) => {
    // An id was taken: the quick way of writing new jobs cannot say which.
    if (isUniqueViolation(error)) return attempt('careful');
    throw error;
  });
  return inDoubt ? settleDoubt(connection, batch, written) : written;
}

export type Behind = (session: Session) => void;

/** The same inside the caller's transaction. */
export async function commitWithin(session: Session, batch: Batch): Promise<boolean[]> {
  const giveUp = async (): Promise<void> => {
    await session.ask('rollback to savepoint stint');
    await session.ask('release savepoint stint');
  };
  await session.ask('savepoint stint');
  const written = await writeSteps(session, 'careful', stepsOf(batch.changes), batch.changes).catch(
    async (error: unknown) => {
      await giveUp(); // or the caller's transaction could only be rolled back
      throw error;
    },
  );
  const isKept = !batch.whole || !written.includes(false);
  await (isKept ? session.ask('release savepoint stint') : giveUp());
  return isKept ? written : written.map(() => false);
}

/** What a claim decided: its rows are locked already, so it is known where they lie; and it ends the transaction. */
export async function commitClaimed(
  transaction: Transaction,
  changes: readonly Change[],
  places: Places,
): Promise<boolean[]> {
  const written = writeSteps(transaction, 'careful', stepsOf(changes), changes, places);
  const [answer] = await Promise.all([written, transaction.commit()]);
  return answer;
}

/** Changes that go the same way and do not depend on each other: one statement. */
interface Step {
  readonly way: Way;
  readonly indexes: number[];
}

/**
 * A change that meets a job or a key of an earlier one must come after it. Between such meetings the order is free, and
 * changes are gathered by the way they go.
 */
function stepsOf(changes: readonly Change[]): Step[] {
  const steps: Step[] = [];
  let open = new Map<Way, Step>();
  let met = new Set<number | string>();
  const meets = (one: number | string | null): boolean => one !== null && met.has(one);
  const meet = (one: number | string | null): void => void (one !== null && met.add(one));
  changes.forEach((change, index) => {
    const [id, freed, wanted] = [idOf(change), freedKey(change), wantedKey(change)];
    if (meets(id) || meets(freed) || meets(wanted)) {
      open = new Map();
      met = new Set();
    }
    meet(id);
    meet(freed);
    meet(wanted);
    const way = wayOf(change);
    const step = open.get(way);
    if (step) {
      step.indexes.push(index);
      return;
    }
    const fresh = { way, indexes: [index] };
    open.set(way, fresh);
    steps.push(fresh);
  });
  return steps;
}

interface Writing {
  readonly connection: Connection;
  readonly care: () => Care;
  readonly behind: Behind;
}

function writeBatch({ connection, care, behind }: Writing, batch: Batch, onDoubt: OnDoubt): Promise<boolean[]> {
  const { changes, whole = false, staged } = batch;
  const steps = stepsOf(changes);
  const isAlone = steps.length === 1 && !staged && (!whole || changes.length === 1);
  if (isAlone && steps[0]!.way !== 'delete' && !needsLocks(steps, changes)) {
    return connection.use((session) => {
      const writing = writeSteps(session, care(), steps, changes);
      behind(session);
      return writing;
    }, onDoubt);
  }
  return connection.transaction(async (transaction) => {
    const locked = needsLocks(steps, changes) ? lockRows(transaction, changes) : undefined;
    const writing = writeSteps(transaction, care(), steps, changes);
    const unstaging = staged && unstage(transaction, staged.parent, staged.fence);
    const isDecided = !whole && !steps.some(({ way }) => way === 'delete');
    const committing = isDecided ? transaction.commit() : undefined;
    if (isDecided) behind(transaction);
    const [written, isUnstaged] = await Promise.all([writing, unstaging, locked, committing]);
    if (isDecided) return written;
    const isComplete = !whole || (!written.includes(false) && isUnstaged !== false);
    const ending = isComplete ? transaction.commit() : transaction.rollback();
    behind(transaction);
    await ending;
    return isComplete ? written : written.map(() => false);
  }, onDoubt);
}

/** Sent one after the other without waiting, so that all go in one round trip. */
async function writeSteps(
  session: Session,
  care: Care,
  steps: readonly Step[],
  changes: readonly Change[],
  places?: Places,
): Promise<boolean[]> {
  const answers = await Promise.all(steps.map(({ way, indexes }) => {
    const chosen = indexes.length === changes.length ? changes : indexes.map((index) => changes[index]!);
    return way === 'delete' ? remove(session, chosen) : write(session, care, way, chosen, places);
  }));
  const written = Array<boolean>(changes.length).fill(false);
  steps.forEach(({ indexes }, at) => {
    const ids: Written = answers[at]!;
    for (const index of indexes) written[index] = ids === 'all' || ids.has(idOf(changes[index]!));
  });
  return written;
}

/** Rows that several statements write, or that are read and written apart, are locked first: in one order by all. */
const needsLocks = (steps: readonly Step[], changes: readonly Change[]): boolean =>
  steps.filter(({ way }) => way !== 'insert').length > 1 ||
  steps.some(({ way }) => way === 'reopen' || way === 'delete') ||
  changes.some(movesAside);

async function lockRows(session: Session, changes: readonly Change[]): Promise<void> {
  const seen = changes.filter(({ before }) => before !== null);
  await Promise.all([
    lockById(session, 'job', seen.filter(({ before }) => isOpen(before!)).map(idOf)),
    lockById(session, 'ended', seen.filter(({ before }) => !isOpen(before!)).map(idOf)),
  ]);
}

/** Every trace of jobs that are still as they were seen, and of their ended children. */
async function remove(session: Session, changes: readonly Change[]): Promise<Written> {
  const { schema } = session;
  const values = [numberArray(changes.map(idOf)), numberArray(changes.map(({ before }) => before!.version))];
  const removeFrom = (table: string): string => `delete from ${schema}.${table} gone
    using unnest($1::bigint[], $2::bigint[]) as goal (id, seen) cross join lateral (
      select ctid as place from ${schema}.${table} sought where sought.id = goal.id limit 1) found
    where gone.ctid = found.place and gone.version = goal.seen returning gone.id`;
  const text = `with open as (${removeFrom('job')}), ended as (${removeFrom('ended')}), freed as (
      delete from ${schema}.taken where key = any($3::text[]) and until is null and job in (select id from open)
    ) select id from open union all select id from ended`;
  const keys = nameArray(changes.map(freedKey).filter((key) => key !== null));
  const gone = await session.run<{ id: number }>(text, [...values, keys]);
  const ids = gone.map(({ id }) => Number(id));
  await forget(session, ids);
  return new Set(ids);
}

export async function reserve(session: Session, amount: number): Promise<number> {
  const text = `update ${session.schema}.counter set value = value + $1 where name = 'id' returning value`;
  const [row] = await session.run<{ value: number }>(text, [amount]);
  return row!.value - amount + 1;
}
