/** The rules of a type for an input that has no results of other runs yet: it is checked when the run starts. */
import { Refusal } from '../../refusal.ts';
import type { TypeRules } from './type-rules.ts';

export function uncheckedRules(rules: TypeRules): TypeRules {
  const { name, keyConcurrency, limits = [] } = rules.entry;
  const check: TypeRules['check'] = (input) => input;
  const limitKey = (): undefined => {
    if (keyConcurrency === null) return undefined;
    const message = `runs of ${name} are limited by a key of their input: their input cannot have results of other runs`;
    throw new Refusal('malformed.flow', message, { type: name });
  };
  // Without its key, a run would not be limited at all.
  const limitUses: TypeRules['limitUses'] = (input, burstOf) => {
    const uses = rules.limitUses(input, burstOf);
    const keyless = limits.find((limit) => limit.key !== null && !uses.some((use) => use.name === limit.name));
    if (keyless !== undefined) throw unknownKey(name, keyless.name);
    return uses;
  };
  return { ...rules, check, checkOfVersion: () => check, limitKey, limitUses };
}

const unknownKey = (type: string, limit: string): Refusal => new Refusal(
  'malformed.flow',
  `the input of a run of ${type} has results of other runs, and no key of the limit ${limit} beside them: ` +
    'the key must be known when the run is created',
  { type, limit },
);
