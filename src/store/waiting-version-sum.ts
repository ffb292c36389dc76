/** Adds up the numbers of waiting jobs that were counted by kind and lane. */
import { queuePositionMax, type WaitingVersion } from './store.ts';

/** Returns one element for each type and version, lowest version first. */
export function sumByVersion(counted: readonly WaitingVersion[]): WaitingVersion[] {
  const sums = Map.groupBy(counted, ({ type, typeVersion }) => JSON.stringify([type, typeVersion]));
  return [...sums.values()]
    .map((same) => ({
      ...same[0]!, count: Math.min(queuePositionMax, same.reduce((sum, { count }) => sum + count, 0)),
    }))
    .sort((a, b) => a.typeVersion - b.typeVersion || (a.type < b.type ? -1 : 1));
}
