/** Finds the next wall time that a cron expression allows, by walking over the calendar. */
import { civilOf, dayMs, daysInMonth, daysOf, weekdayOf } from './civil.ts';
import type { CronSpec } from './cron-fields.ts';
import { instantMax } from './instant.ts';

// How many years ahead the search for a day goes. The rarest dates, such as 29 February on a Friday, come every 28
// years, or after 40 years around a century without a leap day. A search over 41 years visits fewer than 500 months and
// 15,000 days.
const yearsMax = 41;

/** Returns the first matching wall time after `after`; null: none within `yearsMax`, or none before the year 10000. */
export function nextWall(spec: CronSpec, after: number): number | null {
  const second = Math.floor(after / 1000) + 1;
  const today = Math.floor(second / 86_400);
  const time = isDay(spec, today) ? timeFrom(spec, second - today * 86_400) : -1;
  if (time !== -1) return today * dayMs + time * 1000;
  const day = nextDay(spec, today + 1);
  if (day === null) return null;
  const wall = day * dayMs + timeFrom(spec, 0) * 1000;
  return wall <= instantMax ? wall : null;
}

/** Returns the first allowed second of a day that is at or after `secondOfDay`; -1: none. */
function timeFrom({ seconds, minutes, hours }: CronSpec, secondOfDay: number): number {
  const [h, m, s] = [Math.floor(secondOfDay / 3600), Math.floor(secondOfDay / 60) % 60, secondOfDay % 60];
  const hour = hours.from[h]!;
  if (hour === h) {
    const minute = minutes.from[m]!;
    const second = minute === m ? seconds.from[s]! : seconds.values[0]!;
    if (minute !== -1 && second !== -1) return (h * 60 + minute) * 60 + second;
    const nextMinute = minutes.from[m + 1]!;
    if (minute === m && nextMinute !== -1) return (h * 60 + nextMinute) * 60 + seconds.values[0]!;
  }
  const nextHour = hour === h ? hours.from[h + 1]! : hour;
  return nextHour === -1 ? -1 : (nextHour * 60 + minutes.values[0]!) * 60 + seconds.values[0]!;
}

function nextDay(spec: CronSpec, from: number): number | null {
  const start = civilOf(from);
  let { year, month, day } = start;
  while (year - start.year < yearsMax) {
    const found = spec.months.from[month] === month ? nextDayOfMonth(spec, year, month, day) : null;
    if (found !== null) return found;
    day = 1;
    month = month === 12 ? 1 : month + 1;
    if (month === 1) year += 1;
  }
  return null;
}

function nextDayOfMonth(spec: CronSpec, year: number, month: number, first: number): number | null {
  const length = daysInMonth(year, month);
  const start = daysOf(year, month, 1) - 1;
  for (let day = first; day <= length; day += 1) {
    if (isDayOfMonth(spec, day, length, weekdayOf(start + day))) return start + day;
  }
  return null;
}

function isDay(spec: CronSpec, days: number): boolean {
  const { year, month, day } = civilOf(days);
  return spec.months.from[month] === month
    && isDayOfMonth(spec, day, daysInMonth(year, month), weekdayOf(days));
}

function isDayOfMonth(spec: CronSpec, day: number, length: number, weekday: number): boolean {
  const byDay = spec.days.from[day] === day || (spec.lastDay && day === length);
  const byWeekday = spec.weekdays.from[weekday] === weekday || isNthWeekday(spec, day, length, weekday);
  return spec.eitherDay ? byDay || byWeekday : byDay && byWeekday;
}

function isNthWeekday({ nthWeekdays }: CronSpec, day: number, length: number, weekday: number): boolean {
  return nthWeekdays.some((wanted) =>
    wanted.weekday === weekday && (wanted.nth === 0 ? day > length - 7 : Math.ceil(day / 7) === wanted.nth));
}
