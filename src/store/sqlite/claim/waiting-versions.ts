/** Counts the pending runs and tasks of types by version. Implements `waitingVersions` of `port/claiming.ts`. */
import { workKinds } from '../../../model/state.ts';
import { queuePositionMax, type WaitingVersion } from '../../store.ts';
import { sumByVersion } from '../../waiting-version-sum.ts';
import type { Connection } from '../connection.ts';

export function waitingVersions(connection: Connection, types: readonly string[]): WaitingVersion[] {
  const found: WaitingVersion[] = [];
  for (const lane of [1, 2]) {
    const where = `FROM job WHERE lane = ${lane} AND kind = ? AND type = ?`;
    const next = `SELECT type_version ${where} AND type_version > ? ORDER BY type_version LIMIT 1`;
    const count = `SELECT count(*) count FROM (SELECT 1 ${where} AND type_version = ? LIMIT ${queuePositionMax})`;
    for (const kind of workKinds) {
      for (const type of types) {
        const after = (version: number): number | undefined =>
          connection.get<{ type_version: number }>(next, kind, type, version)?.type_version;
        for (let typeVersion = after(0); typeVersion !== undefined; typeVersion = after(typeVersion)) {
          found.push({ type, typeVersion, ...connection.get<{ count: number }>(count, kind, type, typeVersion)! });
        }
      }
    }
  }
  return sumByVersion(found);
}
