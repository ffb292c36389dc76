/** Claims a newcomer as it was told: whether it is still so is found out by writing. */
import type { Change } from '../../../model/change.ts';
import type { Job } from '../../../model/job.ts';
import type { ClaimDecision } from '../../store.ts';
import { packed, parameters, type Value } from '../sql/row-parameters.ts';
import type { Connection, Session } from '../sql/connection.ts';
import { oursOf } from '../write/unknown-outcome.ts';
import { updateFields } from '../write/fields.ts';
import { load } from '../read/find.ts';
import { kept } from '../sql/statement-cache.ts';
import { toldFields, type Newcomer } from '../write/claim-hint.ts';
import { isAsSeen, loneFirst, tellLone } from '../write/single-row.ts';
import { addedLine, movedText } from '../write/row-sql.ts';
import { toldOf } from '../write/feed-sql.ts';

/** Null: it was not as told, or somebody else is taking it, or it does not go to work. */
export async function claimAsTold(
  connection: Connection,
  { job, told }: Newcomer,
  decide: ClaimDecision,
): Promise<Change | null> {
  // It is later than when it was made, also where we have yet to learn how late it is.
  const now = Math.max(connection.time.now(), job.created);
  const [change] = decide([{ job, parentCancelled: false }], now);
  if (change?.after?.state !== 'running') return null;
  let inDoubt = false;
  const input = await connection.use((session) => write(session, change, told), () => {
    inDoubt = true;
  });
  if (input !== null) return withInput(change, input);
  return inDoubt ? madeOut(connection, change) : null;
}

/** Answers the input, which was not told. */
async function write(session: Session, change: Change, told: readonly Value[]): Promise<string | null> {
  const { shape, texts } = packed(updateFields, [change]);
  const values = [session.time.given(), toldOf([change]), ...texts, ...told];
  const [row] = await session.run<{ now: number; input: string }>(statement(session.schema, shape), values);
  if (row === undefined) return null;
  session.time.learn(row.now);
  return row.input;
}

const statement = kept((schema) => {
  const said = parameters(updateFields, loneFirst);
  const told = parameters(toldFields, loneFirst + updateFields.length);
  const isAsTold = toldFields.map(([name]) => `${name} is not distinct from ${told(name)}`);
  return `with told as materialized (
    select id, input from ${schema}.job where ${isAsSeen(said)} and state = 'pending' and ${isAsTold.join(' and ')}
    for update skip locked
  ), written as (
    update ${schema}.job set ${movedText(said)}, history = ${addedLine(said)}
    where job.id = (select id from told) returning told
  ), ${tellLone(schema, ', (select input from told) as input')}`;
});

/** After the connection was lost: whether it was written all the same. */
async function madeOut(connection: Connection, change: Change): Promise<Change | null> {
  const [ours] = await oursOf(connection, [change]);
  const [stored] = ours ? await load(connection, [ours.after!.id]) : [];
  return stored ? withInput(change, stored.input) : null;
}

const withInput = ({ before, after, events }: Change, input: string): Change => {
  const filled = (job: Job | null): Job | null => job && { ...job, input };
  return { before: filled(before), after: filled(after), events };
};
