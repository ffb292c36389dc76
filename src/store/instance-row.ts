/** A row of the table `instance` of the SQL stores. */
import type { Instance, InstanceAbout } from './store.ts';

export interface InstanceRow {
  readonly id: string;
  readonly started: number;
  readonly beat_at: number;
  readonly lease_until: number;
  readonly about: string;
}

export const instanceOfRow = ({ id, started, beat_at: beatAt, lease_until: leaseUntil, about }: InstanceRow): Instance => ({
  id,
  started,
  beatAt,
  leaseUntil,
  about: JSON.parse(about) as InstanceAbout,
});
