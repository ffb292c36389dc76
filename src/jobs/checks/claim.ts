/** Validates the requests of workers to claim jobs and to extend leases. */
import { kinds } from '../../model/state.ts';
import { firstTypeVersion, typeVersionMax, type TypeVersions } from '../../model/type-version.ts';
import { Refusal } from '../../refusal.ts';
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
  checkFields('names', names, ['exact', 'glob', 'versions']);
  if (!('exact' in names)) return void checkGlob(names.glob);
  checkList('names', names.exact, listMax, (name) => checkName('type', name));
  if (names.versions !== undefined) checkVersions(names.versions);
}

/** Of how many versions a worker can claim jobs, over all types. Each is searched by itself. */
const versionsMax = 10_000;

/** Validates the versions that a worker says it knows. */
export function checkVersions(given: readonly TypeVersions[]): readonly TypeVersions[] {
  const versions = checkList('versions', given, listMax, (one) => {
    const { type, from, to } = checkFields('versions', one, ['type', 'from', 'to']);
    const first = checkWhole('from', from, firstTypeVersion, typeVersionMax);
    return { type: checkName('type', type), from: first, to: checkWhole('to', to, first, typeVersionMax) };
  });
  const count = versions.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  if (count <= versionsMax) return versions;
  const message = `a worker can claim jobs of at most ${versionsMax} versions, not of ${count}: leave out old ones`;
  throw new Refusal('malformed.option', message, { count, most: versionsMax });
}
