/** Describing schedules in words. */
import { parseCron, type CronSpec } from './cron.ts';
import type { CronField } from './cron-fields.ts';
import { formatTimestamp } from './instant.ts';
import { parseRepeat, type Modifier } from './repeat.ts';
import type { CronSchedule, EverySchedule, Schedule } from './schedule.ts';

/** Returns a text such as "every day at 02:30 Europe/Berlin" or "15 minutes after each run has finished". */
export function describeSchedule(schedule: Schedule): string {
  switch (schedule.kind) {
    case 'cron': return describeCron(schedule);
    case 'every': return describeEvery(schedule);
    case 'repeat': return describeRepeat(schedule.text);
    case 'at': return `once at ${formatTimestamp(schedule.at)} UTC`;
  }
}

const weekdayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const monthNames = [
  'January', 'February', 'March', 'April', 'May', 'June',
  'July', 'August', 'September', 'October', 'November', 'December',
];
const ordinals = ['last', 'first', 'second', 'third', 'fourth', 'fifth'];

function describeCron({ text, zone }: CronSchedule): string {
  const spec = parseCron(text);
  const [times, days] = [timesOf(spec), daysOf(spec)];
  if (times === null) return `by cron ${text} ${zone}`;
  if (times.startsWith('at ')) return `${days} ${times} ${zone}`;
  return days === 'every day' ? `${times} ${zone}` : `${times}, ${days} ${zone}`;
}

/**
 * The maximum number of times such as 02:30 in a text. With more, the text gives a step of hours or the cron
 * expression.
 */
const timesMax = 4;

/** Returns "at 02:30", "every 15 minutes" or the like; null: there are no short words for these times. */
function timesOf({ seconds, minutes, hours }: CronSpec): string | null {
  if (seconds.values.length === 60 && isAll(minutes, 60) && isAll(hours, 24)) return 'every second';
  if (seconds.values.length > 1) return null;
  const second = seconds.values[0]!;
  if (isAll(hours, 24) && second === 0) return minutesOf(minutes);
  if (minutes.values.length * hours.values.length > timesMax) return stepOfHours(minutes, hours, second);
  const end = second === 0 ? '' : `:${two(second)}`;
  const times = hours.values.flatMap((hour) => minutes.values.map((minute) => `${two(hour)}:${two(minute)}${end}`));
  return `at ${listed(times)}`;
}

function minutesOf(minutes: CronField): string | null {
  if (isAll(minutes, 60)) return 'every minute';
  const step = stepOf(minutes, 60);
  if (step !== null) return `every ${step} minutes`;
  if (minutes.values.length > timesMax) return null;
  return `every hour at minute${minutes.values.length === 1 ? '' : 's'} ${listed(minutes.values)}`;
}

function stepOfHours(minutes: CronField, hours: CronField, second: number): string | null {
  const step = stepOf(hours, 24);
  if (step === null || minutes.values.length !== 1 || second !== 0) return null;
  const [minute] = minutes.values;
  return `every ${step} hours${minute === 0 ? '' : ` at minute ${minute}`}`;
}

function daysOf(spec: CronSpec): string {
  const names = spec.months.values.map((month) => monthNames[month - 1]!);
  const months = isAll(spec.months, 12) ? '' : ` in ${listed(names)}`;
  const byDay = dayWords(spec);
  const byWeekday = weekdayWords(spec);
  if (byDay === null && byWeekday === null) return `every day${months}`;
  const link = spec.eitherDay ? ' or ' : ' if it is also ';
  return [byDay, byWeekday].filter((words) => words !== null).join(link) + months;
}

function dayWords({ days, lastDay }: CronSpec): string | null {
  if (isAll(days, 31)) return null;
  const numbers = days.values.length === 0 ? [] : [`day ${listed(days.values)}`];
  return `on ${[...numbers, ...(lastDay ? ['the last day'] : [])].join(' and ')} of the month`;
}

function weekdayWords({ weekdays, nthWeekdays }: CronSpec): string | null {
  if (isAll(weekdays, 7)) return null;
  if (weekdays.values.join() === '1,2,3,4,5' && nthWeekdays.length === 0) return 'Monday to Friday';
  const nth = nthWeekdays.map((day) => `the ${ordinals[day.nth]} ${weekdayNames[day.weekday]} of the month`);
  const every = weekdays.values.map((weekday) => weekdayNames[weekday]!);
  return every.length > 0 && nth.length === 0 ? `every ${listed(every)}` : `on ${listed([...every, ...nth])}`;
}

function isAll(field: CronField, size: number): boolean {
  return field.values.length === size;
}

/** Returns n if the values are 0, n, 2n and so on below `size`, and n divides `size`; null: they have no such step. */
function stepOf({ values }: CronField, size: number): number | null {
  const step = size / values.length;
  return Number.isInteger(step) && step < size && values.every((value, index) => value === index * step) ? step : null;
}

function describeEvery({ everyMs, from }: EverySchedule): string {
  const length = lengthOf(everyMs);
  if (from === 'scheduled') return `every ${length.replace(/^1 (?!.*\d)/, '')}`;
  return `${length} after each run has ${from}`;
}

const units: ReadonlyArray<readonly [string, number]> = [
  ['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000], ['millisecond', 1],
];

function lengthOf(ms: number): string {
  let left = ms;
  return units.flatMap(([name, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count} ${name}${count === 1 ? '' : 's'}`];
  }).join(' ');
}

function describeRepeat(text: string): string {
  const { base, modifiers } = parseRepeat(text);
  const from = { scheduled: 'each scheduled time', started: 'the start of each run', finished: 'the end of each run' };
  return `counted from ${from[base]}: ${modifiers.map(modifierWords).join(', ')} UTC`;
}

function modifierWords(modifier: Modifier): string {
  switch (modifier.kind) {
    case 'add': {
      const { amount, unit } = modifier;
      return `${amount < 0 ? '' : '+'}${amount} ${unit}${Math.abs(amount) === 1 ? '' : 's'}`;
    }
    case 'startOf': return `start of ${modifier.unit}`;
    case 'weekday': return `next ${weekdayNames[modifier.weekday]}`;
  }
}

function listed(values: ReadonlyArray<string | number>): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} and ${values.at(-1)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
