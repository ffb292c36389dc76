/** What a new job uses of the named limits that its type lists, by the code of the type or by its catalogue entry. */
import { checkCost } from '../../jobs/checks/limit-uses.ts';
import { checkFields, checkList, checkObject, checkText, keyMax } from '../../jobs/checks/values.ts';
import type { LimitUse } from '../../model/limit.ts';
import { keyAt } from '../../model/path.ts';
import { costAt, needsCode, usesAt, type TypeLimit } from '../../model/type-limit.ts';
import { Refusal } from '../../refusal.ts';
import type { Limit } from './limit.ts';

/**
 * The cost of a job: for all its limits, or by the names of the limits; a limit that is left out costs 1. A text is the
 * path of the cost in the input, such as `tokens`.
 */
export type Cost<Input> =
  | string
  | ((input: Input) => number | Readonly<Record<string, number>>)
  | Readonly<Record<string, number | string>>;

// oxlint-disable-next-line typescript/no-explicit-any -- inside the engine the input of a type is not known
type AnyCost = Cost<any>;

/** Computes what a job uses of limits. `burstOf`: the burst in force, up to which a cost is accepted; absent: that of the code. */
export type UsesOf = (input: unknown, burstOf?: BurstOf) => readonly LimitUse[];

/** Returns the burst of a limit that is in force; null: its rate is not limited; undefined: it is not known. */
export type BurstOf = (limit: string) => number | null | undefined;

const listMax = 10;
const none: readonly LimitUse[] = [];

/** Refuses a list of limits, or a cost, that no job could have. `what` names their owner. */
export function checkLimits(what: string, limits: readonly Limit[] = [], cost?: AnyCost): void {
  const names = checkList(`the limits of ${what}`, limits, listMax, (each: Limit | null | undefined) => {
    if (typeof each?.name === 'string' && each.values !== undefined) return each.name;
    throw new Refusal('malformed.option', `the limits of ${what} must be made by limit('name', …)`, { what });
  });
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new Refusal('malformed.option', `${what} lists the limit ${twice} twice: list it once`, { name: twice });
  }
  if (cost === undefined || typeof cost === 'function') return;
  if (names.length === 0) throw new Refusal('malformed.option', `${what} has a cost but no limits`, { what });
  if (typeof cost === 'string') return;
  checkFields(`the cost of ${what}`, checkObject(`the cost of ${what}`, cost), names);
  for (const { name, values } of limits) {
    if (typeof cost[name] !== 'string') checkCostOf(what, { name, burst: values?.rate?.burst ?? null }, cost[name] ?? 1);
  }
}

/** Refuses a limit with a concurrency in both lists: runs keep their places in it while their tasks wait for places. */
export function checkNotSelfBlocking(type: string, limits: readonly Limit[] = [], taskLimits: readonly Limit[] = []): void {
  const both = taskLimits.find(({ name, values }) => values?.concurrency != null && limits.some((limit) => limit.name === name));
  if (both === undefined) return;
  const message =
    `job type ${type} lists the limit ${both.name} in limits and in taskLimits: its runs would keep their places while ` +
    'their tasks wait for places; list it in taskLimits only, or declare a limit of another name for the tasks';
  throw new Refusal('malformed.option', message, { type, limit: both.name });
}

/** Returns the limits of a type for its catalogue entry. */
export const typeLimits = (limits: readonly Limit[], cost: AnyCost | undefined): readonly TypeLimit[] =>
  limits.map(({ name, key, values }) => ({
    name,
    key: key == null ? null : typeof key === 'function' ? 'code' : key.split('.'),
    cost: storedCost(name, cost),
    burst: values?.rate?.burst ?? null,
  }));

function storedCost(name: string, cost: AnyCost | undefined): TypeLimit['cost'] {
  if (typeof cost === 'function') return 'code';
  const own = typeof cost === 'object' ? (cost[name] ?? 1) : (cost ?? 1);
  return typeof own === 'number' ? own : own.split('.');
}

