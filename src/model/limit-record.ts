/** The record of a named limit: the values that code declares, and the override of an operator. */
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
}

export const limitContentOf = (input: string): LimitContent => JSON.parse(input) as LimitContent;

export const limitValuesOf = ({ code, override }: Pick<LimitContent, 'code' | 'override'>): LimitValues =>
  ({ ...noLimitValues, ...code, ...override });
