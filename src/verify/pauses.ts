/**
 * S40: while a pause is in force, no job of its type or key is claimed. The check begins when the pause was confirmed,
 * because a claim that was under way when the pause was written may have been committed after it.
 */
import { isPausable, keyOf, type PauseContent } from '../model/pause.ts';
import { parseGate } from '../model/gate.ts';
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

/** A period in which nothing of a type, or of one key of it, was claimed. */
export interface PausedSpan {
  readonly type: string;
  readonly key: string | null;
  readonly from: number;
  readonly to: number;
}

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

/** The time after which nothing was claimed; null: the event is another one. */
function confirmedIn(event: Event): number | null {
  if (event.kind !== 'edited' || event.edit.due !== undefined || event.edit.input === undefined) return null;
  return (JSON.parse(event.edit.input) as Partial<PauseContent> | null)?.confirmed ?? null;
}

export function checkPauses({ job, events }: JobWithHistory, spans: readonly PausedSpan[]): Violation[] {
  if (!isPausable(job.kind)) return [];
  const applying = spans.filter(({ type, key }) => type === job.type && (key === null || key === keyOfJob(job)));
  return applying.flatMap((span) =>
    claimsOf(events, span).filter(({ at }) => at > span.from && at < span.to).map(({ at }) => {
      const what = span.key === null ? `type ${span.type}` : `key ${JSON.stringify(span.key)} of type ${span.type}`;
      return violation('S40', job.id, `job ${job.id} was claimed at ${at}, while ${what} was paused`);
    }));
}

const keyOfJob = ({ gate }: Job): string | null => (gate === null ? null : parseGate(gate).key);

/** The claims to which the pause applies. A run that has passed its gate goes on although its key is paused. */
function claimsOf(events: readonly Event[], { key }: PausedSpan): readonly Event[] {
  const planned = key === null ? -1 : events.findIndex(({ kind }) => kind === 'planned');
  return (planned === -1 ? events : events.slice(0, planned)).filter(({ kind }) => kind === 'claimed');
}
