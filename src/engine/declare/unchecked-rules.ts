/** The rules of a type for an input that has no results of other runs yet: it is checked when the run starts. */
import { Refusal } from '../../refusal.ts';
import type { TypeRules } from './type-rules.ts';

export function uncheckedRules(rules: TypeRules): TypeRules {
  const { name, keyConcurrency } = rules.entry;
  const check: TypeRules['check'] = (input) => input;
  const limitKey = (): undefined => {
    if (keyConcurrency === null) return undefined;
    const message = `runs of ${name} are limited by a key of their input: their input cannot have results of other runs`;
    throw new Refusal('malformed.flow', message, { type: name });
  };
  return { ...rules, check, checkOfVersion: () => check, limitKey };
}
