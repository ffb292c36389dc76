/**
 * The claim hint: the columns of a single new run, sent with the NOTIFY that announces the run. An instance that knows
 * of no other waiting job claims the run from the hint in one round trip; a claim that scans first needs at least two.
 *
 * Every database user who may connect can listen to hints and forge them, even without a right to Stint's tables.
 * So a hint carries neither input, tags nor keys, and the claim checks that the row still has every value of the hint.
 */
import type { Change } from '../../../model/change.ts';
import type { Job } from '../../../model/job.ts';
import { jobPredicate } from '../../name-filter.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import type { ClaimRequest } from '../../store.ts';
import type { Value } from '../sql/row-parameters.ts';
import { newFields } from './fields.ts';

const omittedColumns = new Set(['input', 'history', 'state', 'hold', 'holder', 'lease_until']);

/**
 * The columns of a hint: all of a new row except its input, its history, and the columns that follow from its state.
 */
export const hintFields = newFields.filter(([name]) => !omittedColumns.has(name));

export interface ClaimHint {
  /** The job, with an empty input. */
  readonly job: Job;
  readonly values: readonly Value[];
}

/**
 * Returns the only change of a batch if it creates a claimable run that has none of the private fields `tags`, `unique`
 * and `key`. Returns null for all other batches.
 */
export function hintableChange(changes: readonly Change[]): Change | null {
  const [change, ...others] = changes;
  if (!change || others.length > 0 || change.before !== null) return null;
  const { after } = change;
  return after?.state === 'pending' && isReady(after) && !hasPrivateFields(after) ? change : null;
}

/**
 * Whether the job is a run that was due when it was created, without a gate and without a parent. A parent could be
 * cancelled before the claim.
 */
const isReady = ({ kind, gate, parent, due, created }: Job): boolean =>
  kind === 'run' && gate === null && parent === null && due <= created;

const hasPrivateFields = ({ tags, unique, key }: Job): boolean => tags !== null || unique !== null || key !== null;

export const claimHintText = (change: Change): string => JSON.stringify(hintFields.map(([, , of]) => of(change)));

/** Returns the hint in a notification's text; null: the text is no hint, or a hint of another version of Stint. */
export function parseClaimHint(text: string): ClaimHint | null {
  try {
    const values = JSON.parse(text) as unknown;
    if (!isHintValues(values)) return null;
    const row = Object.fromEntries(hintFields.map(([name], index) => [name, values[index]]));
    const job = jobOfOpen({ ...row, state: 'pending', input: '' } as unknown as OpenRow);
    return isReady(job) ? { job, values } : null;
  } catch {
    return null;
  }
}

const isHintValues = (given: unknown): given is readonly Value[] =>
  Array.isArray(given) && given.length === hintFields.length &&
  hintFields.every(([, kind], index) => {
    const value: unknown = given[index];
    return value === null || (kind === 'number' ? Number.isSafeInteger(value) : typeof value === 'string');
  });

export const matchesRequest = ({ job }: ClaimHint, { kinds, names, priorities }: ClaimRequest): boolean =>
  kinds.includes(job.kind) && jobPredicate(names)(job) && (priorities?.includes(job.priority) ?? true);
