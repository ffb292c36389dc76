/** Validates what a job takes of named limits. */
import type { LimitUse } from '../../model/limit.ts';
import { isCost } from '../../model/type-limit.ts';
import { Refusal } from '../../refusal.ts';
import { checkFields, checkList, checkPlainName, checkText, keyMax } from './values.ts';

const usesMax = 10;

export const checkLimitUses = (uses: readonly LimitUse[]): readonly LimitUse[] =>
  checkList('limitUses', uses, usesMax, checkLimitUse);

function checkLimitUse(use: LimitUse): LimitUse {
  const { name, key, cost } = checkFields('the use of a limit', use, ['name', 'key', 'cost']);
  checkPlainName('a limit', name);
  if (key !== null) checkText('limit key', key, keyMax);
  if (isCost(cost)) return { name, key, cost };
  throw new Refusal('limit.cost', `the cost for the limit ${name} must be a number above 0`, { limit: name });
}
