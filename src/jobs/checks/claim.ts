/** Validates the requests of workers to claim jobs and to extend leases. */
import { kinds } from '../../model/state.ts';
import type { ClaimRequest, Holding, TypeNames } from '../../store/store.ts';
import {
  checkFence, checkFields, checkFlag, checkId, checkList, checkName, checkObject, checkOneOf, checkPriority,
  checkWhole, timeMax,
} from './values.ts';
import { checkGlob } from './query.ts';

export interface WorkRequest extends ClaimRequest {
  readonly holder: string;
  /** How long the lease lasts; null: as long as the instance that holds the job sends heartbeats. */
  readonly leaseMs: number | null;
}

const fields: readonly (keyof WorkRequest)[] = [
  'holder', 'leaseMs', 'kinds', 'names', 'limit', 'limits', 'isLeader', 'priorities',
];
const claimMax = 10_000;
const listMax = 10_000;

export function checkWorkRequest(request: WorkRequest): WorkRequest {
  checkName('holder', checkFields('a claim', request, fields).holder);
  if (request.leaseMs !== null) checkLeaseMs(request.leaseMs);
  checkList('kinds', request.kinds, kinds.length, (kind) => checkOneOf('kind', kind, kinds));
  checkNames(request.names);
  checkWhole('limit', request.limit, 0, claimMax);
  if (request.limits !== undefined) checkFields('limits', request.limits, ['types', 'defs', 'keys']);
  if (request.isLeader !== undefined) checkFlag('isLeader', request.isLeader);
  if (request.priorities !== undefined) checkList('priorities', request.priorities, listMax, checkPriority);
  return request;
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
