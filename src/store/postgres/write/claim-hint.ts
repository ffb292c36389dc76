/**
 * A newcomer: a lone new run that comes with the hint which tells others of it. Who knows of nothing else that waits may
 * claim it as it was told, in one round trip; a claim that has to look first needs two.
 *
 * Whoever may connect to the database can hear hints and make some up, also without a right to our tables. So nothing
 * is told that may be private, and all that is told must still be in the row when the claim is written.
 */
import type { Change } from '../../../model/change.ts';
import type { Job } from '../../../model/job.ts';
import { namePredicate } from '../../name-filter.ts';
import { jobOfOpen, type OpenRow } from '../../row.ts';
import type { ClaimAsk } from '../../store.ts';
import type { Value } from '../sql/row-parameters.ts';
import { newFields } from './fields.ts';

const untold = new Set(['input', 'history', 'state', 'hold', 'holder', 'lease_until']);

/** What is told of a new job: all that it is stored with, but its input, its history, and what follows from its state. */
export const toldFields = newFields.filter(([name]) => !untold.has(name));

export interface Newcomer {
  /** Without its input. */
  readonly job: Job;
  readonly told: readonly Value[];
}

/** Of changes the one new run, if it is all that they bring, waits for nothing but a claim, and has nothing private. */
export function newcomerIn(changes: readonly Change[]): Change | null {
  const [change, ...others] = changes;
  if (!change || others.length > 0 || change.before !== null) return null;
  const { after } = change;
  return after?.state === 'pending' && isReady(after) && !hasPrivate(after) ? change : null;
}

/** No gate is before it, no parent could be asked to give up, and it is due by the clock of who made it. */
const isReady = ({ kind, gate, parent, due, created }: Job): boolean =>
  kind === 'run' && gate === null && parent === null && due <= created;

const hasPrivate = ({ tags, unique, key }: Job): boolean => tags !== null || unique !== null || key !== null;

export const newcomerText = (birth: Change): string => JSON.stringify(toldFields.map(([, , of]) => of(birth)));

/** Null: it is not of our making. */
export function parseNewcomer(text: string): Newcomer | null {
  try {
    const told = JSON.parse(text) as unknown;
    if (!isTold(told)) return null;
    const row = Object.fromEntries(toldFields.map(([name], index) => [name, told[index]]));
    const job = jobOfOpen({ ...row, state: 'pending', input: '' } as unknown as OpenRow);
    return isReady(job) ? { job, told } : null;
  } catch {
    return null;
  }
}

const isTold = (given: unknown): given is readonly Value[] =>
  Array.isArray(given) && given.length === toldFields.length &&
  toldFields.every(([, kind], index) => {
    const value: unknown = given[index];
    return value === null || (kind === 'number' ? Number.isSafeInteger(value) : typeof value === 'string');
  });

/** Whether an ask is for it. */
export const suits = ({ job }: Newcomer, { kinds, names, priorities }: ClaimAsk): boolean =>
  kinds.includes(job.kind) && namePredicate(names)(job.type) && (priorities?.includes(job.priority) ?? true);
