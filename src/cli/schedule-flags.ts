/** The options that say when. */
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

export const scheduled = (command: Command): Command =>
  command
    .option('--cron <text>', "such as '30 2 * * *'")
    .option('--every <duration>', 'such as 15m')
    .option('--repeat <rule>', "such as 'SCHEDULED, +1 DAY'")
    .option('--at <time>', 'once, in ISO 8601 with a zone')
    .option('--zone <name>', 'of --cron, by its IANA name (else UTC)');

/** Null: none was said. */
export function scheduleOf({
  cron: text,
  every: interval,
  repeat: rule,
  at: time,
  zone,
}: ScheduleFlags): Schedule | null {
  const count = [text, interval, rule, time].filter((each) => each !== undefined).length;
  if (count > 1) throw new Refusal('malformed.schedule', 'say only one of --cron, --every, --repeat and --at', {});
  if (interval !== undefined) return every(interval as Duration);
  if (rule !== undefined) return repeat(rule);
  if (time !== undefined) return at(time);
  return text === undefined ? null : cron(text, { zone: zone ?? 'UTC' });
}
