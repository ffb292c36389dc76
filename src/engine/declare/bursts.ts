/** The bursts in force: an override can raise the burst up to which a cost is accepted. */
import { readLimit } from '../../jobs/limits.ts';
import type { TypeLimit } from '../../model/type-limit.ts';
import type { Store } from '../../store/store.ts';
import type { BurstOf } from './limit-uses.ts';
import type { TypeRules } from './type-rules.ts';

/** Reads the bursts of the limits whose cost depends on the input; undefined: there is no such limit. */
export async function burstsInForce(
  store: Pick<Store, 'load'>,
  limits: readonly TypeLimit[] = [],
): Promise<BurstOf | undefined> {
  const names = limits.filter(({ cost }) => typeof cost !== 'number').map(({ name }) => name);
  if (names.length === 0) return undefined;
  const records = await Promise.all(names.map(async (name) => [name, await readLimit(store, name)] as const));
  const bursts = new Map(records.flatMap(([name, record]) =>
    (record === null ? [] : [[name, record.values.rate?.burst ?? null] as const])));
  return (name) => bursts.get(name);
}

/** Returns rules that accept the costs of runs up to the bursts in force. */
export async function withBurstsInForce(store: Pick<Store, 'load'>, rules: TypeRules): Promise<TypeRules> {
  const bursts = await burstsInForce(store, rules.entry.limits);
  if (bursts === undefined) return rules;
  return { ...rules, limitUses: (output, burstOf = bursts) => rules.limitUses(output, burstOf) };
}
