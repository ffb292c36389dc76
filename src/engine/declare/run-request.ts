/** The run that is asked for: what a producer says of one, and the draft it becomes. */
import { overlapKey, specOf } from '../../model/definition.ts';
import type { KnownDefinition } from '../../jobs/define.ts';
import type { Draft, UniqueAsk } from '../../jobs/draft.ts';
import { draftOf } from '../../jobs/tick.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { parseInstant } from '../../time/instant.ts';
import { isPromised, whenThere, type Later } from '../../time/maybe-promise.ts';
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

/** What all runs of a type have in common; those of a definition have a template of their own. */
interface Template {
  readonly draft: Draft;
  /** Whether only one run of its type may be under way. */
  readonly isAlone: boolean;
  readonly params?: unknown;
}

/** The drafts of runs of a type or, by hand, of a definition of it. They share what their template says. */
export function draftsOf(
  type: JobType,
  known: KnownDefinition | null,
  asks: readonly RunAsk<unknown>[],
  now: number,
): Later<readonly Draft[]> {
  const template = known ? templateOfDefinition(known) : templateOfType(type);
  const drafts = asks.map((ask) => asked(template, type, ask, now));
  return drafts.every(isThere) ? drafts : Promise.all(drafts.map(async (draft) => draft));
}

const isThere = (draft: Later<Draft>): draft is Draft => !isPromised(draft);

const templates = new WeakMap<JobType, Template>();

/** Made once: what was declared does not change. */
function templateOfType(type: JobType): Template {
  const known = templates.get(type);
  if (known) return known;
  const { options } = type;
  const typeMax = options.onePerType ? 1 : options.concurrency;
  const draft: Draft = {
    type: type.name,
    priority: options.priority ?? 0,
    phase: hasTasks(type) ? 'prepare' : 'run',
    policy: policyOf(options),
    ...(typeMax === undefined ? {} : { gate: { typeMax } }),
  };
  const template = { draft, isAlone: options.onePerType ?? false };
  templates.set(type, template);
  return template;
}

function templateOfDefinition(known: KnownDefinition): Template {
  const { name } = known;
  const spec = specOf(known);
  if (!spec.manualRuns) {
    throw new Refusal('manual.forbidden', `${name} takes no manual runs: only its schedules start them`, { name });
  }
  if (!known.isEnabled) throw new Refusal('disabled.definition', `${name} is disabled: enable it first`, { name });
  return { draft: draftOf(name, spec), isAlone: spec.onePerType, params: spec.params };
}

/** Whether a key stands for "one at a time" rather than for what the producer asked to be unique. */
export const isOneAtATime = (draft: Draft, ask: RunAsk<unknown>): boolean =>
  draft.unique !== undefined && ask.unique === undefined;

function asked(template: Template, type: JobType, ask: RunAsk<unknown>, now: number): Later<Draft> {
  const { input: schema } = type.options;
  const input = ask.input === undefined ? template.params : ask.input;
  try {
    const output: Later<unknown> = schema ? checked(schema, input, type.name) : input;
    return whenThere(output, (given) => filledIn(template, type, ask, now, input, given));
  } catch (error) {
    // Where it is waited for, so that another's promise is not left alone.
    return Promise.reject(error);
  }
}

/** `output` is the input as the type's schema gives it. */
function filledIn(
  { draft, isAlone }: Template,
  type: JobType,
  ask: RunAsk<unknown>,
  now: number,
  input: unknown,
  output: unknown,
): Draft {
  const { limit } = type.options;
  const due = dueOf(ask, now);
  // One that is due later must not keep others from running until then: it waits at its gate when its time has come.
  const alone = isAlone && due <= now ? { unique: { key: overlapKey('', { type: type.name, onePerType: true }) } } : {};
  return {
    ...draft,
    ...alone,
    input,
    due,
    ...(ask.startBy === undefined ? {} : { policy: { ...draft.policy, startBy: due + durationMs(ask.startBy) } }),
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
