/** The run request: the options of `createJobRun`, and the draft that they become. */
import { overlapKey } from '../../model/definition.ts';
import { isEncodedValue, unreadablePayload } from '../../model/encoded-payload.ts';
import type { LimitUse } from '../../model/limit.ts';
import { typeMaxOf, versionOfEntry } from '../../model/type-entry.ts';
import { firstTypeVersion } from '../../model/type-version.ts';
import { checkFields, checkFlag } from '../../jobs/checks/values.ts';
import type { KnownDefinition } from '../../jobs/define.ts';
import type { Draft, UniqueRequest } from '../../jobs/draft.ts';
import { draftOf } from '../../jobs/definition-draft.ts';
import { Refusal } from '../../refusal.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { isPromiseLike, andThen, type MaybePromise } from '../../time/maybe-promise.ts';
import { dueTimeOf, instantOfGiven, type DueNames, type GivenTime } from './due-time.ts';
import { followingOf, type FollowRequest } from './follow-request.ts';
import type { JobDef } from './job-def.ts';
import type { JobType } from './job-type.ts';
import type { BurstOf } from './limit-uses.ts';
import { checkStored } from './stored-input.ts';
import type { TypeRules } from './type-rules.ts';

export interface RunRequest<Input> extends DueNames<GivenTime>, FollowRequest {
  /** The input of the handler; validated by the schema of the type. Default: the parameters of the definition. */
  readonly input?: Input;
  /** The earliest time to start. Default: now. Also accepted as `dueAt` or `due`, its names in answers and in jobs. */
  readonly dueTime?: GivenTime | undefined;
  /** The time from now until the run is due; instead of `dueTime`. */
  readonly delay?: Duration;
  /** The run is cancelled if it has not started this long after it is due. */
  readonly startBy?: Duration;
  /** Higher is claimed first. Default: the priority of the type or definition. */
  readonly priority?: number;
  /**
   * While a run with this key is open, no other run with the key is created. With `for`, the key is taken until
   * this duration has passed since the creation of its run, whether the run is open or not. A request for a taken key
   * returns the run that has the key; `onTaken: 'update'` changes that run if it waits for its start or for a retry
   * and has no finished steps.
   */
  readonly unique?: string | { readonly key: string; readonly onTaken?: 'keep' | 'update'; readonly for?: Duration };
  /** Names and values by which the run can be found. */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * False: only this run is created. Default: true: runs of the definitions that follow its definition are created with
   * it, as at a tick, and wait for it. Runs of types have no followers.
   */
  readonly followers?: boolean;
}

// oxlint-disable-next-line typescript/no-explicit-any -- of any input and result
export type Runnable = JobType<any, any> | JobDef<any, any>;

export type ResultOf<What extends Runnable> =
  What extends JobDef<never, infer Result> ? Result : What extends JobType<never, infer Result> ? Result : never;

/**
 * The request parameter of `createJobRun`. `input` is optional for a definition, whose parameters are its default, and
 * for a type that accepts `undefined`; for other types it is required.
 */
export type RequestOf<What extends Runnable> =
  What extends JobDef<infer Input, unknown> ? [request?: RunRequest<Input>]
  : What extends JobType<infer Input, unknown> ? RequestFor<Input>
  : never;

type RequestFor<Input> = undefined extends Input
  ? [request?: RunRequest<Input>]
  : [request: RunRequest<Input> & { readonly input: Input }];

/** The common fields of all runs of a type, or of a definition. */
interface Template {
  readonly draft: Draft;
  readonly isOnePerType: boolean;
  readonly params?: unknown;
}

/** The time, and the bursts in force; undefined: those of the code apply. */
interface Current {
  readonly now: number;
  readonly burstOf: BurstOf | undefined;
}

