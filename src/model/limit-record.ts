/** The record of a named limit: the values that code declares, and the override of an operator. */
import { never } from './definition.ts';
import { noLimitValues, type LimitValues } from './limit.ts';

export interface LimitContent {
  readonly name: string;
  /** The values in the code; null: no program has declared the limit. */
  readonly code: LimitValues | null;
  readonly keyed: boolean;
  /** Replaces values of the code until it is removed; survives deploys. */
  readonly override: Partial<LimitValues> | null;
  /** Who set the override, and why. */
  readonly by: string | null;
  readonly why: string | null;
  /** Set while an operator keeps jobs from starting; absent: the limit is not paused. */
  readonly paused?: LimitPause;
  /** The time after which no job that uses the paused limit was claimed; absent: the pause was not answered yet. */
  readonly pauseConfirmed?: number;
  /** When an operator last made the limit forget what is used of it; absent: never. */
  readonly reopened?: number;
}

/** The pause of a named limit: no job that uses it starts until it ends. */
export interface LimitPause {
  readonly by: string;
  readonly why: string | null;
  readonly since: number;
  /** When it ends by itself; null: when somebody resumes the limit. */
  readonly until: number | null;
}

export const limitContentOf = (input: string): LimitContent => JSON.parse(input) as LimitContent;

export const limitValuesOf = ({ code, override, paused }: Pick<LimitContent, 'code' | 'override' | 'paused'>): LimitValues =>
  ({ ...noLimitValues, ...code, ...override, ...(paused ? { pausedUntil: paused.until ?? never } : {}) });

/** Returns the pause of a limit that is in force at `now`; null: there is none. */
export const limitPauseAt = ({ paused }: LimitContent, now: number): LimitPause | null =>
  paused && (paused.until === null || paused.until > now) ? paused : null;
