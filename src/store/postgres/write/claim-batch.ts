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
import { rowsSql, type RowFields } from '../sql/row-parameters.ts';
import type { Session } from '../sql/database.ts';
import { nowSql } from '../sql/server-clock.ts';
import { firstFence } from '../read/claimed.ts';
import { feedEntryText, feedSql, feedXid, writtenRows } from './feed-sql.ts';
import { ctidField, type Ctids } from './fields.ts';
import { idOf } from './id-of.ts';
import type { WrittenIds } from './single-row.ts';
import { findByCtidSql, isUnchangedRowSql } from './statements.ts';

/** The rows that a claim has locked. */
export interface LockedRows {
  readonly ctids: Ctids;
  /** The ids of the jobs that have not changed since their creation. */
  readonly fresh: ReadonlySet<number>;
}

/** A single job is claimed as fast by an update of its row. */
const batchMin = 2;

const batchKinds: readonly Kind[] = ['run', 'task'];

/** Groups the changes that can share a row of `claim`; the first group has the changes that cannot. */
export function batchesOf(changes: readonly Change[], { fresh }: LockedRows): [readonly Change[], ...Change[][]] {
  const groups = Map.groupBy(changes, (change) => (canShare(change, fresh) ? lineOf(change.events) : ''));
  const shared = [...groups].filter(([line, { length }]) => line !== '' && length >= batchMin);
  const batches = shared.map(([, batch]) => batch);
  if (batches[0]?.length === changes.length) return [[], ...batches];
  const batched = new Set(batches.flat());
  return [changes.filter((change) => !batched.has(change)), ...batches];
}

function canShare({ before, after, events }: Change, fresh: ReadonlySet<number>): boolean {
  const isClaim = before?.state === 'pending' && after?.state === 'running' && events.length === 1;
  return isClaim && after.fence === firstFence && fresh.has(before.id) && batchKinds.includes(before.kind);
}

/** Claims a batch, whose changes append the same line; returns the ids of the claimed jobs. */
export async function claimBatch(
  session: Session,
  changes: readonly Change[],
  { ctids }: LockedRows,
): Promise<WrittenIds> {
  const { schema, time, claims } = session;
  const { lease } = changes[0]!.after as RunningJob;
  const { kind, type } = commonType(changes);
  const line = lineOf(changes[0]!.events);
  const values: unknown[] = [time.parameter(), lease.holder, lease.until, line, kind, type];
  const goal = rowsSql([...batchFields, ...ctidField(ctids)], changes, values);
  const arrayOf = (name: 'parent' | 'gate'): string =>
    changes.some(({ before }) => before![name] !== null) ? `array_agg(${name})` : 'null';
  const wanted = `$${values.push(changes.length)}::bigint`;
  const entry = `$${values.push(feedEntryText(changes, line))}::text`;
  const text = `with written as (
      delete from ${schema}.job using (${goal}) goal ${findByCtidSql(schema)} where ${isUnchangedRowSql('job')}
      returning job.id, job.kind, job.type, job.def, job.parent, job.gate, ${feedXid} as xid
    ), lines as (select written.*, $4::text as line from written),
    ${feedSql(schema, wanted, entry, { ...writtenRows, rows: 'lines' })}, batch as (
      insert into ${schema}.claim (first, last, lease_until, xid, remaining, holder, kind, type, line, ids, parents, gates)
      select min(id), max(id), $3::bigint,
        case when (select is_whole from total) then pg_current_xact_id()
          else (select xid from written order by xid desc limit 1) end,
        count(*), $2::text, $5::text, $6::text, $4::text, array_agg(id), ${arrayOf('parent')}, ${arrayOf('gate')}
      from written having count(*) > 0 returning id
    ) select ${nowSql} as now, (select id from batch) as claim,
      case when count < ${wanted} then (select string_agg(id::text, ',') from written) end as ids from total`;
  const [row] = await session.run<{ now: number; claim: number | null; ids: string | null }>(text, values);
  const { now, claim, ids } = row!;
  time.observe(now);
  if (claim === null) return new Set();
  changes.forEach(({ after }) => claims.record(after!, claim));
  return ids === null ? 'all' : new Set(ids.split(',').map(Number));
}

/** Returns the kind and type of the jobs; null: they differ. */
function commonType(changes: readonly Change[]): { readonly kind: string | null; readonly type: string | null } {
  const { kind, type } = changes[0]!.before!;
  const isCommon = changes.every(({ before }) => before!.kind === kind && before!.type === type);
  return isCommon ? { kind, type } : { kind: null, type: null };
}

const batchFields: RowFields<Change> = [
  ['id', 'number', idOf],
  ['seen', 'number', ({ before }) => before!.version],
];
