/**
 * The row: a job as the SQL stores keep it. Open and ended jobs lie in tables of their own, so that claims never meet
 * the past; what a store must search is a column, the rest is one JSON text.
 */
import type { Event } from '../model/event.ts';
import {
  facts, type JobOrigin, type CancelNote, type EndedJob, type Job, type JobError, type JobFacts, type OpenJob,
  type Plan, type Policy, type Tags, type Tick, type UniqueKey,
} from '../model/job.ts';
import type { Fate, Hold, Kind, Phase } from '../model/state.ts';
import { cachedStringify, cachedParse } from './text-cache.ts';

/** The columns that both tables have. */
interface SharedRow {
  readonly id: number;
  readonly version: number;
  readonly kind: Kind;
  readonly type: string;
  readonly def: string | null;
  readonly parent: number | null;
  readonly created: number;
  readonly input: string;
  readonly body: string;
}

export interface OpenRow extends SharedRow {
  readonly state: 'pending' | 'held' | 'running';
  readonly hold: Hold | null;
  readonly phase: Phase;
  readonly priority: number;
  readonly due: number;
  readonly fence: number;
  readonly holder: string | null;
  readonly lease_until: number | null;
  readonly gate: string | null;
  readonly admitted: number;
  readonly cancel_asked: number;
}

export interface EndedRow extends SharedRow {
  readonly fate: Fate;
  readonly ended_at: number;
  /** When its retention is over; null: by the store's default. Children go with their parent. */
  readonly purge_at: number | null;
  readonly result: string | null;
}

/** What is not a column; what has its usual value is left out. */
interface Body {
  key?: string;
  changed: number;
  generation?: number;
  attempt?: number;
  crashes?: number;
  startedAt?: number;
  hasChildrenWaiting?: true;
  cancel?: CancelNote;
  error?: JobError;
  details?: string;
  plan?: Plan;
  unique?: UniqueKey;
  policy?: Policy;
  tags?: Tags;
  tick?: Tick;
  /** Of ended jobs only: for open ones these are columns. */
  phase?: Phase;
  priority?: number;
  due?: number;
  fence?: number;
  gate?: string;
}

export function openRow(job: OpenJob): OpenRow {
  return {
    ...sharedRow(job, openBody(job)),
    state: job.state,
    hold: job.state === 'held' ? job.hold : null,
    phase: job.phase,
    priority: job.priority,
    due: job.due,
    fence: job.fence,
    holder: job.state === 'running' ? job.lease.holder : null,
    lease_until: job.state === 'running' ? job.lease.until : null,
    gate: job.gate,
    admitted: job.admitted ? 1 : 0,
    cancel_asked: job.cancel ? 1 : 0,
  };
}

export const endedRow = (job: EndedJob): EndedRow => ({
  ...sharedRow(job, endedBody(job)),
  fate: job.fate,
  ended_at: job.endedAt,
  purge_at: purgeTime(job),
  result: job.result,
});

export const purgeTime = ({ parent, policy: { retentionMs }, endedAt }: EndedJob): number | null =>
  retentionMs === undefined || parent !== null ? null : endedAt + retentionMs;

export function jobOfOpen(row: OpenRow): Job {
  const job = factsIn(row, bodyIn(row.body), row, row.admitted === 1, null);
  switch (row.state) {
    case 'pending':
      return { ...job, state: 'pending' };
    case 'held':
      return { ...job, state: 'held', hold: row.hold as Hold };
    case 'running':
      return { ...job, state: 'running', lease: { holder: row.holder ?? '', until: row.lease_until } };
  }
}

export function jobOfEnded(row: EndedRow): Job {
  const body = bodyIn(row.body);
  const { phase = 'run', priority = 0, due = row.created, fence = 0, gate = null } = body;
  const job = factsIn(row, body, { phase, priority, due, fence, gate }, false, row.result);
  return { ...job, state: 'ended', fate: row.fate, endedAt: row.ended_at };
}

/** What happened, as one line of a history. */
export const lineOf = (events: readonly Event[]): string =>
  events.length === 1 ? lineOfOne(events[0]!) : JSON.stringify(events);

