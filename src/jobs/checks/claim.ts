/** What workers ask for: claims and longer leases, checked before the store sees them. */
import { kinds } from '../../model/state.ts';
import type { ClaimRequest, Holding, TypeNames } from '../../store/store.ts';
import {
  checkFence, checkFields, checkFlag, checkId, checkList, checkName, checkObject, checkOneOf, checkPriority,
  checkWhole, timeMax,
} from './values.ts';
import { checkGlob } from './query.ts';

export interface WorkAsk extends ClaimRequest {
  readonly holder: string;
  /** How long the lease lasts; null: as long as the holder's instance lives. */
  readonly leaseMs: number | null;
}

const fields: readonly (keyof WorkAsk)[] = [
  'holder', 'leaseMs', 'kinds', 'names', 'limit', 'limits', 'isLeader', 'priorities',
];
const claimMax = 10_000;
const listMax = 10_000;

export function checkWorkAsk(ask: WorkAsk): WorkAsk {
  checkName('holder', checkFields('a claim', ask, fields).holder);
  if (ask.leaseMs !== null) checkLeaseMs(ask.leaseMs);
  checkList('kinds', ask.kinds, kinds.length, (kind) => checkOneOf('kind', kind, kinds));
  checkNames(ask.names);
  checkWhole('limit', ask.limit, 0, claimMax);
  if (ask.limits !== undefined) checkFields('limits', ask.limits, ['types', 'defs', 'keys']);
  if (ask.isLeader !== undefined) checkFlag('isLeader', ask.isLeader);
  if (ask.priorities !== undefined) checkList('priorities', ask.priorities, listMax, checkPriority);
  return ask;
}

export const checkLeaseMs = (leaseMs: unknown): number => checkWhole('leaseMs', leaseMs, 1, timeMax);

export const checkHoldings = (holdings: readonly Holding[]): Holding[] =>
  checkList('holdings', holdings, listMax, (holding) => {
    const { id, fence } = checkObject('a holding', holding);
    return { id: checkId(id), fence: checkFence(fence) };
  });

function checkNames(names: TypeNames): void {
  checkFields('names', names, ['exact', 'glob']);
  if ('exact' in names) checkList('names', names.exact, listMax, (name) => checkName('type', name));
  else checkGlob(names.glob);
}
