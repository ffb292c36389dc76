/** The columns of an open job as they are written: its own first, then those that it may share with others. */
import type { SQLInputValue } from 'node:sqlite';
import type { Job, OpenJob } from '../../../model/job.ts';
import { openRow } from '../../row.ts';

const ownNames = 'id, input';

const sharedNames =
  'version, kind, type, def, parent, created, state, hold, phase, priority, due, fence, holder, lease_until, gate, ' +
  'admitted, cancel_asked, lane, body, history';

export const openNames = `${ownNames}, ${sharedNames}`;

export const sharedCount = sharedNames.split(',').length;

export const openCount = openNames.split(',').length;

export const openValues = (job: OpenJob, line: string): SQLInputValue[] =>
  [job.id, job.input, ...sharedValues(job, line)];

export function sharedValues(job: OpenJob, line: string): SQLInputValue[] {
  const row = openRow(job);
  return [
    row.version, row.kind, row.type, row.def, row.parent, row.created, row.state, row.hold, row.phase, row.priority,
    row.due, row.fence, row.holder, row.lease_until, row.gate, row.admitted, row.cancel_asked, laneOf(job), row.body, line,
  ];
}

/** Where it waits: 1 claimable, 2 at its gate, 0 neither. */
export const laneOf = (job: Job): number => (job.state !== 'pending' ? 0 : job.gate === null || job.admitted ? 1 : 2);

export const placeholders = Array(openCount).fill('?').join(', ');
