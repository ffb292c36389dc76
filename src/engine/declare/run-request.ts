/** The run request: what a producer passes to create a run, and the draft it becomes. */
import { overlapKey, specOf } from '../../model/definition.ts';
import type { KnownDefinition } from '../../jobs/define.ts';
import type { Draft, UniqueRequest } from '../../jobs/draft.ts';
import { draftOf } from '../../jobs/tick.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { parseInstant } from '../../time/instant.ts';
import { isPromiseLike, andThen, type MaybePromise } from '../../time/maybe-promise.ts';
import type { JobDef } from './job-def.ts';
import { hasTasks, type JobType } from './job-type.ts';
import { policyOf } from './policy.ts';
import { checked } from './schema.ts';

export interface RunRequest<Input> {
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
export type RequestOf<What extends Runnable> =
  What extends JobDef<infer Input, unknown> ? [request?: RunRequest<Input>]
  : What extends JobType<infer Input, unknown> ? RequestFor<Input>
  : never;

type RequestFor<Input> = undefined extends Input ? [request?: RunRequest<Input>] : [request: RunRequest<Input> & { readonly input: Input }];

/** What all runs of a type have in common; those of a definition have a template of their own. */
interface Template {
  readonly draft: Draft;
  /** Whether only one run of its type may be under way. */
  readonly isOnePerType: boolean;
  readonly params?: unknown;
}

/** The drafts of runs of a type or, by hand, of a definition of it. They share what their template says. */
export function draftsOf(
  type: JobType,
  known: KnownDefinition | null,
  requests: readonly RunRequest<unknown>[],
  now: number,
): MaybePromise<readonly Draft[]> {
  const template = known ? templateOfDefinition(known) : templateOfType(type);
  const drafts = requests.map((request) => draftFor(template, type, request, now));
  return drafts.every(isSettled) ? drafts : Promise.all(drafts.map(async (draft) => draft));
}

const isSettled = (draft: MaybePromise<Draft>): draft is Draft => !isPromiseLike(draft);

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
  const template = { draft, isOnePerType: options.onePerType ?? false };
  templates.set(type, template);
  return template;
}

function templateOfDefinition(known: KnownDefinition): Template {
  const { name } = known;
  const spec = specOf(known);
  if (!spec.manualRuns) {
    throw new Refusal('manual.forbidden', `definition ${name} does not allow manual runs: only its schedules create runs`, { name });
  }
  if (!known.isEnabled) throw new Refusal('disabled.definition', `definition ${name} is disabled: enable it first`, { name });
  return { draft: draftOf(name, spec), isOnePerType: spec.onePerType, params: spec.params };
}

/** Whether a key stands for "one at a time" rather than for what the producer asked to be unique. */
export const isOneAtATime = (draft: Draft, request: RunRequest<unknown>): boolean =>
  draft.unique !== undefined && request.unique === undefined;

function draftFor(template: Template, type: JobType, request: RunRequest<unknown>, now: number): MaybePromise<Draft> {
  const { input: schema } = type.options;
  const input = request.input === undefined ? template.params : request.input;
  try {
    const output: MaybePromise<unknown> = schema ? checked(schema, input, type.name) : input;
    return andThen(output, (given) => filledIn(template, type, request, now, input, given));
  } catch (error) {
    // Where it is waited for, so that another's promise is not left alone.
    return Promise.reject(error);
  }
}

/** `output` is the input as the type's schema gives it. */
function filledIn(
  { draft, isOnePerType }: Template,
  type: JobType,
  request: RunRequest<unknown>,
  now: number,
  input: unknown,
  output: unknown,
): Draft {
  const { limit } = type.options;
  const due = dueOf(request, now);
  // One that is due later must not keep others from running until then: it waits at its gate when its time has come.
  const overlap = isOnePerType && due <= now
    ? { unique: { key: overlapKey('', { type: type.name, onePerType: true }) } }
    : {};
  return {
    ...draft,
    ...overlap,
    input,
    due,
    ...(request.startBy === undefined ? {} : { policy: { ...draft.policy, startBy: due + durationMs(request.startBy) } }),
    ...(request.priority === undefined ? {} : { priority: request.priority }),
    ...(request.tags === undefined ? {} : { tags: { ...draft.tags, ...request.tags } }),
    ...(request.unique === undefined ? {} : { unique: uniqueOf(request.unique) }),
    ...(limit ? { limitKey: limit.key(output) } : {}),
  };
}

function dueOf({ dueTime, delay }: RunRequest<unknown>, now: number): number {
  if (delay !== undefined) return now + durationMs(delay);
  if (dueTime === undefined) return now;
  if (dueTime instanceof Date) return dueTime.getTime();
  return typeof dueTime === 'string' ? parseInstant(dueTime) : dueTime;
}

function uniqueOf(unique: NonNullable<RunRequest<unknown>['unique']>): UniqueRequest {
  if (typeof unique === 'string') return { key: unique };
  const { key, onTaken, for: window } = unique;
  return {
    key,
    ...(onTaken === undefined ? {} : { onTaken }),
    ...(window === undefined ? {} : { forMs: durationMs(window) }),
  };
}
