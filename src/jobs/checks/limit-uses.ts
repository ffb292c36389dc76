/** Validates what a job takes of named limits. */
import type { LimitUse } from '../../model/limit.ts';
import { isWeight, shareUse, weightMax } from '../../model/share.ts';
import { costMax, isCost } from '../../model/type-limit.ts';
import { Refusal } from '../../refusal.ts';
import { checkFields, checkList, checkPlainName, checkText, keyMax } from './values.ts';

/** The limits of a job, and its share. */
const usesMax = 11;

export function checkLimitUses(uses: readonly LimitUse[]): readonly LimitUse[] {
  const checked = checkList('limitUses', uses, usesMax, checkLimitUse);
  const twice = checked.find(({ name }, index) => checked.findIndex((use) => use.name === name) < index);
  if (!twice) return checked;
  throw new Refusal('malformed.option', `a job can use the limit ${JSON.stringify(twice.name)} only once`, { limit: twice.name });
}

function checkLimitUse(use: LimitUse): LimitUse {
  const { name, key, cost } = checkFields('the use of a limit', use, ['name', 'key', 'cost']);
  if (name === shareUse) return { name, key: key == null ? null : checkShareKey(key), cost: checkWeight('a job', cost) };
  checkPlainName('a limit', name);
  return { name, key: key == null ? null : checkText('limit key', key, keyMax), cost: checkCost('a job', name, cost) };
}

export const checkShareKey = (key: unknown): string => checkText('fairness key', key, keyMax);

/** Returns a valid weight. `what` names the job. */
export function checkWeight(what: string, weight: unknown): number {
  if (isWeight(weight)) return weight;
  const message = `the weight in the fairness of ${what} must be a whole number from 1 to ${weightMax}`;
  throw new Refusal('fairness.weight', message, {});
}

/** Returns a valid cost for a limit. `what` names the job. */
export function checkCost(what: string, limit: string, cost: unknown): number {
  if (isCost(cost)) return cost;
  const message = `the cost of ${what} for the limit ${limit} must be a number above 0 and at most ${costMax}`;
  throw new Refusal('limit.cost', message, { limit });
}
