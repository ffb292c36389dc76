/**
 * S40: while a pause is in force, no job of its type, key or named limit is claimed. The check begins when the pause was confirmed,
 * because a claim that was under way when the pause was written may have been committed after it.
 */
import { never } from '../model/definition.ts';
import { limitContentOf } from '../model/limit-record.ts';
import { isPausable, keyOf, type PauseContent } from '../model/pause.ts';
import { parseGate } from '../model/gate.ts';
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

/** A period in which nothing of a type, of one key of it, or of a named limit was claimed. */
export type PausedSpan = PausedTarget & {
  readonly from: number;
  readonly to: number;
};

type PausedTarget = { readonly type: string; readonly key: string | null } | { readonly limit: string };

/**
 * Returns the spans in which a pause was in force and confirmed. `slackMs`: how much shorter a span is at both ends,
 * because the instances of a live store estimate its time.
 */
export function spansOf({ job, events }: JobWithHistory, slackMs: number): PausedSpan[] {
  const spans: PausedSpan[] = [];
  let due = 0;
  let from: number | null = null;
  const close = (to: number): void => {
    if (from !== null && to - slackMs > from) spans.push({ type: job.type, key: keyOf(job), from, to: to - slackMs });
    from = null;
  };
  for (const event of events) {
    const confirmed = confirmedIn(event);
    if (confirmed !== null) from ??= confirmed + slackMs;
    else close(Math.min(due, event.at));
    due = event.kind === 'created' ? event.due : ((event.kind === 'edited' ? event.edit.due : undefined) ?? due);
  }
  close(due);
  return spans;
}

/** As `spansOf`, for the record of a named limit. */
export function limitSpansOf({ events }: JobWithHistory, slackMs: number): PausedSpan[] {
  const contents = events.flatMap((event) => (event.kind === 'edited' && event.edit.input !== undefined
    ? [{ at: event.at, ...limitContentOf(event.edit.input) }] : []));
  return contents.flatMap(({ name, paused, pauseConfirmed }, index) => {
    const to = Math.min(paused?.until ?? never, contents[index + 1]?.at ?? never) - slackMs;
    const from = (pauseConfirmed ?? never) + slackMs;
    return from < to ? [{ limit: name, from, to }] : [];
  });
}

/** The time after which nothing was claimed; null: the event is another one. */
function confirmedIn(event: Event): number | null {
  if (event.kind !== 'edited' || event.edit.due !== undefined || event.edit.input === undefined) return null;
  return (JSON.parse(event.edit.input) as Partial<PauseContent> | null)?.confirmed ?? null;
}

export function checkPauses({ job, events }: JobWithHistory, spans: readonly PausedSpan[]): Violation[] {
  if (!isPausable(job.kind)) return [];
  return spans.filter((span) => isPausedBy(span, job)).flatMap((span) =>
    claimsOf(events, span).filter(({ at }) => at > span.from && at < span.to).map(({ at }) =>
      violation('S40', job.id, `job ${job.id} was claimed at ${at}, while ${nameOf(span)} was paused`)));
}

function isPausedBy(span: PausedTarget, job: Job): boolean {
  if ('type' in span) return span.type === job.type && (span.key === null || span.key === keyOfJob(job));
  return job.gate !== null && (parseGate(job.gate).uses ?? []).some(({ name }) => name === span.limit);
}

function nameOf(span: PausedTarget): string {
  if ('limit' in span) return `limit ${span.limit}`;
  return span.key === null ? `type ${span.type}` : `key ${JSON.stringify(span.key)} of type ${span.type}`;
}

const keyOfJob = ({ gate }: Job): string | null => (gate === null ? null : parseGate(gate).key);

/** The claims to which the pause applies. A run that has passed its gate goes on although its key or limit is paused. */
function claimsOf(events: readonly Event[], span: PausedTarget): readonly Event[] {
  const planned = 'type' in span && span.key === null ? -1 : events.findIndex(({ kind }) => kind === 'planned');
  return (planned === -1 ? events : events.slice(0, planned)).filter(({ kind }) => kind === 'claimed');
}
