/** The ids that new jobs bring along: each is theirs unless another job has it, of this batch or of any time before. */
import type { Change } from '../../../model/change.ts';
import type { Connection } from '../connection.ts';

export interface FreeIds {
  /** Whether it was free; from then on it is not. */
  claimId(id: number): boolean;
}

/** Ids come in blocks of one's own: mostly one short look tells that all of them are free, and none comes twice. */
export function freeIdsOf(connection: Connection, changes: readonly Change[]): FreeIds {
  const ids: number[] = [];
  for (const { before, after } of changes) if (before === null) ids.push(after!.id);
  if (ids.length === 0) return noIdFree;
  const [first, last] = [ids[0]!, ids.at(-1)!];
  const isBlock = last - first === ids.length - 1 && ids.every((id, index) => id === first + index);
  if (isBlock && !connection.get(anyBetween, first, last)) return allIdsFree;
  const rows = connection.all<{ id: number }>(idsAmong, JSON.stringify(ids));
  const taken = new Set(rows.map(({ id }) => id));
  return { claimId: (id) => taken.size !== taken.add(id).size };
}

/** For jobs that are not to be jobs yet: it is asked when they are. */
export const allIdsFree: FreeIds = { claimId: () => true };
const noIdFree: FreeIds = { claimId: () => false };

const anyBetween = `SELECT 1 FROM job WHERE id BETWEEN ?1 AND ?2
  UNION ALL SELECT 1 FROM ended WHERE id BETWEEN ?1 AND ?2 LIMIT 1`;
const idsAmong = `SELECT id FROM job WHERE id IN (SELECT value FROM json_each(?1))
  UNION ALL SELECT id FROM ended WHERE id IN (SELECT value FROM json_each(?1))`;
