/** The invariants of stored histories, checked by tests. */
import { fail } from 'node:assert/strict';
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { checkHistory as violationsOf } from '../verify/history.ts';
import { violationText } from '../verify/violation.ts';

/** Throws if the history violates an invariant, for example if replaying the history does not give the job. */
export function checkHistory(job: Job, events: readonly Event[]): void {
  const [first] = violationsOf({ job, events });
  if (first) fail(violationText(first));
}
