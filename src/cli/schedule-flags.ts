/** The command-line options for a schedule. */
import type { Command } from 'commander';
import { Refusal } from '../refusal.ts';
import type { Duration } from '../time/duration.ts';
import { at, cron, every, repeat, type Schedule } from '../time/schedule.ts';

export interface ScheduleFlags {
  readonly cron?: string;
  readonly every?: string;
  readonly repeat?: string;
  readonly at?: string;
  readonly zone?: string;
}

export const addScheduleFlags = (command: Command): Command =>
  command
    .option('--cron <text>', "cron expression, such as '30 2 * * *'")
    .option('--every <duration>', 'interval, such as 15m')
    .option('--repeat <rule>', "repeat pattern, such as 'SCHEDULED, +1 DAY'")
    .option('--at <time>', 'a single time, in ISO 8601 with a zone')
    .option('--zone <name>', 'IANA time zone of --cron (default: UTC)');

/** Returns the schedule that the options describe; null: none of --cron, --every, --repeat and --at was given. */
export function scheduleOf({
  cron: text,
  every: interval,
  repeat: rule,
  at: time,
  zone,
}: ScheduleFlags): Schedule | null {
  const count = [text, interval, rule, time].filter((each) => each !== undefined).length;
  if (count > 1) throw new Refusal('malformed.schedule', 'use only one of --cron, --every, --repeat and --at', {});
  if (zone !== undefined && text === undefined) {
    throw new Refusal('malformed.schedule', '--zone is the time zone of --cron: use it only with --cron', {});
  }
  if (interval !== undefined) return every(interval as Duration);
  if (rule !== undefined) return repeat(rule);
  if (time !== undefined) return at(time);
  return text === undefined ? null : cron(text, { zone: zone ?? 'UTC' });
}
