/**
 * The highest priority that callers may use, by role. Without this limit, one producer could delay the runs of all
 * other producers.
 */
import { HttpRefusal } from '../problems.ts';
import type { Principal } from './principal.ts';

export interface PriorityLimits {
  /**
   * The highest priority that producers may use. Default: 100. With 0, producers cannot overtake runs without a
   * priority.
   */
  readonly producer?: number;
  /** The highest priority of children that workers create. Default: 100. */
  readonly worker?: number;
}

export const priorityMaxDefault = 100;

/** Refuses a priority above the limit of the caller's role. Operators and admins may use every priority. */
export function checkPriorityOf({ role, name }: Principal, priority: number | undefined, limits: PriorityLimits): void {
  if (priority === undefined || (role !== 'producer' && role !== 'worker')) return;
  const max = limits[role] ?? priorityMaxDefault;
  if (priority <= max) return;
  const message = `${name} may use priorities up to ${max}, because its role is ${role}; ${priority} is higher`;
  throw new HttpRefusal('forbidden', message);
}
