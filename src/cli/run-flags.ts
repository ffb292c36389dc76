/** The command-line options for a new run of a type or a definition. */
import { Option, type Command } from 'commander';
import type { DueNames } from '../engine/declare/due-time.ts';
import type { RunRequest } from '../engine/declare/run-request.ts';
import type { AfterFailure, FollowOn } from '../model/following.ts';
import type { Duration } from '../time/duration.ts';
import { jsonFlag } from './json-flag.ts';
import { wholeNumber } from './number-flag.ts';
import { tagsOf } from './tag-flag.ts';

export interface DueFlags {
  readonly due?: string;
  readonly dueTime?: string;
  readonly dueAt?: string;
}

export interface RunFlags extends DueFlags {
  readonly input?: string;
  readonly delay?: string;
  readonly startBy?: string;
  readonly priority?: string;
  readonly tag?: string[];
  readonly unique?: string;
  readonly follow?: string[];
  readonly on?: string;
  readonly afterFailure?: string;
  readonly alone?: boolean;
}

export const addAloneFlag = (command: Command): Command =>
  command.option('--alone', 'create no runs of the definitions that follow it');

export const addRunFlags = (command: Command): Command =>
  addDueFlags(command.option('--input <json>', 'input of the run'), ' (default: now)')
    .option('--delay <duration>', 'how long from now to run it, such as 10m')
    .option('--start-by <duration>', 'cancel it if it has not started so long after it is due')
    .option('--priority <n>', 'runs with a higher priority start first')
    .option('--tag <name=value...>', 'tags of the run')
    .option('--unique <key>', 'do not create it if an open run has this key')
    .option('--follow <id...>', 'start it after these runs have succeeded')
    .option('--on <end>', 'with --follow: start it after they have succeeded, failed or ended')
    .option('--after-failure <what>', 'with --follow: cancel, run or wait if one of them fails');

export const addDueFlags = (command: Command, remark = ''): Command =>
  command
    .option('--due <time>', `when to run it, in ISO 8601 with a zone${remark}; also --due-time and --due-at`)
    .addOption(new Option('--due-time <time>').hideHelp())
    .addOption(new Option('--due-at <time>').hideHelp());

export const runRequestOf = (
  { input, delay, startBy, priority, tag, unique, follow, on, afterFailure, alone, ...times }: RunFlags,
): RunRequest<unknown> => ({
  ...(input === undefined ? {} : { input: jsonFlag('--input', input) }),
  ...dueNamesOf(times),
  ...(delay === undefined ? {} : { delay: delay as Duration }),
  ...(startBy === undefined ? {} : { startBy: startBy as Duration }),
  ...(priority === undefined ? {} : { priority: wholeNumber('--priority', priority) }),
  ...(tag === undefined ? {} : { tags: tagsOf(tag) }),
  ...(unique === undefined ? {} : { unique }),
  ...(follow === undefined ? {} : { after: follow.map((id) => wholeNumber('--follow', id)) }),
  ...(on === undefined ? {} : { on: on as FollowOn }),
  ...(afterFailure === undefined ? {} : { afterFailure: afterFailure as AfterFailure }),
  ...(alone ? { followers: false } : {}),
});

/** Passes on each due option under its own name. If more than one was given, the engine refuses the request. */
export const dueNamesOf = ({ due, dueTime, dueAt }: DueFlags): DueNames<string> => ({
  ...(due === undefined ? {} : { due }),
  ...(dueTime === undefined ? {} : { dueTime }),
  ...(dueAt === undefined ? {} : { dueAt }),
});
