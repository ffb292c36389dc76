/** Validates the end of a pause. */
import { Refusal } from '../../refusal.ts';

/** Returns why a pause cannot end at `until`; null: it can. */
export const pauseEndRefusalOf = (until: number | null, now: number): Refusal | null =>
  until === null || until > now ? null : new Refusal('malformed.time', 'the end of a pause must be in the future', { until });
