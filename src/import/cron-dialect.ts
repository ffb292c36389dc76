/**
 * The cron dialect of cron-parser, which pg-boss and BullMQ use. If day of month and weekday are both restricted, a day
 * needs to match only one of them, as in Stint. But there a step over all days is a restriction, too; in Stint, as in
 * cron, a field with a star is none.
 */
import type { ScheduleEntry } from '../time/schedule-entry.ts';

const everyDay = ['*', '?'];

export function cronEntry(text: string, zone: string): ScheduleEntry {
  const fields = text.trim().split(/\s+/);
  const day = fields.length - 3;
  const weekday = fields.length - 1;
  const restrictsBoth = fields.length >= 5 && [day, weekday].every((index) => !everyDay.includes(fields[index]!));
  const cron = restrictsBoth
    ? fields.map((field, index) =>
      (index === day ? field.replace('*', '1-31') : index === weekday ? field.replace('*', '0-6') : field)).join(' ')
    : text.trim();
  return { cron, ...(zone === 'UTC' ? {} : { zone }) };
}
