/** Builds the context with which the handler of an attempt is called. */
import type { Job } from '../../model/job.ts';
import { durationMs } from '../../time/duration.ts';
import type { Attempt } from './attempt.ts';
import { HandedOff, type Context } from '../handler/context.ts';

/** Returns the context of an attempt. It has only plain properties, so that handlers can destructure or spread it. */
export function contextOf(
  attempt: Attempt,
  facts: AttemptFacts,
  functions: Omit<Context, keyof AttemptFacts | 'signal' | 'handOff'>,
): Context {
  const { run, idempotencyKey, fence } = facts;
  const { progress, log, output, complete, limits, step, sleep, waitFor } = functions;
  const handOff: Context['handOff'] = ({ within } = {}) =>
    new HandedOff(attempt.token, within === undefined ? null : durationMs(within));
  const { signal } = attempt;
  return { run, idempotencyKey, fence, signal, handOff, progress, log, output, complete, limits, step, sleep, waitFor };
}

export type AttemptFacts = Pick<Context, 'run' | 'idempotencyKey' | 'fence'>;

export const factsOf = ({ job }: Attempt, keyPrefix = ''): AttemptFacts => ({
  run: {
    id: job.id, type: job.type, def: job.def, dueTime: new Date(job.due), tickTime: tickTimeOf(job),
    // A copy: what a handler writes to it must not change the job.
    tags: { ...job.tags },
    // `job.attempt` leaves out attempts that ended with a crash; handlers see a number that includes them.
    attempt: job.attempt + job.crashes,
  },
  idempotencyKey: `${keyPrefix}${job.id}.${job.generation}`,
  fence: job.fence,
});

export const tickTimeOf = ({ tick }: Job): Date | null => (tick === null ? null : new Date(tick.nominal));
