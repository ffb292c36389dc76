/** Claims a job from a hint: the write itself checks that the row is still as the hint says. */
import type { Change } from '../../../model/change.ts';
import type { Job } from '../../../model/job.ts';
import type { ClaimDecision } from '../../store.ts';
import { packRows, parameterSql, type Value } from '../sql/row-parameters.ts';
import type { Connection, Session } from '../sql/connection.ts';
import { confirmWritten } from '../write/unknown-outcome.ts';
import { updateFields } from '../write/fields.ts';
import { load } from '../read/find.ts';
import { cachedStatement } from '../sql/statement-cache.ts';
import { hintFields, type ClaimHint } from '../write/claim-hint.ts';
import { isUnchangedSql, firstFieldParameter, singleFeedSql } from '../write/single-row.ts';
import { appendLineSql, updateSql } from '../write/row-sql.ts';
import { feedEntryText } from '../write/feed-sql.ts';

/** Null: the row differs from the hint, another claim has locked it, or the decision is not to run it. */
export async function claimByHint(
  connection: Connection,
  { job, values: hinted }: ClaimHint,
  decide: ClaimDecision,
): Promise<Change | null> {
  // It is later than when it was made, also where we have yet to learn how late it is.
  const now = Math.max(connection.time.now(), job.created);
  const [change] = decide([{ job, parentCancelled: false }], now);
  if (change?.after?.state !== 'running') return null;
  let isOutcomeUnknown = false;
  const input = await connection.use((session) => write(session, change, hinted), () => {
    isOutcomeUnknown = true;
  });
  if (input !== null) return withInput(change, input);
  return isOutcomeUnknown ? confirmAfterLoss(connection, change) : null;
}

/** Answers the input, which the hint does not carry. */
async function write(session: Session, change: Change, hinted: readonly Value[]): Promise<string | null> {
  const { varyingColumns, texts } = packRows(updateFields, [change]);
  const values = [session.time.parameter(), feedEntryText([change]), ...texts, ...hinted];
  const [row] = await session.run<{ now: number; input: string }>(statement(session.schema, varyingColumns), values);
  if (row === undefined) return null;
  session.time.observe(row.now);
  return row.input;
}

const statement = cachedStatement((schema) => {
  const column = parameterSql(updateFields, firstFieldParameter);
  const hinted = parameterSql(hintFields, firstFieldParameter + updateFields.length);
  const isAsHinted = hintFields.map(([name]) => `${name} is not distinct from ${hinted(name)}`);
  return `with locked as materialized (
    select id, input from ${schema}.job where ${isUnchangedSql(column)} and state = 'pending' and ${isAsHinted.join(' and ')}
    for update skip locked
  ), written as (
    update ${schema}.job set ${updateSql(column)}, history = ${appendLineSql(column)}
    where job.id = (select id from locked) returning xid
  ), ${singleFeedSql(schema, ', (select input from locked) as input')}`;
});

/** After a lost connection: whether the claim was written. */
async function confirmAfterLoss(connection: Connection, change: Change): Promise<Change | null> {
  const [written] = await confirmWritten(connection, [change]);
  const [stored] = written ? await load(connection, [written.after!.id]) : [];
  return stored ? withInput(change, stored.input) : null;
}

const withInput = ({ before, after, events }: Change, input: string): Change => {
  const filled = (job: Job | null): Job | null => job && { ...job, input };
  return { before: filled(before), after: filled(after), events };
};
