/** Limits in use: what the gates say, turned round: each limit once, with how many jobs it has admitted. */
import { parseGate, type Gate, type Limits } from '../../model/gate.ts';
import { taskGate } from '../declare/handlers.ts';

export interface LimitInUse {
  /** Of the jobs that wait at it. */
  readonly type: string;
  readonly scope: 'type' | 'tasks' | 'definition' | 'key';
  /** Of the definition, or the key. */
  readonly name: string | null;
  /** Null: only an instance with the code of the type knows. */
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

/** Tasks wait at a gate of their own, whose name is made from the type's. */
function typeOf(gateType: string): Pick<LimitInUse, 'type' | 'scope'> {
  const [type = ''] = gateType.split(' ');
  return gateType === taskGate(type) ? { type, scope: 'tasks' } : { type: gateType, scope: 'type' };
}
