// A definition that ticks every second while past ticks of its minutes are backfilled.
import { cron, every, jobDef, jobType } from '../../../../src/index.ts';

export const minute = jobType('minute', { run: () => {} });

export const defs = [
  jobDef('minutely', minute, { schedules: [cron('* * * * *', { zone: 'UTC' }), every('1s')], overlap: 'allow' }),
];
