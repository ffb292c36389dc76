/** The draft: what a producer says of a job that does not exist yet, checked before anything is stored. */
import { gateText } from '../model/gate.ts';
import { checkJsonText, jsonText } from '../model/json.ts';
import type { Birth, Policy, Tags, Tick, UniqueKey } from '../model/job.ts';
import { retryOf } from '../model/retry.ts';
import type { Kind, Phase } from '../model/state.ts';
import { Refusal } from '../refusal.ts';

export interface Draft {
  readonly kind?: Kind;
  readonly type: string;
  readonly def?: string | null;
  readonly key?: string | null;
  /** Any JSON value; or `inputText`, JSON that is already text. */
  readonly input?: unknown;
  readonly inputText?: string;
  readonly due?: number;
  readonly priority?: number;
  readonly phase?: Phase;
  readonly unique?: UniqueAsk;
  readonly policy?: Policy;
  readonly tags?: Tags;
  readonly tick?: Tick;
  /** Jobs with the same limit key are limited together. */
  readonly limitKey?: string;
  /** Whether the job waits at a gate although it has no limit key of its own. */
  readonly isLimited?: boolean;
}

export interface UniqueAsk {
  readonly key: string;
  /** What happens to the job that has the key already: nothing, or it takes on what is new. */
  readonly onTaken?: 'keep' | 'update';
  /** How long after creation the key stays taken, also beyond the job's end. */
  readonly forMs?: number;
}

const nameMax = 255;
const keyMax = 512;
const tagsMax = 32;
const priorityMax = 1_000_000;
/** The year 9999: beyond it no calendar of ours goes. */
const timeMax = 253_402_300_799_999;

/** What the job will be from its first moment. */
export function birthOf(draft: Draft, id: number, now: number): Omit<Birth, 'parent'> {
  return {
    id,
    kind: draft.kind ?? 'run',
    type: checkName('type', draft.type),
    def: draft.def == null ? null : checkName('def', draft.def),
    key: draft.key == null ? null : checkText('key', draft.key, keyMax),
    created: now,
    gate: gateOf(draft),
    unique: draft.unique ? checkUnique(draft.unique) : null,
    policy: checkPolicy(draft.policy ?? {}),
    tags: draft.tags ? checkTags(draft.tags) : null,
    input: draft.inputText === undefined ? jsonText(draft.input) : checkJsonText(draft.inputText),
    tick: draft.tick ?? null,
  };
}

export const checkPriority = (priority: number): number => checkWhole('priority', priority, -priorityMax, priorityMax);

export const checkTime = (name: string, time: number): number => checkWhole(name, time, 0, timeMax);

export function checkName(what: string, name: unknown): string {
  const text = checkText(what, name, nameMax);
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw new Refusal('malformed.name', `the ${what} has control characters: use letters, digits and punctuation`, { what });
  }
  return text;
}

export function checkId(id: unknown): number {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return id;
  throw new Refusal('malformed.id', 'an id is a whole number between 1 and 9007199254740991', { id: String(id).slice(0, 40) });
}

function checkText(what: string, text: unknown, max: number): string {
  if (typeof text === 'string' && text.length > 0 && Buffer.byteLength(text) <= max && text.isWellFormed()) return text;
  throw new Refusal('malformed.name', `the ${what} must be a text of 1 to ${max} bytes`, { what });
}

function checkWhole(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new Refusal('malformed.number', `${name} must be a whole number from ${min} to ${max}`, { name, value: String(value) });
}

function checkUnique({ key, forMs }: UniqueAsk): UniqueKey {
  const window = forMs === undefined ? null : checkWhole('unique.forMs', forMs, 1, timeMax);
  return { key: checkText('unique key', key, keyMax), forMs: window };
}

function checkTags(tags: Tags): Tags {
  const entries = Object.entries(tags);
  if (entries.length > tagsMax) throw new Refusal('malformed.option', `a job has at most ${tagsMax} tags`, { count: entries.length });
  for (const [name, value] of entries) {
    checkText('tag name', name, nameMax);
    if (value !== '') checkText(`tag ${name}`, value, nameMax);
  }
  return Object.fromEntries(entries);
}

function checkPolicy(policy: Policy): Policy {
  retryOf(policy);
  for (const name of ['timeoutMs', 'retentionMs', 'startBy'] as const) {
    if (policy[name] !== undefined) checkWhole(name, policy[name], 0, timeMax);
  }
  return policy;
}

function gateOf({ type, def = null, limitKey, isLimited = false, policy }: Draft): string | null {
  const leaderOnly = policy?.leaderOnly ?? false;
  if (limitKey === undefined && !isLimited && !leaderOnly) return null;
  return gateText({ type, def, key: limitKey === undefined ? null : checkText('limit key', limitKey, keyMax), leaderOnly });
}
