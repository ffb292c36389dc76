/**
 * The highest priority that callers may give, by token and by role. Without this limit, one producer could delay the
 * runs of all other producers.
 */
import { Refusal } from '../../refusal.ts';
import type { Principal } from './principal.ts';

export interface PriorityLimits {
  /**
   * The highest priority that producers may give. Default: 100. With 0, producers cannot overtake runs without a
   * priority.
   */
  readonly producer?: number;
  /** The highest priority of children that workers create. Default: 100. */
  readonly worker?: number;
  /** The highest priority that operators may give to runs and definitions. Default: no limit. */
  readonly operator?: number;
}

export const priorityMaxDefault = 100;

type Bounded = Pick<Principal, 'role' | 'priorityMax'>;

/** Returns the highest priority that the caller may give; null: every priority. */
export const priorityMaxOf = ({ role, priorityMax = null }: Bounded, limits: PriorityLimits): number | null =>
  priorityMax ?? maxOfRole(role, limits);

function maxOfRole(role: Principal['role'], limits: PriorityLimits): number | null {
  if (role === 'producer' || role === 'worker') return limits[role] ?? priorityMaxDefault;
  return role === 'operator' ? limits.operator ?? null : null;
}

/** Refuses a priority above what the caller may give. A caller that gives none passes. */
export function checkPriorityOf(
  principal: Principal,
  priority: number | null | undefined,
  limits: PriorityLimits,
): void {
  const max = priorityMaxOf(principal, limits);
  if (max === null || priority === null || priority === undefined || priority <= max) return;
  const { name, role, priorityMax = null } = principal;
  const why = priorityMax === null ? `its role is ${role}` : 'its token says so';
  const message = `${name} may give priorities up to ${max}, because ${why}; ${priority} is higher`;
  throw new Refusal('forbidden.priority', message, { priority, max });
}
