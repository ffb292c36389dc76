/**
 * The schedule entry: a schedule as people write it in JSON and YAML, such as `{ cron: '30 2 * * *', zone:
 * 'Europe/Berlin' }`, with durations and times as text. The form with `kind`, in which schedules are stored, is accepted
 * too.
 */
import { Refusal } from '../refusal.ts';
import { formatDuration, type Duration } from './duration.ts';
import { at, checkSchedule, cron, every, repeat, type CronOptions, type EveryOptions, type Schedule } from './schedule.ts';

export type ScheduleEntry =
  | ({ readonly cron: string } & Readonly<CronOptions>)
  | ({ readonly every: Duration | number } & Readonly<EveryOptions>)
  | { readonly repeat: string }
  | { readonly at: string | number };

/** Returns the schedule of an entry. Refuses an entry that `cron`, `every`, `repeat` or `at` would refuse. */
export function scheduleFrom(entry: unknown): Schedule {
  if (typeof entry !== 'object' || entry === null || 'kind' in entry) return checkSchedule(entry);
  const [kind, another] = kinds.filter((each) => each in entry);
  if (kind === undefined || another !== undefined) throw oneOfKinds();
  const { [kind]: value, ...options } = entry as Readonly<Record<string, unknown>>;
  if (kind === 'cron') return cron(value as string, options);
  if (kind === 'every') return every(value as Duration, options);
  if (Object.keys(options).length > 0) throw noOptions(kind, Object.keys(options)[0]!);
  return kind === 'repeat' ? repeat(value as string) : at(value as string);
}

/** Returns the entry of a schedule: `scheduleFrom` returns the same schedule. Defaults are left out. */
export function scheduleEntry(schedule: Schedule): ScheduleEntry {
  switch (schedule.kind) {
    case 'cron': {
      const { text, zone, gap, overlap, spreadMs } = schedule;
      return {
        cron: text,
        ...(zone === 'UTC' ? {} : { zone }),
        ...(gap === undefined ? {} : { gap }),
        ...(overlap === undefined ? {} : { overlap }),
        ...spreadOf(spreadMs),
      };
    }
    case 'every': {
      const { everyMs, from, spreadMs } = schedule;
      return { every: durationText(everyMs), ...(from === 'scheduled' ? {} : { from }), ...spreadOf(spreadMs) };
    }
    case 'repeat': return { repeat: schedule.text };
    case 'at': return { at: Number.isInteger(schedule.at) ? new Date(schedule.at).toISOString() : schedule.at };
  }
}

const kinds = ['cron', 'every', 'repeat', 'at'] as const;

const durationText = (ms: number): Duration => formatDuration(ms) as Duration;

const spreadOf = (spreadMs: number | undefined): { readonly spread?: Duration } =>
  (spreadMs === undefined ? {} : { spread: durationText(spreadMs) });

const oneOfKinds = (): Refusal =>
  new Refusal('malformed.schedule', 'A schedule must have exactly one of cron, every, repeat and at.');

const noOptions = (kind: string, field: string): Refusal =>
  new Refusal('malformed.schedule', `A schedule with ${kind} has no ${field.slice(0, 40)}.`);
