/** Fairness as declared in code: under which key the jobs of a type take turns, and how many start per turn. */
import { checkShareKey, checkWeight } from '../../jobs/checks/limit-uses.ts';
import { checkFields } from '../../jobs/checks/values.ts';
import { keyAt } from '../../model/path.ts';
import { shareUse } from '../../model/share.ts';
import { costAt, type TypeFairness } from '../../model/type-limit.ts';
import { Refusal } from '../../refusal.ts';
import type { UsesOf } from './limit-uses.ts';

export interface Fairness<Input> {
  /**
   * Runs with the same key share their turns, for example those of a tenant. The key is a path in the input, such as
   * `tenant` or `customer.id`, or a function of the input. With a function, only programs that have the code of the type
   * can create runs. Runs without a key share one key.
   */
  readonly key: string | ((input: Input) => string | undefined);
  /**
   * How many runs of a key start per turn, a whole number from 1 to 1,000. Default: 1. A number, a path in the input, or
   * a function of the input. The oldest waiting run of a key has the weight of the key.
   */
  readonly weight?: number | string | ((input: Input) => number);
}

// oxlint-disable-next-line typescript/no-explicit-any -- inside the engine the input of a type is not known
type AnyFairness = Fairness<any>;

/** Refuses a fairness that no run could have. */
export function checkFairness(type: string, fairness: AnyFairness | undefined): void {
  if (fairness === undefined) return;
  const { key, weight = 1 } = checkFields(`the fairness of job type ${type}`, fairness, ['key', 'weight']);
  if (typeof key !== 'function' && (typeof key !== 'string' || key === '')) {
    const message = `the key in the fairness of job type ${type} must be a path of the input or a function`;
    throw new Refusal('malformed.option', message, { type });
  }
  if (typeof weight !== 'function' && (typeof weight !== 'string' || weight === '')) checkWeight(`job type ${type}`, weight);
}

/** Refuses a fairness of tasks that is unknown, or of a type without tasks. */
export function checkTaskFairness(type: string, fairness: unknown, isTasked: boolean): void {
  if (fairness === undefined || (fairness === 'run' && isTasked)) return;
  const why = isTasked ? "must be 'run'" : 'needs taskDetails and taskResults';
  throw new Refusal('malformed.option', `taskFairness of job type ${type} ${why}`, { type });
}

/** Returns the fairness of a type for its catalogue entry. */
export const typeFairness = ({ key, weight = 1 }: AnyFairness): TypeFairness => ({
  key: typeof key === 'function' ? 'code' : key.split('.'),
  weight: typeof weight === 'function' ? 'code' : typeof weight === 'number' ? weight : weight.split('.'),
});

/** Returns the function that computes the share of a run by the code of its type, as an entry of its limit uses. */
export function shareByCode(what: string, fairness: AnyFairness | undefined): UsesOf {
  if (fairness === undefined) return noShare;
  const stored = typeFairness(fairness);
  const { key, weight } = fairness;
  return (input) => shareWith(
    what,
    typeof key === 'function' ? key(input) : keyAt(input, stored.key as readonly string[]),
    typeof weight === 'function' ? weight(input) : weightAt(stored, input),
  );
}

/** Returns the function that computes the share of a run by the catalogue entry of its type. */
export function registeredShare(what: string, fairness: TypeFairness | undefined): UsesOf {
  if (fairness === undefined) return noShare;
  const { key, weight } = fairness;
  if (key !== 'code' && weight !== 'code') return (input) => shareWith(what, keyAt(input, key), weightAt(fairness, input));
  return () => {
    const message =
      `the fairness of ${what} only its code can compute: create it where the code is, or declare key and weight as ` +
      'paths of the input';
    throw new Refusal('needs.code', message, {});
  };
}

const noShare: UsesOf = () => [];

const weightAt = ({ weight }: TypeFairness, input: unknown): unknown =>
  typeof weight === 'number' ? weight : costAt(input, weight as readonly string[]);

const shareWith = (what: string, key: unknown, weight: unknown): ReturnType<UsesOf> =>
  [{ name: shareUse, key: key == null || key === '' ? null : checkShareKey(key), cost: checkWeight(what, weight) }];
