// Jobs for examples: made by the real machine, from what was asked of them and when.
import type { Command } from '../../src/model/command.ts';
import type { Event, FirstState } from '../../src/model/event.ts';
import { blankJob } from '../../src/model/evolve.ts';
import type { JobOrigin, Job, JobError } from '../../src/model/job.ts';
import { create, step } from '../../src/model/machine.ts';
import type { TerminateCode } from '../../src/model/state.ts';
import { isRefusal } from '../../src/refusal.ts';
import { bornAt } from '../support/reachable.ts';

export { bornAt };

export interface Made {
  readonly job: Job;
  readonly events: readonly Event[];
}

/** A command, how long after the job's birth it is given, and by whom. */
export type Asked = readonly [afterMs: number, command: (job: Job) => Command, by?: string];

export interface Being extends Partial<JobOrigin> {
  readonly first?: Partial<FirstState>;
}

export function made({ first, ...birth }: Being, ...asked: readonly Asked[]): Made {
  const born = create(birthOf(birth), { due: bornAt, priority: 0, ...first }, { by: 'producer', now: bornAt });
  return on({ job: born.after!, events: born.events }, ...asked);
}

/** The same job, further on. A refusal is a mistake in the example. */
export function on({ job, events }: Made, ...asked: readonly Asked[]): Made {
  return asked.reduce<Made>((so, [afterMs, command, by = 'someone']) => {
    const answer = step(so.job, command(so.job), { by, now: bornAt + afterMs, why: `${by} said so` });
    if (isRefusal(answer)) throw answer;
    return { job: answer.after!, events: [...so.events, ...answer.events] };
  }, { job, events });
}

/** A job that is not stored yet. */
export const unmade = (birth: Partial<JobOrigin> = {}): Job => blankJob(birthOf(birth));

const birthOf = (birth: Partial<JobOrigin>): JobOrigin => ({
  id: 1,
  kind: 'run',
  type: 'mail',
  def: null,
  parent: null,
  key: null,
  created: bornAt,
  gate: null,
  unique: null,
  policy: {},
  tags: null,
  input: '{}',
  tick: null,
  follows: null, typeVersion: 1,
  ...birth,
});

type Ask = (job: Job) => Command;

export const claim = (holder = 'w1', until: number | null = null): Ask => () => ({ do: 'claim', holder, until });
export const succeed = (result = 'null'): Ask => ({ fence }) => ({ do: 'succeed', fence, result });
export const fail = (error: JobError, retryable = true): Ask =>
  ({ fence }) => ({ do: 'fail', fence, error, retryable, retryAt: 0 });
export const release = (): Ask => ({ fence }) => ({ do: 'release', fence });
export const again = (due: number): Ask => ({ fence }) => ({ do: 'again', fence, due });
export const plan = (tasks: number): Ask => ({ fence }) => ({ do: 'plan', fence, tasks });
export const lapse = (): Ask => () => ({ do: 'lapse' });
export const settle = (): Ask => () => ({ do: 'settle' });
export const pause = (): Ask => () => ({ do: 'pause' });
export const resume = (): Ask => () => ({ do: 'resume' });
export const retry = (reopens = 0): Ask => () => ({ do: 'retry', reopens });
export const requeue = (due: number): Ask => () => ({ do: 'requeue', due });
export const cancel = (more: Partial<Extract<Command, { do: 'cancel' }>> = {}): Ask =>
  () => ({ do: 'cancel', code: 'user', ...more });
export const stop = (code: TerminateCode = 'user'): Ask => () => ({ do: 'stop', code });
export const broken: JobError = { code: 'unknown', message: 'it broke' };
