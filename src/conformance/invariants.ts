/** The invariants of stored histories, checked by tests. */
import { fail } from 'node:assert/strict';
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { checkHistory as violationsOf } from '../verify/history.ts';
import { violationText } from '../verify/violation.ts';

/** Throws the first violated invariant of the history, for example that replaying it gives the job. */
export function checkHistory(job: Job, events: readonly Event[]): void {
  const [first] = violationsOf({ job, events });
  if (first) fail(violationText(first));
}
