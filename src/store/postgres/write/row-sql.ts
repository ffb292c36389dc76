/** SQL expressions of the rows that statements write: column lists, and what each column becomes. */
import type { Said } from '../sql/row-parameters.ts';
import { newFields, standingNames } from './fields.ts';
import { lastTold } from './feed-sql.ts';

export const openNames = newFields.map(([name]) => name).join(', ');
export const endedNames =
  'id, version, parent, created, ended_at, purge_at, kind, type, def, fate, input, result, body, history';

/** How an open job goes on; the stored lease stays if the change leaves it. */
export const movedText = (said: Said): string => `${standingNames.map((name) => `${name} = ${said(name)}`).join(', ')},
  lease_until = case when ${said('keeps_lease')} = 1 then job.lease_until else ${said('lease_until')} end,
  told = ${lastTold}, input = coalesce(${said('input')}, job.input)`;

/** The row of a job that has ended, out of that of the open one. */
export const endedText = (said: Said): string => `job.id, ${said('version')} as version, job.parent, job.created,
  ${said('ended_at')} as ended_at, ${said('purge_at')} as purge_at, job.kind, ${said('type')} as type, job.def,
  ${said('fate')} as fate, coalesce(${said('input')}, job.input) as input, ${said('result')} as result,
  ${said('body')} as body, ${addedLine(said)} as history`;

export const addedLine = (said: Said, table: 'job' | 'ended' = 'job'): string =>
  `${table}.history || E'\\n' || ${said('line')}`;