/** Returns one draft per request. `known` is the definition of the runs; null: the runs have no definition. */
export function draftsOf(
  rules: TypeRules,
  known: KnownDefinition | null,
  requests: readonly RunRequest<unknown>[],
  now: number,
  burstOf?: BurstOf,
): MaybePromise<readonly Draft[]> {
  const template = known ? templateOfDefinition(known) : templateOfType(rules);
  const checked = requests.map((request) => checkRequest(request));
  if (known) for (const request of checked) refuseMissingResult(request, known);
  const drafts = checked.map((request) => draftFor(template, rules, request, { now, burstOf }));
  return drafts.every(isSettled) ? drafts : Promise.all(drafts.map(async (draft) => draft));
}

const isSettled = (draft: MaybePromise<Draft>): draft is Draft => !isPromiseLike(draft);

const templates = new WeakMap<TypeRules, Template>();

/** Returns the template of a type. Cached, because the rules of a type do not change. */
function templateOfType(rules: TypeRules): Template {
  const known = templates.get(rules);
  if (known) return known;
  const { name: type, priority, phase, policy, onePerType: isOnePerType } = rules.entry;
  const typeMax = typeMaxOf(rules.entry);
  const draft: Draft = {
    type, priority, phase, policy, ...versionField(rules), ...(typeMax === undefined ? {} : { gate: { typeMax } }),
  };
  const template = { draft, isOnePerType };
  templates.set(rules, template);
  return template;
}

const versionField = ({ entry: { version } }: TypeRules): Pick<Draft, 'typeVersion'> =>
  version === undefined ? {} : { typeVersion: version };

function templateOfDefinition(known: KnownDefinition): Template {
  const { name, spec } = known;
  if (!spec.manualRuns) {
    const message = `definition ${name} does not allow manual runs: only its schedules create runs`;
    throw new Refusal('manual.forbidden', message, { name });
  }
  if (!known.isEnabled) {
    throw new Refusal('disabled.definition', `definition ${name} is disabled: enable it first`, { name });
  }
  return { draft: draftOf(name, spec), isOnePerType: spec.onePerType, params: spec.params };
}

/** Whether the unique key of a draft was added to enforce `onePerType`, and not requested by the producer. */
export const isOneAtATime = (draft: Draft, request: RunRequest<unknown>): boolean =>
  draft.unique !== undefined && request.unique === undefined;

function draftFor(
  template: Template,
  rules: TypeRules,
  request: RunRequest<unknown>,
  { now, burstOf }: Current,
): MaybePromise<Draft> {
  const isOwn = request.input !== undefined;
  const input = isOwn ? request.input : template.params;
  try {
    if (isEncodedValue(input)) throw encodedInput(input, isOwn);
    if (isOwn) {
      const own = withVersionOf(rules, template);
      return andThen(rules.check(input), (valid) => filledIn(own, request, now, input, limitsBy(rules, valid, burstOf)));
    }
    const check = rules.checkOfVersion(versionOf(template));
    if (check === null) return filledIn(template, request, now, input, template.draft);
    return andThen(checkStored(check, input), (valid) =>
      filledIn(template, request, now, input, limitsBy(rules, valid, burstOf)));
  } catch (error) {
    // Returns a rejected promise. If this function threw, nobody would await the promises of the other drafts, and
    // their rejections would be unhandled.
    return Promise.reject(error);
  }
}

/** Returns the version of the type for which the parameters of a definition were made. */
const versionOf = ({ draft: { typeVersion = firstTypeVersion } }: Template): number => typeVersion;

/** Returns the template for an input of the request, which has the version of the rules that check it. */
const withVersionOf = (rules: TypeRules, template: Template): Template =>
  versionOf(template) === versionOfEntry(rules.entry)
    ? template
    : { ...template, draft: { ...template.draft, typeVersion: versionOfEntry(rules.entry) } };

function encodedInput(input: { readonly $encoded: string }, isOwn: boolean): Refusal {
  return isOwn
    ? new Refusal('malformed.input', 'an input cannot have $encoded as its only member: Stint uses it', {})
    : unreadablePayload(JSON.stringify(input), 'the parameters of the definition');
}

