/**
 * A newcomer: a lone new run that comes with the hint which tells others of it. Who knows of nothing else that waits may
 * claim it as it was told, in one round trip; a claim that has to look first needs two.
 *
 * Whoever may connect to the database can hear hints and make some up, also without a right to our tables. So nothing
 * is told that may be private, and all that is told must still be in the row when the claim is written.
 */
import type { Change } from '../../model/change.ts';
import type { Job, OpenJob } from '../../model/job.ts';
import { namePredicate } from '../names.ts';
import { jobOfOpen, openRow, type OpenRow } from '../row.ts';
import type { ClaimAsk } from '../store.ts';

/** The columns that are told, and whether each is a number: all of a pending job but its input. */
export const toldColumns = [
  ['id', true], ['version', true], ['parent', true], ['created', true], ['priority', true], ['due', true],
  ['fence', true], ['admitted', true], ['cancel_asked', true], ['kind', false], ['type', false], ['def', false],
  ['phase', false], ['gate', false], ['body', false],
] as const satisfies readonly (readonly [keyof OpenRow, boolean])[];

export type ToldValue = string | number | null;

export interface Newcomer {
  /** Without its input. */
  readonly job: Job;
  readonly told: readonly ToldValue[];
}

/** Of changes the one new run, if it is all that they bring, waits for nothing but a claim, and has nothing private. */
export function newcomerIn(changes: readonly Change[]): OpenJob | null {
  const [change, ...others] = changes;
  if (!change || others.length > 0 || change.before !== null) return null;
  const job = change.after;
  return job?.state === 'pending' && isReady(job) && !hasPrivate(job) ? job : null;
}

/** No gate is before it, no parent could be asked to give up, and it is due by the clock of who made it. */
const isReady = ({ kind, gate, parent, due, created }: Job): boolean =>
  kind === 'run' && gate === null && parent === null && due <= created;

const hasPrivate = ({ tags, unique, key }: Job): boolean => tags !== null || unique !== null || key !== null;

export function newcomerText(job: OpenJob): string {
  const row = openRow(job);
  return JSON.stringify(toldColumns.map(([name]) => row[name]));
}

/** Null: it is not of our making. */
export function parseNewcomer(text: string): Newcomer | null {
  try {
    const told = JSON.parse(text) as unknown;
    if (!isTold(told)) return null;
    const row = Object.fromEntries(toldColumns.map(([name], index) => [name, told[index]]));
    const job = jobOfOpen({ ...row, state: 'pending', input: '' } as unknown as OpenRow);
    return isReady(job) ? { job, told } : null;
  } catch {
    return null;
  }
}

const isTold = (given: unknown): given is readonly ToldValue[] =>
  Array.isArray(given) && given.length === toldColumns.length &&
  toldColumns.every(([, isNumber], index) => {
    const value: unknown = given[index];
    return value === null || (isNumber ? Number.isSafeInteger(value) : typeof value === 'string');
  });

/** Whether an ask is for it. */
export const suits = ({ job }: Newcomer, { kinds, names, priorities }: ClaimAsk): boolean =>
  kinds.includes(job.kind) && namePredicate(names)(job.type) && (priorities?.includes(job.priority) ?? true);
