/** The import request: a job of another system as a request for a run. Its unique key names the job. */
import { createHash } from 'node:crypto';
import type { ImportRequest } from '../engine/run-import.ts';
import type { ForeignJob, ImportSource } from './source.ts';

/** How long an import that is repeated finds its runs, from their creation on, whether they are open or not. */
export const repeatable = '365d';

const keyBytesMax = 400;

export const importRequestOf = (source: Pick<ImportSource, 'system' | 'place'>, job: ForeignJob): ImportRequest => ({
  input: job.payload,
  dueTime: job.due,
  // Without the addition, the negation of 0 would be -0.
  priority: job.priority + 0,
  attempts: job.attemptsLeft,
  unique: { key: keyOf(source, job), for: repeatable },
  tags: tagsOf(source, job),
});

/** A key of the other system is kept as a tag, because the unique key of the run names the job. */
const tagsOf = ({ system }: Pick<ImportSource, 'system'>, { id, name, key }: ForeignJob): Record<string, string> => ({
  imported: system,
  importedId: shortened(id),
  ...(name === undefined ? {} : { importedName: shortened(name) }),
  ...(key === undefined ? {} : { importedKey: shortened(key) }),
});

function keyOf({ system, place }: Pick<ImportSource, 'system' | 'place'>, { queue, id, addedAt }: ForeignJob): string {
  const key = ['import', system, place, queue, id, ...(addedAt === undefined ? [] : [addedAt])].map(encodeURIComponent).join(' ');
  return Buffer.byteLength(key) <= keyBytesMax ? key : `import ${createHash('sha256').update(key).digest('hex')}`;
}

const tagBytesMax = 200;

/** Without what no tag can have: NUL, and half of the surrogate pair at which the text is cut. */
const shortened = (text: string): string =>
  (Buffer.byteLength(text) <= tagBytesMax ? text : `${text.slice(0, tagBytesMax / 4 - 1).toWellFormed()}…`).replaceAll('\0', '\uFFFD');