/** Refuses a run by hand without an input, if results of other runs are missing in the parameters of its definition. */
export function refuseMissingResult({ input }: Pick<RunRequest<unknown>, 'input'>, { name, spec }: KnownDefinition): void {
  const [link] = spec.links ?? [];
  if (input !== undefined || link === undefined) return;
  const { def: followed } = link;
  const message = `definition ${name} gets its input from a run of ${followed}: start ${followed}, or give an input`;
  throw new Refusal('malformed.input', message, { name, followed });
}

interface InputLimits {
  readonly limitKey?: string | undefined;
  readonly limitUses?: readonly LimitUse[];
}

/** Returns the limits of a run by its input; `output` is the validated input, which the schema may have transformed. */
const limitsBy = ({ limitKey, limitUses }: TypeRules, output: unknown, burstOf: BurstOf | undefined): InputLimits =>
  ({ limitKey: limitKey(output), limitUses: limitUses(output, burstOf) });

function filledIn(
  { draft, isOnePerType }: Template,
  request: RunRequest<unknown>,
  now: number,
  input: unknown,
  { limitKey, limitUses = [] }: InputLimits,
): Draft {
  const { startBy } = request;
  const due = dueOf(request, now);
  // Only a run that is due now takes the unique key of `onePerType`. A run that is due in the future would block all
  // other runs of the type until it has ended, and so would a run that follows others. When that run becomes due, the gate of the type (limit 1) makes it wait
  // while another run of the type is running.
  const overlap = isOnePerType && due <= now && request.after === undefined
    ? { unique: { key: overlapKey('', { type: draft.type, onePerType: true }) } }
    : {};
  return {
    ...(draft.limitUses === undefined ? draft : withoutLimitUses(draft)),
    ...overlap,
    input,
    due,
    ...(startBy === undefined ? {} : { policy: { ...draft.policy, startBy: due + durationMs(startBy) } }),
    ...(request.priority === undefined ? {} : { priority: request.priority }),
    ...(request.tags === undefined ? {} : { tags: { ...draft.tags, ...request.tags } }),
    ...(request.unique === undefined ? {} : { unique: uniqueOf(request.unique) }),
    ...(limitKey === undefined ? {} : { limitKey }),
    ...(limitUses.length === 0 ? {} : { limitUses }),
  };
}

function withoutLimitUses({ limitUses: _uses, ...others }: Draft): Draft {
  return others;
}

/** All option names: any other name is refused as misspelt. `satisfies` makes the compiler report a missing one. */
const requestNames = Object.keys({
  input: 0, dueTime: 0, dueAt: 0, due: 0, delay: 0, startBy: 0, priority: 0, unique: 0, tags: 0,
  after: 0, on: 0, afterFailure: 0, followers: 0,
} satisfies Record<keyof RunRequest<unknown>, 0>);

export function checkRequest(request: RunRequest<unknown>): RunRequest<unknown> {
  followingOf(checkFields('a run request', request, requestNames));
  if (request.followers !== undefined) checkFlag('followers', request.followers);
  return request;
}

function dueOf(request: RunRequest<unknown>, now: number): number {
  const dueTime = dueTimeOf(request);
  if (request.delay !== undefined) return now + durationMs(request.delay);
  return dueTime === undefined ? now : instantOfGiven(dueTime);
}

function uniqueOf(unique: NonNullable<RunRequest<unknown>['unique']>): UniqueRequest {
  if (typeof unique === 'string') return { key: unique };
  const { key, onTaken, for: window } = checkFields('unique', unique, ['key', 'onTaken', 'for']);
  return {
    key,
    ...(onTaken === undefined ? {} : { onTaken }),
    ...(window === undefined ? {} : { forMs: durationMs(window) }),
  };
}
