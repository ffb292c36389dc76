/** Checks the ids of new jobs: an id is free unless a stored job or an earlier job of the batch has it. */
import type { Change } from '../../../model/change.ts';
import type { Connection } from '../connection.ts';

export interface FreeIds {
  /** Takes the id for a new job; returns whether it was free. */
  claimId(id: number): boolean;
}

/**
 * Returns the free ids among the ids of the new jobs. New jobs usually have one block of consecutive ids; a single
 * query then shows that all of them are free.
 */
export function freeIdsOf(connection: Connection, changes: readonly Change[]): FreeIds {
  const ids: number[] = [];
  for (const { before, after } of changes) if (before === null) ids.push(after!.id);
  if (ids.length === 0) return noIdFree;
  const taken = new Set(takenIds(connection, ids));
  if (taken.size === 0 && isBlock(ids)) return allIdsFree;
  return { claimId: (id) => taken.size !== taken.add(id).size };
}

/** Returns those of the ids that stored jobs have. */
export function takenIds(connection: Connection, ids: readonly number[]): readonly number[] {
  if (isBlock(ids) && !connection.get(anyBetween, ids[0]!, ids.at(-1)!)) return [];
  return connection.all<{ id: number }>(idsAmong, JSON.stringify(ids)).map(({ id }) => id);
}

const isBlock = (ids: readonly number[]): boolean =>
  ids.at(-1)! - ids[0]! === ids.length - 1 && ids.every((id, index) => id === ids[0]! + index);

/**
 * Treats every id as free. Used if one query has shown that all ids of the new jobs are free, and for staged children,
 * whose ids are checked when they are unstaged.
 */
export const allIdsFree: FreeIds = { claimId: () => true };
const noIdFree: FreeIds = { claimId: () => false };

const anyBetween = `SELECT 1 FROM job WHERE id BETWEEN ?1 AND ?2
  UNION ALL SELECT 1 FROM ended WHERE id BETWEEN ?1 AND ?2 LIMIT 1`;
const idsAmong = `SELECT id FROM job WHERE id IN (SELECT value FROM json_each(?1))
  UNION ALL SELECT id FROM ended WHERE id IN (SELECT value FROM json_each(?1))`;
