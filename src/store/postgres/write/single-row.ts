/** Statements for a single update or end: fewer parts than the batch statements have, and a cached text. */
import type { Change } from '../../../model/change.ts';
import { packed, parameters, type Fields, type Said } from '../sql/row-parameters.ts';
import type { Session } from '../sql/connection.ts';
import { endFields, updateFields } from './fields.ts';
import { nowText } from '../sql/server-clock.ts';
import { kept } from '../sql/statement-cache.ts';
import { lastTold, toldOf } from './feed-sql.ts';
import { endedNames, movedText, endedText, addedLine } from './row-sql.ts';

export const updateLone = kept((schema) => {
  const said = parameters(updateFields, loneFirst);
  return `with written as (
    update ${schema}.job set ${movedText(said)}, history = ${addedLine(said)} where ${isAsSeen(said)} returning told
  ), ${tellLone(schema)}`;
});

export const endLone = kept((schema) => {
  const said = parameters(endFields, loneFirst);
  return `with written as (
    delete from ${schema}.job where ${isAsSeen(said)} returning ${endedText(said)}, ${lastTold} as told
  ), kept as (insert into ${schema}.ended (${endedNames}) select ${endedNames} from written), ${tellLone(schema)}`;
});

/** The parameters before those of a lone change are the time and what is told of it. */
export const loneFirst = 3;

export const isAsSeen = (said: Said): string => `job.id = ${said('id')} and job.version = ${said('seen')}`;

/** The end of a statement for one change: few parts, since to set up those of `send` takes longer than to write a row. */
export const tellLone = (schema: string, alsoAnswered = ''): string => `feed as (
    insert into ${schema}.feed (told, at, count, events) select told, ${nowText}, 1, $2::text from written returning at
  ) select at as now${alsoAnswered} from feed`;

export async function sendLone(
  session: Session,
  text: (schema: string, shape: string) => string,
  fields: Fields<Change>,
  change: Change,
): Promise<Written> {
  const { shape, texts } = packed(fields, [change]);
  const values = [session.time.given(), toldOf([change]), ...texts];
  const [row] = await session.run<{ now: number }>(text(session.schema, shape), values);
  if (row === undefined) return new Set();
  session.time.learn(row.now);
  return 'all';
}

/** The ids that were written; usually all that were asked for. */
export type Written = 'all' | ReadonlySet<number>;
