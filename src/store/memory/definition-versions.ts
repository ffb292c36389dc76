/** The versions of definitions. Implements `definitionVersions` of `port/reading.ts`. */
import { isOpen } from '../../model/job.ts';
import type { StoredVersion } from '../store.ts';
import type { Records } from './records.ts';

export const definitionVersions = (records: Records, after: number, limit: number): StoredVersion[] =>
  records.byId((job) => job.kind === 'def' && isOpen(job) && job.id > after)
    .slice(0, limit)
    .map(({ id, version }) => ({ id, version }));
