/** Schedules as they are said over the wire: short, or as a definition tells them. */
import { at, checkSchedule, cron, every, repeat, type Schedule } from '../time/schedule.ts';
import type { Duration } from '../time/duration.ts';
import type { ScheduleAsk } from './contract.ts';
import { instantOf } from './filter.ts';

export function scheduleOf(said: ScheduleAsk): Schedule {
  if ('kind' in said) return checkSchedule(said);
  if ('cron' in said) {
    const { cron: text, ...options } = said;
    return cron(text, options as Parameters<typeof cron>[1]);
  }
  if ('every' in said) {
    const { every: interval, ...options } = said;
    return every(interval as Duration | number, options as Parameters<typeof every>[1]);
  }
  if ('repeat' in said) return repeat(said.repeat);
  return at(instantOf(said.at));
}
