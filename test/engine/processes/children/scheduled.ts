// Very many definitions that are due at the same moments.
import { cron, jobDef, jobType } from '../../../../src/index.ts';

const count = Number(process.env['STINT_DEFINITIONS'] ?? 1_000);

export const ticked = jobType('ticked', { run: () => {} });

export const defs = Array.from({ length: count }, (_, index) =>
  jobDef(`def ${index}`, ticked, { schedules: cron('*/15 * * * * *', { zone: 'UTC' }) }));
