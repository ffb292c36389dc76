/** Reads the pauses in force. The index `job_pause` has them in the order of their ends. */
import { keyNames } from '../../../model/gate.ts';
import { isPausable, spreadMark } from '../../../model/pause.ts';
import { never } from '../../../model/definition.ts';
import type { Kind } from '../../../model/state.ts';
import { namePredicate } from '../../name-filter.ts';
import { noSpreads, Spreads, type PauseRecord } from '../../spreads.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Connection } from '../connection.ts';

const pauses = `FROM job INDEXED BY job_pause WHERE kind = 'pause' AND state = 'pending'`;
const pausesOf = {
  types: `SELECT type, due ${pauses} AND gate IS NULL AND due > ?`,
  keys: `SELECT type, due, gate ${pauses} AND gate IS NOT NULL AND due > ?`,
};

/** Returns the types that are paused at `now`, or whose resume is spread; none for kinds that cannot be paused. */
export function pausedTypes(connection: Connection, kinds: readonly Kind[], now: number): ReadonlySet<string> {
  if (!kinds.some(isPausable)) return noTypes;
  return new Set(connection.arrays(pausesOf.types, now).map(([type]) => type as string));
}

const noTypes: ReadonlySet<string> = new Set();

/** Returns the names of the keys that admit no job at `now`; those whose resume is spread are not among them. */
export const pausedKeys = (connection: Connection, now: number): ReadonlySet<string> =>
  keyNames(connection.arrays(`${pausesOf.keys} AND instr(input, '${spreadMark}') = 0`, now).map(([, , gate]) => gate as string));

/** Returns the spreads of resumes that last at `now`. */
export function spreadsAt(connection: Connection, kinds: readonly Kind[], now: number): Spreads {
  if (!kinds.some(isPausable)) return noSpreads;
  const sql = `SELECT id, type, gate, input ${pauses} AND due > ? AND instr(input, '${spreadMark}') > 0`;
  const found = connection.all<PauseRecord>(sql, now);
  return found.length === 0 ? noSpreads : new Spreads(found, now);
}

/** Returns the ends after `after` of pauses that the request waits for. */
export function endsOfPauses(
  connection: Connection,
  { kinds, names }: Pick<ClaimRequest, 'kinds' | 'names'>,
  after: number,
): number[] {
  if (!kinds.some(isPausable)) return [];
  const isNamed = namePredicate(names);
  return [pausesOf.types, pausesOf.keys]
    .flatMap((sql) => connection.arrays(sql, after) as [type: string, due: number][])
    .flatMap(([type, due]) => (due < never && isNamed(type) ? [due] : []));
}
