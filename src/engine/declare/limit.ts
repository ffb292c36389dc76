/** The named limit as declared in code: a rate, a concurrency or both, shared by all job types that list it. */
import { checkFields, checkPlainName, checkWhole } from '../../jobs/checks/values.ts';
import type { LimitValues, Rate } from '../../model/limit.ts';
import { Refusal } from '../../refusal.ts';
import { parseRate, type RateText } from '../../time/rate.ts';

export interface LimitOptions<Input> {
  /** How many jobs may start per period, across all instances: `500/1m` or `10/s`. */
  readonly rate?: RateText;
  /** How many jobs may start at once after a quiet time. Default: a tenth of the rate's number, at least 1. */
  readonly burst?: number;
  /** How many jobs may be running at a time, across all instances. */
  readonly concurrency?: number;
  /**
   * Each key has the rate and the concurrency for itself, for example each tenant. The key is a path in the input, such
   * as `tenant` or `customer.id`, or a function of the input. With a function, only programs that have the code of the
   * type can create runs. A job without a key is not limited. For `taskLimits`, the key is one of the task.
   */
  readonly key?: string | ((input: Input) => string | undefined);
}

// oxlint-disable-next-line typescript/no-explicit-any -- a limit without a function as its key fits every input
export interface Limit<Input = any> {
  readonly name: string;
  /** Null: the code declares no values; they come from another program or from an operator. */
  readonly values: LimitValues | null;
  readonly key: LimitOptions<Input>['key'] | null;
}

const countMax = 1_000_000_000;
const concurrencyMax = 1_000_000;
/** The share of the rate that may start at once if the code declares no burst. */
const burstShare = 0.1;

/**
 * Declares a named limit. List it in `limits` or `taskLimits` of job types. Without `rate` and `concurrency`, the name
 * refers to a limit that another program or an operator sets.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the parameter of a key that has no type of its own
export function limit<Input = any>(name: string, options: LimitOptions<Input> = {}): Limit<Input> {
  checkLimitName(name);
  const what = `limit ${name}`;
  const { rate, burst, concurrency, key } = checkFields(what, options, ['rate', 'burst', 'concurrency', 'key']);
  if (burst !== undefined && rate === undefined) {
    throw new Refusal('malformed.option', `${what} has a burst but no rate: give it a rate too`, { name });
  }
  const hasValues = rate !== undefined || concurrency !== undefined;
  const values = { rate: rate === undefined ? null : rateOf(rate, burst), concurrency: checkConcurrency(concurrency) };
  return Object.freeze({ name, values: hasValues ? values : null, key: key === undefined ? null : checkKey(what, key) });
}

export const checkLimitName = (name: unknown): string => checkPlainName('a limit', name);

/** Returns the rate to store, with the default burst if none is given. */
export function rateOf(text: string, burst?: number): Rate {
  const { count, per } = parseRate(text);
  const byDefault = Math.max(1, Math.floor(count * burstShare));
  return { count, per, burst: burst === undefined ? byDefault : checkWhole('burst', burst, 1, countMax) };
}

export const checkConcurrency = (concurrency: number | undefined): number | null =>
  concurrency === undefined ? null : checkWhole('concurrency', concurrency, 1, concurrencyMax);

function checkKey<Key>(what: string, key: Key): Key {
  if (typeof key === 'function' || (typeof key === 'string' && key !== '')) return key;
  throw new Refusal('malformed.option', `the key of ${what} must be a path of the input or a function`, { what });
}

/** Returns the limits of all these lists, each name once. Refuses two declarations of one name that disagree. */
export function distinctLimits(lists: readonly (readonly Limit[])[]): readonly Limit[] {
  const byName = new Map<string, Limit>();
  for (const each of lists.flat()) {
    const known = byName.get(each.name);
    if (known && !agree(known, each)) {
      const message =
        `two limits are named ${each.name} and differ: declare it once and list it in each job type, or rename one`;
      throw new Refusal('malformed.option', message, { name: each.name });
    }
    if (known === undefined || known.values === null) byName.set(each.name, each);
  }
  return [...byName.values()];
}

const agree = (one: Limit, other: Limit): boolean =>
  (one.key === null) === (other.key === null) &&
  (one.values === null || other.values === null || textOf(one) === textOf(other));

/** Two functions as keys are compared by their source: each module that declares the limit has its own function. */
const textOf = ({ values, key }: Limit): string => JSON.stringify([values, String(key)]);
