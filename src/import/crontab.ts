/** Reads a crontab of graphile-worker: `minute hour day month weekday task ?options {payload}`, in UTC. */
import type { MisfireSettings } from '../engine/declare/job-def.ts';
import type { Duration } from '../time/duration.ts';
import type { ForeignSchedule } from './source.ts';

const timeField = '([0-9*/,-]+)\\s+';
const linePattern = new RegExp(`^${timeField.repeat(5)}(\\S+)(?:\\s+\\?(\\S+))?(?:\\s+(\\{.*\\}))?$`);
const lineForm = 'minute hour day month weekday task ?options {payload}';

export const readCrontab = (text: string): readonly ForeignSchedule[] =>
  text.split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
    .map(({ line, number }) => readLine(line, number));

/** A line that cannot be read becomes a schedule with the reason, so that it is reported like any other refusal. */
function readLine(line: string, number: number): ForeignSchedule {
  const [, minute, hour, day, month, weekday, task = '', optionText = '', payload] = linePattern.exec(line) ?? [];
  if (minute === undefined) return unreadable(line, number, `is not ${lineForm}`);
  const options = new URLSearchParams(optionText);
  const [days, weekdays] = [dayField(day!, 1, 31), dayField(weekday!, 0, 6)];
  const params = payloadOf(payload);
  if (params === undefined) return unreadable(line, number, 'has a payload that is not JSON: JSON5 is not supported');
  const [priority, attempts, fill] = [options.get('priority'), options.get('max'), options.get('fill')];
  return {
    name: options.get('id') ?? task,
    queue: task,
    schedule: { cron: [minute, hour, days, month, weekdays].join(' ') },
    payload: params,
    ...(priority === null ? {} : { priority: -Number(priority) }),
    ...(attempts === null ? {} : { attempts: Number(attempts) }),
    ...(fill === null ? {} : { misfire: backfill(fill) }),
  };
}

/** graphile-worker gives each run of a schedule an object, at least with the time of its tick. */
function payloadOf(text: string | undefined): unknown {
  if (text === undefined) return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const unreadable = (line: string, number: number, why: string): ForeignSchedule =>
  ({ name: `line ${number}`, queue: '', schedule: `line ${number} of the crontab ${why}: ${line.slice(0, 100)}` });

/** Every tick of the period is made good. A period such as `4w3d2h1m` is written with its longest units first. */
const backfill = (fill: string): MisfireSettings => ({ policy: 'all', window: `${fillMs(fill)}ms` as Duration });

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

const fillMs = (fill: string): number =>
  [...fill.matchAll(/(\d+)([smhdw])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * unitMs[unit!]!, 0);

/**
 * Writes a field of days as a list. If day and weekday are both restricted, a day needs to match only one of them; in
 * Stint, as in cron, a field with a star is no restriction, and in graphile-worker a field with all days is none.
 */
function dayField(field: string, min: number, max: number): string {
  if (!/^(?:\d+(?:-\d+)?|\*(?:\/\d+)?)(?:,(?:\d+(?:-\d+)?|\*(?:\/\d+)?))*$/.test(field)) return field;
  const days = new Set(field.split(',').flatMap((part) => daysOf(part, min, max)));
  if (days.size === max - min + 1) return '*';
  return [...days].toSorted((one, other) => one - other).join(',');
}

function daysOf(part: string, min: number, max: number): readonly number[] {
  const [range = '', step = '1'] = part.split('/');
  const [from, to] = range === '*' ? [min, max] : [Number(range.split('-')[0]), Number(range.split('-').at(-1))];
  const count = Math.min(100, Math.max(0, to - from + 1));
  const days = Array.from({ length: count }, (_, index) => from + index);
  // Sunday is 0 and 7.
  return days
    .filter((_, index) => index % Math.max(1, Number(step)) === 0)
    .map((day) => (max === 6 && day === 7 ? 0 : day));
}
