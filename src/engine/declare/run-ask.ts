/** The run that is asked for: what a producer says of one, and the draft it becomes. */
import { overlapKey, specOf } from '../../model/definition.ts';
import type { KnownDefinition } from '../../jobs/define.ts';
import type { Draft, UniqueAsk } from '../../jobs/draft.ts';
import { draftOf } from '../../jobs/tick.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { parseInstant } from '../../time/instant.ts';
import type { JobDef } from './job-def.ts';
import { hasTasks, type JobType } from './job-type.ts';
import { policyOf } from './policy.ts';
import { checked } from './schema.ts';

export interface RunAsk<Input> {
  /** What the handler is given; checked by the type's schema. */
  readonly input?: Input;
  /** Not before then. Default: now. */
  readonly dueTime?: Date | string | number;
  /** From now; instead of `dueTime`. */
  readonly delay?: Duration;
  /** Not started within this time of being due: it ends as cancelled. */
  readonly startBy?: Duration;
  /** Higher goes first. Default: that of the type or definition. */
  readonly priority?: number;
  /** Only one run with this key: while it is open, or for a time. */
  readonly unique?: string | { readonly key: string; readonly onTaken?: 'keep' | 'update'; readonly for?: Duration };
  /** Names and values to find it by. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** A type, or a definition of one. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any input and result
export type Runnable = JobType<any, any> | JobDef<any, any>;

/** What a run gives. */
export type ResultOf<What extends Runnable> =
  What extends JobDef<never, infer Result> ? Result : What extends JobType<never, infer Result> ? Result : never;

/** An input may be left out only where there is one already, in the definition, or where none is needed. */
export type AskOf<What extends Runnable> =
  What extends JobDef<infer Input, unknown> ? [ask?: RunAsk<Input>]
  : What extends JobType<infer Input, unknown> ? AskFor<Input>
  : never;

type AskFor<Input> = undefined extends Input ? [ask?: RunAsk<Input>] : [ask: RunAsk<Input> & { readonly input: Input }];

/** A run of a type, without a definition. */
export async function draftOfType(type: JobType, ask: RunAsk<unknown>, now: number): Promise<Draft> {
  const { options } = type;
  const typeMax = options.onePerType ? 1 : options.concurrency;
  const draft: Draft = {
    type: type.name,
    priority: options.priority ?? 0,
    phase: hasTasks(type) ? 'prepare' : 'run',
    policy: policyOf(options),
    ...(typeMax === undefined ? {} : { gate: { typeMax } }),
  };
  return asked(draft, type, ask, now, { isAlone: options.onePerType ?? false });
}

/** A run of a definition, by hand. */
export async function draftOfDefinition(
  known: KnownDefinition,
  type: JobType,
  ask: RunAsk<unknown>,
  now: number,
): Promise<Draft> {
  const { name } = known;
  const spec = specOf(known);
  if (!spec.manualRuns) {
    throw new Refusal('manual.forbidden', `${name} takes no manual runs: only its schedules start them`, { name });
  }
  if (!known.isEnabled) throw new Refusal('disabled.definition', `${name} is disabled: enable it first`, { name });
  return asked(draftOf(name, spec), type, ask, now, { isAlone: spec.onePerType, params: spec.params });
}

/** Whether a key stands for "one at a time" rather than for what the producer asked to be unique. */
export const isOneAtATime = (draft: Draft, ask: RunAsk<unknown>): boolean =>
  draft.unique !== undefined && ask.unique === undefined;

interface Template {
  /** Whether only one run of its type may be under way. */
  readonly isAlone: boolean;
  readonly params?: unknown;
}

async function asked(
  draft: Draft,
  type: JobType,
  ask: RunAsk<unknown>,
  now: number,
  { isAlone, params }: Template,
): Promise<Draft> {
  const { input: schema, limit } = type.options;
  const input = ask.input === undefined ? params : ask.input;
  const output = schema ? await checked(schema, input, type.name) : input;
  const due = dueOf(ask, now);
  const startBy = ask.startBy === undefined ? {} : { startBy: due + durationMs(ask.startBy) };
  // One that is due later must not keep others from running until then: it waits at its gate when its time has come.
  const alone = isAlone && due <= now ? { unique: { key: overlapKey('', { type: type.name, onePerType: true }) } } : {};
  return {
    ...draft,
    ...alone,
    input,
    due,
    policy: { ...draft.policy, ...startBy },
    ...(ask.priority === undefined ? {} : { priority: ask.priority }),
    ...(ask.tags === undefined ? {} : { tags: { ...draft.tags, ...ask.tags } }),
    ...(ask.unique === undefined ? {} : { unique: uniqueOf(ask.unique) }),
    ...(limit ? { limitKey: limit.key(output) } : {}),
  };
}

function dueOf({ dueTime, delay }: RunAsk<unknown>, now: number): number {
  if (delay !== undefined) return now + durationMs(delay);
  if (dueTime === undefined) return now;
  if (dueTime instanceof Date) return dueTime.getTime();
  return typeof dueTime === 'string' ? parseInstant(dueTime) : dueTime;
}

function uniqueOf(unique: NonNullable<RunAsk<unknown>['unique']>): UniqueAsk {
  if (typeof unique === 'string') return { key: unique };
  const { key, onTaken, for: window } = unique;
  return {
    key,
    ...(onTaken === undefined ? {} : { onTaken }),
    ...(window === undefined ? {} : { forMs: durationMs(window) }),
  };
}
