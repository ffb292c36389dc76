/** Instances: their heartbeats, their leases, and which of them leads. Implements `port/instances.ts`. */
import { instanceOfRow, type InstanceRow } from '../../instance-row.ts';
import type { Beat, BeatReply, Holding, Instance, Leadership } from '../../store.ts';
import { takenInstance } from '../../taken-instance.ts';
import type { Connection } from '../connection.ts';

export function beat(connection: Connection, beat: Beat, now: number): BeatReply {
  const { id, leaseMs, about, holds, takeOver = false } = beat;
  const isSameBoot = `coalesce(about ->> '$.boot', ?5) IS coalesce(?5, about ->> '$.boot')`;
  const written = connection.run(
    `INSERT INTO instance(id, started, beat_at, lease_until, about) VALUES(?1, ?2, ?2, ?3, ?4)
     ON CONFLICT(id) DO UPDATE
       SET started = iif(${isSameBoot}, started, ?2), beat_at = ?2, lease_until = ?3, about = ?4
       WHERE ${isSameBoot} OR lease_until <= ?2 OR ?6`,
    id, now, now + leaseMs, JSON.stringify(about), about.boot ?? null, takeOver ? 1 : 0,
  );
  if (written === 0) throw takenInstance(beat);
  const statuses = holds.map((holding) => ({ id: holding.id, ...holdingStatus(connection, holding) }));
  return {
    now,
    lost: statuses.filter(({ isHeld }) => !isHeld).map((job) => job.id),
    cancelled: statuses.filter(({ isHeld, isCancelled }) => isHeld && isCancelled).map((job) => job.id),
  };
}

function holdingStatus(connection: Connection, { id, fence }: Holding): { isHeld: boolean; isCancelled: boolean } {
  const sql = `SELECT cancel_asked FROM job WHERE id = ? AND fence = ? AND state = 'running'`;
  const row = connection.get<{ cancel_asked: number }>(sql, id, fence);
  return { isHeld: row !== undefined, isCancelled: row?.cancel_asked === 1 };
}

export const instances = (connection: Connection): Instance[] =>
  connection.all<InstanceRow>('SELECT * FROM instance ORDER BY started, id').map(instanceOfRow);

export function leave(connection: Connection, instance: string, now: number): void {
  connection.run(
    `DELETE FROM instance WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM job WHERE state = 'running' AND holder = ?1)`, instance,
  );
  connection.run('UPDATE instance SET lease_until = ? WHERE id = ?', now, instance);
  connection.run('UPDATE leader SET until = ? WHERE leader = ?', now, instance);
}

export function lead(connection: Connection, role: string, instance: string, leaseMs: number, now: number): Leadership {
  connection.run(
    `INSERT INTO leader(role, leader, term, until) VALUES(?1, ?2, 1, ?3)
     ON CONFLICT(role) DO UPDATE SET leader = ?2, until = ?3, term = term + iif(leader = ?2 AND until > ?4, 0, 1)
     WHERE leader = ?2 OR until <= ?4`,
    role, instance, now + leaseMs, now,
  );
  return { ...connection.get<Leadership & object>('SELECT leader, term, until FROM leader WHERE role = ?', role)! };
}
