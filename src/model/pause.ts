/**
 * The pause: a record that keeps the jobs of a type, or those with one key of a type, from being claimed. It is a
 * pending job of kind `pause` whose type is the paused type. It is in force until its due time, by which an index finds
 * it. The pause of a key has the gate of that key, the pause of a type has none.
 */
import { never } from './definition.ts';
import { parseGate } from './gate.ts';
import type { Job } from './job.ts';
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
}

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
}

/** Whether a pause applies to jobs of this kind. Definitions of a paused type go on creating runs, which then wait. */
export const isPausable = (kind: Kind): boolean => jobKinds.includes(kind);

export const contentOf = ({ input }: Job): PauseContent => JSON.parse(input) as PauseContent;

export const isInForce = ({ kind, state, due }: Job, now: number): boolean =>
  kind === 'pause' && state === 'pending' && due > now;

export function pauseOf(job: Job): Pause {
  const { by, why, since } = contentOf(job);
  return { type: job.type, key: keyOf(job), by, why, since, until: job.due >= never ? null : job.due };
}

/** Returns the key that a pause holds back; null: it holds back its whole type. */
export const keyOf = ({ gate }: Job): string | null => (gate === null ? null : parseGate(gate).key);
