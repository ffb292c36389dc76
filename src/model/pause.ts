/**
 * The pause: a record that keeps the jobs of a type, or those with one key of a type, from being claimed. It is a
 * pending job of kind `pause` whose type is the paused type. It is in force until its due time, by which an index finds
 * it. The pause of a key has the gate of that key, the pause of a type has none. After a resume with a spread, the record
 * stays in force until the end of the spread (spread.ts). Named limits are paused by their own records, but the spread of a
 * limit is a record of this kind: its gate uses the limit.
 */
import { never } from './definition.ts';
import { keyNameOf, parseGate } from './gate.ts';
import type { Job } from './job.ts';
import type { Spread } from './spread.ts';
import { jobKinds, type Kind } from './state.ts';

export interface Pause {
  readonly type: string;
  /** Null: all jobs of the type are paused. */
  readonly key: string | null;
  readonly by: string;
  readonly why: string | null;
  /** When it began. */
  readonly since: number;
  /** When it ends by itself; null: when somebody resumes the type or the key. */
  readonly until: number | null;
  /** Who resumed it, why and when, if what piled up is let out until `until`; null: the pause holds back everything. */
  readonly spread: ResumeSpread | null;
}

export type ResumeSpread = Pick<Spread, 'by' | 'why' | 'from'>;

/** What a pause or a spread holds back: a type, a key of a type, or what uses a named limit. */
export type PauseScope = { readonly type: string; readonly key: string | null } | { readonly limit: string };

/** What a pause stores as its input. */
export interface PauseContent {
  readonly by: string;
  readonly why: string | null;
  readonly since: number;
  /**
   * A store time after which nothing was claimed; null: the claims that were under way have not ended yet, or nobody
   * waited for them.
   */
  readonly confirmed: number | null;
  /** Set by a resume that lets out evenly what piled up; absent: everything is held back. */
  readonly spread?: Spread;
}

/** A part of the JSON of every content with a spread, and of no other: quotes within texts are escaped. */
export const spreadMark = '"spread":{';

/** Whether a pause applies to jobs of this kind. Definitions of a paused type go on creating runs, which then wait. */
export const isPausable = (kind: Kind): boolean => jobKinds.includes(kind);

export const contentOf = ({ input }: Pick<Job, 'input'>): PauseContent => JSON.parse(input) as PauseContent;

export const isInForce = ({ kind, state, due }: Job, now: number): boolean =>
  kind === 'pause' && state === 'pending' && due > now;

export function pauseOf(job: Job): Pause {
  const { by, why, since, spread } = contentOf(job);
  const resumed = spread ? { by: spread.by, why: spread.why, from: spread.from } : null;
  return { type: job.type, key: keyOf(job), by, why, since, until: job.due >= never ? null : job.due, spread: resumed };
}

/** Returns what a record holds back. */
export function scopeOf({ type, gate }: Pick<Job, 'type' | 'gate'>): PauseScope {
  const { key = null, uses: [use] = [] } = gate === null ? {} : parseGate(gate);
  return use ? { limit: use.name } : { type, key };
}

/** Whether a job is in a scope. A job that its gate has admitted passes pauses of its key and of its limits. */
export function isInScope(scope: PauseScope, { kind, type, gate, admitted }: Pick<Job, 'kind' | 'type' | 'gate' | 'admitted'>): boolean {
  if (!isPausable(kind)) return false;
  if ('type' in scope && scope.key === null) return scope.type === type;
  if (gate === null || admitted) return false;
  const parsed = parseGate(gate);
  return 'limit' in scope
    ? (parsed.uses ?? []).some(({ name }) => name === scope.limit)
    : keyNameOf(parsed) === keyNameOf(scope);
}

/** Returns the key that a pause holds back; null: it holds back its whole type. */
export const keyOf = ({ gate }: Job): string | null => (gate === null ? null : parseGate(gate).key);
