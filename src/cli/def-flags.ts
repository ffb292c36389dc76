/** The command-line options for the settings of a definition. Most of them have the name of an option of `jobDef`. */
import type { Command } from 'commander';
import type { DefOptions } from '../engine/declare/job-def.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { Refusal } from '../refusal.ts';
import type { Duration } from '../time/duration.ts';
import { jsonFlag } from './json-flag.ts';
import { wholeNumber } from './number-flag.ts';
import { addScheduleFlags, scheduleOf, type ScheduleFlags } from './schedule-flags.ts';
import { tagsOf } from './tag-flag.ts';

export interface DefFlags extends ScheduleFlags {
  readonly params?: string;
  readonly after?: string[];
  readonly on?: string;
  readonly afterFailure?: string;
  readonly overlap?: string;
  readonly misfire?: string;
  readonly concurrency?: string;
  readonly priority?: string;
  readonly timeout?: string;
  readonly retention?: string;
  readonly attempts?: string;
  readonly leaderOnly?: boolean;
  readonly manualRuns?: boolean;
  readonly tag?: string[];
  readonly settings?: string;
}

export const addDefFlags = (command: Command): Command =>
  addScheduleFlags(command)
    .option('--params <json>', 'input of its runs')
    .option('--after <name...>', 'definitions that it follows, instead of a schedule')
    .option('--on <end>', 'which end of their runs starts a run: succeeded, failed or ended')
    .option('--after-failure <act>', 'if one of their runs does not succeed: cancel, run or wait')
    .option('--overlap <policy>', 'while a run is open: skip, allow, queue or replace')
    .option('--misfire <policy>', 'missed ticks: once, all or skip')
    .option('--concurrency <n>', 'runs at a time')
    .option('--priority <n>', 'runs with a higher priority start first')
    .option('--timeout <duration>', 'how long an attempt may take')
    .option('--retention <duration>', 'how long ended runs are kept')
    .option('--attempts <n>', 'attempts in total')
    .option('--leader-only', 'only the leader runs it')
    .option('--no-manual-runs', 'only its schedules create runs')
    .option('--tag <name=value...>', 'tags of its runs')
    .option('--settings <json>', 'any settings, as in POST /defs; other options take precedence');

export async function defOptionsOf(flags: DefFlags): Promise<DefOptions<unknown>> {
  const schedule = scheduleOf(flags);
  const { params, after, on, afterFailure, overlap, misfire, concurrency, priority } = flags;
  const { timeout, retention, attempts, leaderOnly, tag } = flags;
  return {
    ...(await settingsOf(flags.settings)),
    ...(schedule === null ? {} : { schedules: [schedule] }),
    ...(params === undefined ? {} : { params: jsonFlag('--params', params) }),
    ...(after === undefined ? {} : { after }),
    ...(on === undefined ? {} : { on: on as 'ended' }),
    ...(afterFailure === undefined ? {} : { afterFailure: afterFailure as 'wait' }),
    ...(overlap === undefined ? {} : { overlap: overlap as 'skip' }),
    ...(misfire === undefined ? {} : { misfire: misfire as 'once' }),
    ...(concurrency === undefined ? {} : { concurrency: wholeNumber('--concurrency', concurrency) }),
    ...(priority === undefined ? {} : { priority: wholeNumber('--priority', priority) }),
    ...(timeout === undefined ? {} : { timeout: timeout as Duration }),
    ...(retention === undefined ? {} : { retention: retention as Duration }),
    ...(attempts === undefined ? {} : { retry: { attempts: wholeNumber('--attempts', attempts) } }),
    ...(leaderOnly === undefined ? {} : { leaderOnly }),
    // Without --no-manual-runs, Commander sets `manualRuns` to true, so true does not mean that the user chose it.
    ...(flags.manualRuns === false ? { manualRuns: false } : {}),
    ...(tag === undefined ? {} : { tags: tagsOf(tag) }),
  };
}

async function settingsOf(text: string | undefined): Promise<object> {
  if (text === undefined) return {};
  const settings = jsonFlag('--settings', text);
  if (isJsonObject(settings)) return { ...settings, ...(await schedulesOf(settings['schedules'])) };
  throw new Refusal('malformed.option', '--settings takes a JSON object, such as {"timeout":"5m"}', {});
}

const isJsonObject = (json: Json): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

async function schedulesOf(schedules: Json | undefined): Promise<object> {
  if (schedules == null) return {};
  const { schedulesFrom } = await import('./settings-schedules.ts');
  return { schedules: schedulesFrom(schedules) };
}