/** Returns the function that computes the uses of a job by the code of its type. */
export function usesByCode(what: string, limits: readonly Limit[] = [], cost?: AnyCost): UsesOf {
  if (limits.length === 0) return () => none;
  const stored = typeLimits(limits, cost);
  if (!needsCode(stored)) return usesByPaths(what, stored);
  return (input, burstOf) => {
    const costOf = typeof cost === 'function' ? costsByCode(what, cost(input), limits) : (limit: TypeLimit) => pathCost(limit, input);
    return stored.flatMap((limit, index) => {
      const key = keyOf(limits[index]!, input);
      return key === undefined ? [] : [{ name: limit.name, key, cost: checkCostOf(what, inForce(limit, burstOf), costOf(limit)) }];
    });
  };
}

/** Returns the function that computes the uses of a job by the catalogue entry of its type. */
export function registeredUses(what: string, limits: readonly TypeLimit[] = []): UsesOf {
  if (!needsCode(limits)) return usesByPaths(what, limits);
  const { name } = limits.find((limit) => needsCode([limit]))!;
  return () => {
    const message =
      `what ${what} uses of the limit ${name} only its code can compute: create it where the code is, ` +
      'or declare the key and the cost as paths of the input';
    throw new Refusal('needs.code', message, { limit: name });
  };
}

/** Jobs whose uses do not depend on the input share one list: the store writes equal new jobs together. */
function usesByPaths(what: string, limits: readonly TypeLimit[]): UsesOf {
  const isConstant = limits.every(({ key, cost }) => key === null && typeof cost === 'number');
  const constant = isConstant ? usesAt(limits, null) : null;
  if (constant !== null) return () => constant;
  return (input, burstOf) => {
    const current = burstOf === undefined ? limits : limits.map((limit) => inForce(limit, burstOf));
    for (const limit of current) checkCostOf(what, limit, pathCost(limit, input));
    return usesAt(current, input).map((use) => ({ ...use, key: checkLimitKey(use.name, use.key) }));
  };
}

/** An override that lowers the burst does not refuse new jobs: those that cost more start when nothing is in use. */
function inForce(limit: TypeLimit, burstOf?: BurstOf): TypeLimit {
  const burst = burstOf?.(limit.name);
  if (burst === undefined || limit.burst === null) return limit;
  return { ...limit, burst: burst === null ? null : Math.max(burst, limit.burst) };
}

const pathCost = ({ cost }: TypeLimit, input: unknown): unknown =>
  typeof cost === 'number' ? cost : costAt(input, cost as readonly string[]);

/** Returns the cost for each limit from what the code of the type has returned. It may be no valid cost. */
function costsByCode(what: string, costs: unknown, limits: readonly Limit[]): (limit: TypeLimit) => unknown {
  if (typeof costs !== 'object' || costs === null) return () => costs;
  const byName = checkFields(`the cost of ${what}`, costs as Readonly<Record<string, unknown>>, limits.map(({ name }) => name));
  return ({ name }) => byName[name] ?? 1;
}

function keyOf({ name, key }: Limit, input: unknown): string | null | undefined {
  if (key == null) return null;
  const found = typeof key === 'function' ? key(input) : keyAt(input, key.split('.'));
  return found == null ? undefined : checkLimitKey(name, found);
}

const checkLimitKey = (name: string, key: string | null): string | null =>
  key === null ? null : checkText(`key of limit ${name}`, key, keyMax);

/** Returns a valid cost, not above the burst. */
function checkCostOf(what: string, { name, burst }: Pick<TypeLimit, 'name' | 'burst'>, given: unknown): number {
  const cost = checkCost(what, name, given);
  if (burst === null || cost <= burst) return cost;
  const message = `the cost of ${what} for the limit ${name} is ${cost}, and its burst is ${burst}: raise the burst`;
  throw new Refusal('limit.cost', message, { limit: name, cost, burst });
}
