/** The draft: a producer's description of a new job, validated before anything is stored. */
import type { FirstState } from '../model/event.ts';
import { gateText } from '../model/gate.ts';
import type { LimitUse } from '../model/limit.ts';
import { splitUses } from '../model/share.ts';
import type { JobOrigin, Policy, Tags, RunTick, UniqueKey } from '../model/job.ts';
import { jsonText } from '../model/json.ts';
import { kinds, phases, type Kind, type Phase } from '../model/state.ts';
import { firstTypeVersion } from '../model/type-version.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import {
  checkFields, checkFlag, checkId, checkName, checkOneOf, checkPriority, checkText, checkTime, checkWhole, keyMax,
  timeMax, checkJson, checkTags, checkTypeVersion,
} from './checks/values.ts';
import { checkLimitUses } from './checks/limit-uses.ts';
import { checkPolicy } from './checks/policy.ts';

/**
 * The field of a draft with an input that `jsonText` returned, so that it is not checked again. Callers of the library
 * cannot set it.
 */
export const checkedInput: unique symbol = Symbol('checked input');

export interface Draft {
  readonly [checkedInput]?: string;
  readonly kind?: Kind;
  readonly type: string;
  readonly def?: string | null;
  readonly key?: string | null;
  /** Any JSON value. A caller that has the input as JSON text sets `inputText` instead. */
  readonly input?: unknown;
  readonly inputText?: string;
  /** The version of the type that the input was made for. Default: the first. */
  readonly typeVersion?: number;
  readonly due?: number;
  readonly priority?: number;
  readonly phase?: Phase;
  readonly unique?: UniqueRequest;
  readonly policy?: Policy;
  readonly tags?: Tags;
  readonly tick?: RunTick;
  /** Jobs of one job type with the same limit key share a limit. Example: a key for each tenant limits each tenant. */
  readonly limitKey?: string;
  /**
   * How many jobs may execute at once: `typeMax` limits the jobs of the job type, `defMax` those of the definition. If
   * `type` is set, `typeMax` limits all jobs whose gate has this `type`, instead of the jobs of the job type.
   */
  readonly gate?: { readonly type?: string; readonly typeMax?: number; readonly defMax?: number };
  /** What the job takes of named limits when it is claimed; at most one use of each limit. Also its share (`shareUse`). */
  readonly limitUses?: readonly LimitUse[];
}

export interface UniqueRequest {
  readonly key: string;
  /** If the key is taken: `keep` (default) the job that has it, or `update` that job. */
  readonly onTaken?: 'keep' | 'update';
  /** How long after creation the key stays taken, even after the job has ended. Default: while the job is open. */
  readonly forMs?: number;
}

/** The most frequent fields come first, because `checkFields` searches this list from the start. */
const fields: readonly Exclude<keyof Draft, symbol>[] = [
  'type', 'input', 'due', 'priority', 'phase', 'policy', 'tags', 'unique', 'kind', 'def', 'key', 'inputText', 'tick',
  'limitKey', 'gate', 'limitUses', 'typeVersion',
];

/** Whether all fields of two drafts except the input are identical; equal but distinct objects count as different. */
export const differsOnlyInInput = (draft: Draft, other: Draft): boolean =>
  draft.type === other.type &&
  draft.due === other.due &&
  draft.priority === other.priority &&
  draft.phase === other.phase &&
  draft.policy === other.policy &&
  draft.tags === other.tags &&
  draft.unique === other.unique &&
  draft.kind === other.kind &&
  draft.def === other.def &&
  draft.key === other.key &&
  draft.tick === other.tick &&
  draft.limitKey === other.limitKey &&
  draft.gate === other.gate &&
  draft.limitUses === other.limitUses &&
  draft.typeVersion === other.typeVersion;

export const checkDraft = (draft: Draft): Draft => checkFields('a job', draft, fields);

