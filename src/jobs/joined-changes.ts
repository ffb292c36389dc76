/** Joins two changes of a job, the second of which was decided on what the first leaves: one row, with the events of both. */
import type { Change } from '../model/change.ts';
import type { EventBody } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { record, type Asking } from '../model/machine.ts';

export const joined = (first: Change, next: Change): Change =>
  ({ ...next, before: first.before, events: [...first.events, ...next.events] });

/** Returns a change that also records these events. */
export const alsoRecord = (first: Change, bodies: (job: Job) => readonly EventBody[], asking: Asking): Change =>
  joined(first, record(first.after!, bodies(first.after!), asking));
