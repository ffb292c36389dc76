/**
 * The schedules in `--settings`. Each has one of two forms: the short form of requests to the HTTP API, or the form
 * with `kind` in which the HTTP API returns the schedules of definitions.
 */
import { z } from 'zod';
import { ScheduleRequest } from '../http/contract/requests.ts';
import { scheduleOf } from '../http/schedules.ts';
import type { Json } from '../model/json.ts';
import { Refusal } from '../refusal.ts';
import type { Schedule } from '../time/schedule.ts';

export function schedulesFrom(settings: Json): readonly Schedule[] {
  const { data, error } = z.array(ScheduleRequest).safeParse(settings);
  if (data) return data.map(scheduleOf);
  throw new Refusal('malformed.schedule', `the schedules in --settings cannot be read: ${z.prettifyError(error)}`, {});
}
