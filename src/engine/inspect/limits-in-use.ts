/**
 * Limits in use: each limit of a type, and each limit of a definition or key that has admitted jobs, once, with the
 * number of jobs that it has admitted. A gate may combine several limits.
 */
import { parseGate, type Gate, type Limits } from '../../model/gate.ts';
import { taskGate } from '../declare/type-registry.ts';

export interface LimitInUse {
  readonly type: string;
  readonly scope: 'type' | 'tasks' | 'definition' | 'key';
  /** The name of the definition, or the key; null for the scopes `type` and `tasks`. */
  readonly name: string | null;
  /** The limit. Null: the limit is unknown, because no program with the code of the type has registered the type. */
  readonly max: number | null;
  readonly taken: number;
}

export function limitsInUse(admitted: ReadonlyMap<string, number>, limits: Limits): readonly LimitInUse[] {
  const found = new Map<string, LimitInUse>();
  const add = (limit: LimitInUse): void => {
    const name = JSON.stringify([limit.scope, limit.type, limit.name]);
    found.set(name, { ...limit, taken: limit.taken + (found.get(name)?.taken ?? 0) });
  };
  for (const [gateType, max] of limits.types) add({ ...typeOf(gateType), name: null, max, taken: 0 });
  for (const [text, taken] of admitted) for (const limit of limitsAt(parseGate(text), limits)) add({ ...limit, taken });
  return [...found.values()];
}

export const gatedTypes = (admitted: ReadonlyMap<string, number>): readonly string[] =>
  [...admitted.keys()].map((text) => typeOf(parseGate(text).type).type);

function limitsAt(gate: Gate, limits: Limits): Omit<LimitInUse, 'taken'>[] {
  const { type, scope } = typeOf(gate.type);
  const typeMax = limits.types.get(gate.type) ?? gate.typeMax;
  const { def, defMax, key } = gate;
  return [
    ...(typeMax === undefined ? [] : [{ type, scope, name: null, max: typeMax }]),
    ...(def === null || defMax === undefined ? [] : [{ type, scope: 'definition' as const, name: def, max: defMax }]),
    ...(key === null ? [] : [{ type, scope: 'key' as const, name: key, max: limits.keys.get(gate.type) ?? null }]),
  ];
}

/** Returns the job type and scope of a `Gate.type`, which is a job type or, for tasks, the result of `taskGate`. */
function typeOf(gateType: string): Pick<LimitInUse, 'type' | 'scope'> {
  const [type = ''] = gateType.split(' ');
  return gateType === taskGate(type) ? { type, scope: 'tasks' } : { type: gateType, scope: 'type' };
}
