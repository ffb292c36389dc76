/**
 * Parses the schedule of a request: the short form, such as `{ cron: '0 * * * *' }`, or the form with `kind`, in which
 * responses show the schedules of definitions.
 */
import { at, checkSchedule, cron, every, repeat, type Schedule } from '../time/schedule.ts';
import type { Duration } from '../time/duration.ts';
import type { ScheduleRequest } from './contract.ts';
import { instantOf } from './filter.ts';

export function scheduleOf(request: ScheduleRequest): Schedule {
  if ('kind' in request) return checkSchedule(request);
  if ('cron' in request) {
    const { cron: text, ...options } = request;
    return cron(text, options as Parameters<typeof cron>[1]);
  }
  if ('every' in request) {
    const { every: interval, ...options } = request;
    return every(interval as Duration | number, options as Parameters<typeof every>[1]);
  }
  if ('repeat' in request) return repeat(request.repeat);
  return at(instantOf(request.at));
}
