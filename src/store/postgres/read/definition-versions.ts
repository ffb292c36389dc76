/** The versions of definitions, from the index of definitions. Implements `definitionVersions` of `port/reading.ts`. */
import type { StoredVersion } from '../../store.ts';
import type { Session } from '../sql/database.ts';

/** The kind is compared as in index-choice.ts, so that the planner can use only the index of definitions. */
export const definitionVersions = (session: Session, after: number, limit: number): Promise<StoredVersion[]> =>
  session.run<StoredVersion>(
    `select id, version from ${session.schema}.job
    where kind = 'def' and kind >= 'def' and kind <= 'def' and id > $1 order by kind, id limit $2`,
    [after, limit],
  );
