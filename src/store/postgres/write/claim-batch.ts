/**
 * Claims many jobs by one row: deletes their rows from `job` and inserts a row into `claim`. What the jobs have from
 * their creation stays in `origin`, and is not written again.
 *
 * Saves (bench/LEDGER.md, "a job's wide row is written once"): with the end in end-claimed.ts, 15 of 47 µs of the server
 * and 1,100 of 2,000 bytes of WAL a job.
 * Applies to runs and tasks that have not changed since their creation and get the same event, if there are at least
 * `batchMin`. Jobs at gates share rows, too: the gates are beside the ids, and gates.ts counts those that still run.
 * Without it each claimed job gets an update of its own row.
 */
import type { Change } from '../../../model/change.ts';
import type { RunningJob } from '../../../model/job.ts';
import type { Kind } from '../../../model/state.ts';
import { lineOf } from '../../row.ts';
import type { Session } from '../sql/database.ts';
import { ctidArray, numberArray, textArray } from '../sql/row-parameters.ts';
import { nowSql } from '../sql/server-clock.ts';
import { cachedStatement } from '../sql/statement-cache.ts';
import { firstFence } from '../read/claimed.ts';
import { feedEntryText } from './feed-sql.ts';
import { idOf } from './id-of.ts';
import type { LockedRows } from './locked-rows.ts';

/** A single job is claimed as fast by an update of its row. */
const batchMin = 2;

const batchKinds: readonly Kind[] = ['run', 'task'];

/**
 * Groups the changes that can share a row of `claim`; the first group has the changes that cannot. Jobs with equal lines
 * have equal versions, since a line has the numbers of its events.
 */
export function batchesOf(changes: readonly Change[], locked: LockedRows): [readonly Change[], ...Change[][]] {
  const groups = Map.groupBy(changes, (change) => (canShare(change, locked) ? lineOf(change.events) : ''));
  const shared = [...groups].filter(([line, { length }]) => line !== '' && length >= batchMin);
  const batches = shared.map(([, batch]) => batch);
  if (shared.length === groups.size) return [[], ...batches];
  const batched = new Set(batches.flat());
  return [changes.filter((change) => !batched.has(change)), ...batches];
}

function canShare({ before, after, events }: Change, locked: LockedRows): boolean {
  const isClaim = before?.state === 'pending' && after?.state === 'running' && events.length === 1;
  return isClaim && after.fence === firstFence && batchKinds.includes(before.kind) && locked.isFresh(before.id);
}

/**
 * Claims a batch, whose changes append the same line. All are written, since this transaction has locked the rows of
 * their jobs.
 */
export async function claimBatch(session: Session, changes: readonly Change[], locked: LockedRows): Promise<void> {
  const { schema, time, claims } = session;
  const { lease } = changes[0]!.after as RunningJob;
  const { kind, type } = commonType(changes);
  const ids = changes.map(idOf);
  const parents = changes.map(({ before }) => before!.parent);
  const gates = changes.map(({ before }) => before!.gate);
  const line = lineOf(changes[0]!.events);
  const values = [
    time.parameter(), lease.holder, lease.until, line, kind, type, changes[0]!.before!.version,
    ctidArray(ids.map((id) => locked.ctidOf(id))), changes.length, feedEntryText(changes, line),
    Math.min(...ids), Math.max(...ids), numberArray(ids),
    parents.every(isNull) ? null : numberArray(parents), gates.every(isNull) ? null : textArray(gates),
  ];
  const [row] = await session.run<{ now: number; claim: number }>(claimBatchSql(schema, ''), values);
  const { now, claim } = row!;
  time.observe(now);
  for (const { after } of changes) claims.record(after!, claim);
}

/**
 * Deletes the rows by a list of their ctids: a subquery for each of them, as where rows are not locked, takes the server
 * 2.9 µs a job longer. The list is hidden from the planner, which would prefer to read the whole table. If a row was
 * missing in spite of its lock, `ids` would be null, which the table refuses, and the claim would be rolled back.
 */
const claimBatchSql = cachedStatement((schema) => `with deleted as (
    delete from ${schema}.job where ctid = any((select $8::tid[])::tid[]) and version = $7::bigint returning 1
  ), batch as (
    insert into ${schema}.claim
      (first, last, lease_until, xid, remaining, holder, kind, type, line, ids, parents, gates)
    select $11::bigint, $12::bigint, $3::bigint, pg_current_xact_id(), count(*), $2::text, $5::text, $6::text, $4::text,
      case when count(*) = $9::bigint then $13::bigint[] end, $14::bigint[], $15::text[] from deleted returning id
  ), feed as (
    insert into ${schema}.feed (xid, at, count, events)
    values (pg_current_xact_id(), ${nowSql}, $9::bigint, $10::text)
  ) select ${nowSql} as now, id as claim from batch`);

const isNull = (value: unknown): boolean => value === null;

/** Returns the kind and type of the jobs; null: they differ. */
function commonType(changes: readonly Change[]): { readonly kind: string | null; readonly type: string | null } {
  const { kind, type } = changes[0]!.before!;
  const isCommon = changes.every(({ before }) => before!.kind === kind && before!.type === type);
  return isCommon ? { kind, type } : { kind: null, type: null };
}
