/** S49: while the resume of a type, key or named limit is spread, no job is claimed before its part is let out. */
import { never } from '../model/definition.ts';
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { contentOf, isInScope, scopeOf, type PauseScope } from '../model/pause.ts';
import { isHeldAt, passageAt, type Spread } from '../model/spread.ts';
import { stepsOf, type JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

/** A spread, and the time to which it lasted: it was replaced or ended, or ended by itself. */
export interface SpreadSpan {
  readonly scope: PauseScope;
  readonly spread: Spread;
  readonly to: number;
}

export const spreadSpansOf = ({ job, events }: JobWithHistory): SpreadSpan[] =>
  events.flatMap((event, index) => {
    const spread = spreadIn(job, event, events);
    return spread ? [{ scope: scopeOf(job), spread, to: Math.min(spread.until, events[index + 1]?.at ?? never) }] : [];
  });

/** Returns the spread that an event starts. The input of a creation is that of the job, unless it was changed later. */
function spreadIn(job: Job, event: Event, events: readonly Event[]): Spread | undefined {
  if (event.kind === 'edited') return event.edit.input === undefined ? undefined : contentOf({ input: event.edit.input }).spread;
  const isAsCreated = event.kind === 'created' && !events.some((other) => other.kind === 'edited' && other.edit.input !== undefined);
  return isAsCreated ? contentOf(job).spread : undefined;
}

/** `slackMs`: how much the times of claims may differ from that of the store, because instances estimate it. */
export function checkSpreads({ job, events }: JobWithHistory, spans: readonly SpreadSpan[], slackMs: number): Violation[] {
  const concerned = spans.filter(({ scope }) => isInScope(scope, { ...job, admitted: false }));
  if (concerned.length === 0) return [];
  const claims = stepsOf(job, events).filter(({ event }) => event.kind === 'claimed');
  return concerned.flatMap(({ scope, spread, to }) => claims
    .filter(({ before, event: { at } }) => at > spread.from + slackMs && at < to - slackMs && isInScope(scope, before) &&
      isHeldAt(passageAt(spread, at + slackMs), before))
    .map(({ event }) => violation('S49', job.id, `job ${job.id} was claimed at ${event.at}, before the spread of a resume let it out`)));
}