/** Validates a draft and returns the fields of its job, except its parent and its first state (see `firstStateOf`). */
export function originOf(draft: Draft, id: number, now: number): Omit<JobOrigin, 'parent'> {
  checkDraft(draft);
  return {
    id,
    kind: draft.kind === undefined ? 'run' : checkOneOf('kind', draft.kind, kinds),
    type: checkName('type', draft.type),
    def: draft.def == null ? null : checkName('def', draft.def),
    key: draft.key == null ? null : checkText('key', draft.key, keyMax),
    created: now,
    gate: gateOf(draft),
    unique: draft.unique == null ? null : checkUnique(draft.unique),
    policy: draft.policy == null ? {} : checkPolicy(draft.policy, now),
    tags: draft.tags == null ? null : checkTags(draft.tags),
    input: inputOf(draft),
    tick: draft.tick == null ? null : checkTick(draft.tick),
    follows: null,
    typeVersion: versionOf(draft),
  };
}

const versionOf = ({ typeVersion = firstTypeVersion }: Draft): number =>
  checkTypeVersion(typeVersion);

export function inputOf({ input, inputText, [checkedInput]: checked }: Draft): string {
  if (checked !== undefined) return checked;
  return inputText === undefined ? jsonText(input) : checkJson('inputText', inputText);
}

export const firstStateOf = ({ due, priority, phase }: Draft, now: number): FirstState => ({
  due: due === undefined ? now : checkTime('due', due),
  priority: priority === undefined ? 0 : checkPriority(priority),
  ...(phase === undefined || checkOneOf('phase', phase, phases) === 'run' ? {} : { phase }),
});

function checkUnique(unique: UniqueRequest): UniqueKey {
  const { key, onTaken, forMs } = checkFields('unique', unique, ['key', 'onTaken', 'forMs']);
  if (onTaken !== undefined) checkOneOf('unique.onTaken', onTaken, ['keep', 'update']);
  const window = forMs === undefined ? null : checkWhole('unique.forMs', forMs, 1, timeMax);
  return { key: checkText('unique key', key, keyMax), forMs: window };
}

function checkTick(tick: RunTick): RunTick {
  const { def, schedule, nominal, isAwaited } = checkFields('tick', tick, ['def', 'schedule', 'nominal', 'isAwaited']);
  return {
    def: checkId(def),
    schedule: checkWhole('tick.schedule', schedule, 0, 1_000_000),
    nominal: checkTime('tick.nominal', nominal),
    isAwaited: checkFlag('tick.isAwaited', isAwaited),
  };
}

/** Whether the job waits at a gate: then only the store can claim it. */
export const isGated = ({ limitKey, gate, policy, limitUses = [] }: Draft): boolean =>
  limitKey !== undefined || gate !== undefined || (policy?.leaderOnly ?? false) || limitUses.length > 0;

/** Returns why the job of a draft cannot be created; null: it can. */
export function draftRefusalOf(draft: Draft, now: number): Refusal | null {
  try {
    originOf(draft, 0, now);
    firstStateOf(draft, now);
    return null;
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

/** Returns the text of the gate at which the job waits; null: it is not limited. */
export function gateOf(draft: Draft): string | null {
  if (!isGated(draft)) return null;
  const { type, def, limitKey, gate, policy, limitUses = [] } = draft;
  const leaderOnly = policy?.leaderOnly ?? false;
  const key = limitKey === undefined ? null : checkText('limit key', limitKey, keyMax);
  const { type: name = type, ...most } = checkFields('gate', gate ?? {}, ['type', 'typeMax', 'defMax']);
  for (const max of Object.values(most)) checkWhole('a limit', max, 1, 1_000_000);
  // If `gate.type` is set to another name than the job type, the job does not count toward the limit of its definition.
  const ofDef = name === type ? (def ?? null) : null;
  const uses = checkLimitUses(limitUses);
  const text = gateText({ type: checkName('gate', name), def: ofDef, key, leaderOnly, ...most, ...splitUses(uses) });
  return uses.length === 0 ? text : checkGateText(text);
}

/**
 * Below the 2,704 bytes that an index entry of PostgreSQL can have. Without named limits the longest names and keys fit,
 * because PostgreSQL compresses encoded characters.
 */
const gateBytesMax = 2_000;

function checkGateText(text: string): string {
  // The text is ASCII, because its parts are encoded.
  if (text.length <= gateBytesMax) return text;
  const message =
    `the limits and limit keys of a job take ${text.length} bytes, more than ${gateBytesMax}: ` +
    'shorten the keys (characters other than ASCII letters and digits take 3 bytes or more), or use fewer limits';
  throw new Refusal('malformed.option', message, { bytes: text.length, most: gateBytesMax });
}
