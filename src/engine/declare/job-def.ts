/** The job definition as declared in code: a type, its parameters, schedules and settings. */
import { overlaps, type Overlap, type Spec, type SpecGate } from '../../model/definition.ts';
import { jsonText, parseJson } from '../../model/json.ts';
import { checkName, checkPriority } from '../../jobs/checks/values.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { checkSchedule, type Schedule } from '../../time/schedule.ts';
import { checkMisfire, type Misfire } from '../../time/ticks.ts';
import { hasTasks, type AnyOptions, type JobType, type Settings } from './job-type.ts';
import { policyOf } from './policy.ts';

export interface DefOptions<Input> extends Settings {
  /** The input of its runs. */
  readonly params?: Input;
  /** When runs are due: `cron()`, `every()`, `repeat()`, `at()`, or several of them. */
  readonly schedules?: readonly Schedule[] | Schedule;
  /** The effect of a tick while a run is open: `skip` (default), `allow`, `queue`, or `replace` the run. */
  readonly overlap?: Overlap;
  /** How to make up for missed ticks: `once` (default) runs the newest, `all` runs each, `skip` runs none. */
  readonly misfire?: Misfire['policy'] | MisfireSettings;
  /** How many of its runs may be running at a time, across all instances. */
  readonly concurrency?: number;
  /** False: the definition is created disabled. A deploy does not undo the setting of an operator. */
  readonly enabled?: boolean;
  /** Only the leader runs it. */
  readonly leaderOnly?: boolean;
  /** Keeps its runs in the memory of this process, not in the database. */
  readonly inMemory?: boolean;
  /** False: only its schedules create runs. */
  readonly manualRuns?: boolean;
  /** Overlap considers all runs of its type, scheduled or manual. */
  readonly onePerType?: boolean;
  /** The tags of each of its runs. */
  readonly tags?: Readonly<Record<string, string>>;
}

export interface MisfireSettings {
  /** `skip`, `once` or `all`. */
  readonly policy: Misfire['policy'];
  /** How far back missed ticks are made up for. Default: 1d. */
  readonly window?: Duration;
  /** The maximum number of missed ticks to make up for. Default: 100. */
  readonly cap?: number;
  /** How late a tick may be before it counts as missed. Default: 1m. */
  readonly grace?: Duration;
}

export interface JobDef<Input = never, Result = unknown> {
  readonly name: string;
  readonly type: JobType<Input, Result>;
  readonly spec: Spec;
  readonly enabled: boolean;
}

/** A definition with any input and result. */
// oxlint-disable-next-line typescript/no-explicit-any -- neither unknown nor never fits every type
export type AnyJobDef = JobDef<any, any>;

export function jobDef<Input, Result>(
  name: string,
  type: JobType<Input, Result>,
  options: DefOptions<NoInfer<Input>> = {},
): JobDef<Input, Result> {
  checkName('definition', name);
  return Object.freeze({ name, type, spec: specFrom(type as JobType, options), enabled: options.enabled ?? true });
}

/** A complete spec: an absent option has the value of the type, or the default. */
export function specFrom(type: JobType, options: DefOptions<unknown>): Spec {
  const { options: typeOptions } = type;
  return {
    type: type.name,
    params: parseJson(jsonText(options.params ?? null)),
    schedules: [options.schedules ?? []].flat().map(checkSchedule),
    policy: { ...policyOf(typeOptions), ...policyOf(options), ...(options.leaderOnly ? { leaderOnly: true } : {}) },
    priority: checkPriority(options.priority ?? typeOptions.priority ?? 0),
    overlap: checkOverlap(options.overlap ?? 'skip'),
    misfire: misfireOf(options.misfire ?? 'once'),
    onePerType: options.onePerType ?? typeOptions.onePerType ?? false,
    inMemory: options.inMemory ?? false,
    manualRuns: options.manualRuns ?? true,
    tags: options.tags ?? null,
    phase: hasTasks(type) ? 'prepare' : 'run',
    gate: gateOf(typeOptions, options),
    limitKey: typeOptions.limit && options.params !== undefined ? typeOptions.limit.key(options.params) : null,
  };
}

/** Null: its runs are not limited. */
function gateOf(type: AnyOptions, { concurrency, overlap, onePerType }: DefOptions<unknown>): SpecGate | null {
  const typeMax = (onePerType ?? type.onePerType) ? 1 : type.concurrency;
  const defMax = overlap === 'queue' ? 1 : concurrency;
  if (typeMax === undefined && defMax === undefined) return null;
  return { ...(typeMax === undefined ? {} : { typeMax }), ...(defMax === undefined ? {} : { defMax }) };
}

function misfireOf(setting: Misfire['policy'] | MisfireSettings): Misfire {
  const settings: MisfireSettings = typeof setting === 'string' ? { policy: setting } : setting;
  const { policy, window = '1d', cap = 100, grace = '1m' } = settings;
  return checkMisfire({ policy, windowMs: durationMs(window), cap, graceMs: durationMs(grace) });
}

function checkOverlap(overlap: Overlap): Overlap {
  if (overlaps.includes(overlap)) return overlap;
  throw new Refusal('malformed.option', `overlap must be one of ${overlaps.join(', ')}`, { overlap });
}
