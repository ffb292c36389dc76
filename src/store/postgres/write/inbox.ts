/**
 * The inbox: requests for runs that other programs have added with the function `enqueue` (see sql/inbox-schema.ts).
 * Implements `port/inbox.ts`.
 */
import type { Change } from '../../../model/change.ts';
import type {
  InboxCounts, InboxQuery, InboxRefusal, InboxRequest, InboxTake, NewInboxRequest,
} from '../../store.ts';
import { requestOfRow, standingSql, type InboxRow } from '../../inbox-row.ts';
import type { Database, Session } from '../sql/database.ts';
import { numberArray } from '../sql/row-parameters.ts';
import { nowSql } from '../sql/server-clock.ts';
import { commitWithin, type AfterWrite } from './commit.ts';

const columns = 'id, type, input::text as input, options::text as options, at, refused_at, code, message';

export async function enqueue(session: Session, requests: readonly NewInboxRequest[]): Promise<readonly number[]> {
  const text = `select ${session.schema}.enqueue(type, input::jsonb, options::jsonb) as id
    from unnest($1::text[], $2::text[], $3::text[]) with ordinality as given (type, input, options, n) order by n`;
  const fields = ['type', 'input', 'options'] as const;
  const values = fields.map((field) => requests.map((request) => request[field]));
  return (await session.run<{ id: number }>(text, values)).map(({ id }) => id);
}

export async function inboxRequests(
  session: Session,
  { standing, after = 0, limit }: InboxQuery,
): Promise<readonly InboxRequest[]> {
  const text = `select ${columns} from ${session.schema}.inbox
    where id > $1 and ${standingSql(standing)} order by id limit $2`;
  return (await session.run<InboxRow>(text, [after, limit])).map(requestOfRow);
}

/**
 * Removes requests and writes their changes in one transaction; returns for each whether it was done. The rows are
 * locked first: rows that another instance has locked are left to it, and rows that it has taken are gone. If the
 * connection is lost during the commit, the retry finds the rows gone, and returns false for them.
 */
export function takeFromInbox(
  database: Database,
  takes: readonly InboxTake[],
  afterWrite: AfterWrite,
): Promise<readonly boolean[]> {
  return database.transaction(async (transaction) => {
    const waiting = await lockWaiting(transaction, takes);
    const mine = takes.filter(({ request }) => waiting.has(request));
    const taken = await writeChanges(transaction, mine);
    await removeRows(transaction, taken);
    const committing = transaction.commit();
    if (taken.size > 0) afterWrite(transaction);
    await committing;
    return takes.map(({ request }) => taken.has(request));
  });
}

async function lockWaiting(session: Session, takes: readonly InboxTake[]): Promise<ReadonlySet<number>> {
  const text = `select id from ${session.schema}.inbox where id = any($1::bigint[]) and refused_at is null
    order by id for update skip locked`;
  const rows = await session.run<{ id: number }>(text, [numberArray(takes.map(({ request }) => request))]);
  return new Set(rows.map(({ id }) => id));
}

/** Writes the changes of the requests; returns the ids of the requests whose change was written or that have none. */
async function writeChanges(session: Session, takes: readonly InboxTake[]): Promise<ReadonlySet<number>> {
  const isChanging = (take: InboxTake): take is InboxTake & { readonly change: Change } => take.change !== null;
  const changing = takes.filter(isChanging);
  const changes = changing.map(({ change }) => change);
  const written = changes.length === 0 ? [] : await commitWithin(session, { changes });
  const lost = new Set(changing.filter((_, index) => !written[index]).map(({ request }) => request));
  return new Set(takes.map(({ request }) => request).filter((request) => !lost.has(request)));
}

async function removeRows(session: Session, ids: ReadonlySet<number>): Promise<void> {
  if (ids.size === 0) return;
  await session.run(`delete from ${session.schema}.inbox where id = any($1::bigint[])`, [numberArray([...ids])]);
}

export async function refuseInInbox(session: Session, refusals: readonly InboxRefusal[]): Promise<void> {
  const text = `update ${session.schema}.inbox set refused_at = ${nowSql}, code = given.code, message = given.message
    from unnest($2::bigint[], $3::text[], $4::text[]) as given (id, code, message)
    where inbox.id = given.id and inbox.refused_at is null`;
  const values = [
    numberArray(refusals.map(({ request }) => request)), refusals.map(({ code }) => code),
    refusals.map(({ message }) => message),
  ];
  await session.run(text, [session.time.parameter(), ...values]);
}

export async function retryInInbox(session: Session, id: number): Promise<InboxRequest | null> {
  const { schema } = session;
  const text = `with before as materialized (select ${columns} from ${schema}.inbox where id = $1 for update),
    retried as (update ${schema}.inbox set refused_at = null, code = null, message = null where id = $1)
    select * from before`;
  const [row] = await session.run<InboxRow>(text, [id]);
  return row === undefined ? null : requestOfRow(row);
}

export async function removeFromInbox(session: Session, id: number): Promise<InboxRequest | null> {
  const text = `delete from ${session.schema}.inbox where id = $1 returning ${columns}`;
  const [row] = await session.run<InboxRow>(text, [id]);
  return row === undefined ? null : requestOfRow(row);
}

/** Counts requests. The oldest request has the lowest id, which is read from the index; `min(at)` reads every row. */
export async function countInbox(session: Session): Promise<InboxCounts> {
  const inbox = `${session.schema}.inbox`;
  const text = `select
    (select count(*) from ${inbox} where refused_at is null) as waiting,
    (select count(*) from ${inbox} where refused_at is not null) as refused,
    (select at from ${inbox} where refused_at is null order by id limit 1) as oldest`;
  const [row] = await session.run<{ waiting: number; refused: number; oldest: number | null }>(text);
  return { waiting: row!.waiting, refused: row!.refused, oldestWaitingAt: row!.oldest };
}