const lineOfOne = cachedStringify<Event>((event) => `[${JSON.stringify(event)}]`);

export const eventsOfHistory = (history: string): Event[] =>
  history === '' ? [] : history.split('\n').flatMap((line) => JSON.parse(line) as Event[]);

/** A row's history moves aside when its job's events pass a multiple of this, so that no row grows without end. */
export const historyTailMax = 32;

export const startsHistoryChunk = (versionBefore: number, versionAfter: number): boolean =>
  Math.floor(versionBefore / historyTailMax) !== Math.floor(versionAfter / historyTailMax) && versionBefore > 0;

/** What never changes of a job, for replay. */
export function originOf(job: Job): JobOrigin {
  const { id, kind, type, def, parent, key, created, gate, unique, policy, tags, input, tick } = facts(job);
  return { id, kind, type, def, parent, key, created, gate, unique, policy, tags, input, tick };
}

const sharedRow = (job: Job, body: string): SharedRow => ({
  id: job.id,
  version: job.version,
  kind: job.kind,
  type: job.type,
  def: job.def,
  parent: job.parent,
  created: job.created,
  input: job.input,
  body,
});

/** What has no column of its own, of an open job and of an ended one. */
export const openBody = (job: OpenJob): string => bodyText(bodyOf(job));

export function endedBody(job: EndedJob): string {
  const body = bodyOf(job);
  if (job.phase !== 'run') body.phase = job.phase;
  if (job.priority !== 0) body.priority = job.priority;
  if (job.due !== job.created) body.due = job.due;
  if (job.fence !== 0) body.fence = job.fence;
  if (job.gate !== null) body.gate = job.gate;
  return bodyText(body);
}

const bodyText = cachedStringify<Body>();
const bodyIn = cachedParse<Body>();

function bodyOf(job: Job): Body {
  const body: Body = { changed: job.changed };
  if (job.key !== null) body.key = job.key;
  if (job.generation !== 1) body.generation = job.generation;
  if (job.attempt !== 0) body.attempt = job.attempt;
  if (job.crashes !== 0) body.crashes = job.crashes;
  if (job.startedAt !== null) body.startedAt = job.startedAt;
  if (job.hasChildrenWaiting) body.hasChildrenWaiting = true;
  if (job.cancel !== null) body.cancel = job.cancel;
  if (job.error !== null) body.error = job.error;
  if (job.details !== null) body.details = job.details;
  if (job.plan !== null) body.plan = job.plan;
  if (job.unique !== null) body.unique = job.unique;
  if (hasFields(job.policy)) body.policy = job.policy;
  if (job.tags !== null) body.tags = job.tags;
  if (job.tick !== null) body.tick = job.tick;
  return body;
}

function hasFields(value: object): boolean {
  for (const _ in value) return true;
  return false;
}

/** What is a column of an open job, and in the body of an ended one. */
type OpenColumns = Pick<OpenRow, 'phase' | 'priority' | 'due' | 'fence' | 'gate'>;

const factsIn = (row: SharedRow, body: Body, columns: OpenColumns, admitted: boolean, result: string | null): JobFacts => ({
  id: row.id,
  version: row.version,
  kind: row.kind,
  type: row.type,
  def: row.def,
  parent: row.parent,
  created: row.created,
  input: row.input,
  key: body.key ?? null,
  changed: body.changed,
  generation: body.generation ?? 1,
  attempt: body.attempt ?? 0,
  crashes: body.crashes ?? 0,
  startedAt: body.startedAt ?? null,
  hasChildrenWaiting: body.hasChildrenWaiting ?? false,
  cancel: body.cancel ?? null,
  error: body.error ?? null,
  details: body.details ?? null,
  plan: body.plan ?? null,
  unique: body.unique ?? null,
  policy: body.policy ?? {},
  tags: body.tags ?? null,
  tick: body.tick ?? null,
  phase: columns.phase,
  priority: columns.priority,
  due: columns.due,
  fence: columns.fence,
  gate: columns.gate,
  admitted,
  result,
});
