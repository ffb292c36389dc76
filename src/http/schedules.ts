/**
 * Parses the schedule of a request: the short form, such as `{ cron: '0 * * * *' }`, or the form with `kind`, in which
 * responses show the schedules of definitions.
 */
import { at, type Schedule } from '../time/schedule.ts';
import { scheduleFrom } from '../time/schedule-entry.ts';
import type { ScheduleRequest } from './contract.ts';
import { instantOf } from './filter.ts';

export const scheduleOf = (request: ScheduleRequest): Schedule =>
  (!('kind' in request) && 'at' in request ? at(instantOf(request.at)) : scheduleFrom(request));
