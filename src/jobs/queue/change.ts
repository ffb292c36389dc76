/** Changing queued jobs: update, fail, cancel, delete, requeue. */
import { applyTogether, unknownJob, type Asker } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import type { Command } from '../../model/command.ts';
import type { Job } from '../../model/job.ts';
import { steps, type Asking } from '../../model/machine.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { nextRepeat, parseRepeat } from '../../time/repeat.ts';
import { settleAfter } from '../settle.ts';
import { isMock, marked } from './data.ts';
import { isGone } from './look.ts';

export interface UpdateAsk {
  readonly id: number;
  readonly data: string;
  readonly repeat?: string;
  readonly clearsRepeat?: boolean;
  readonly due?: number;
  readonly priority?: number;
}

/** New data; with a new repeat rule also a new time, unless one is given. */
export const update = (store: Store, { id, data, repeat, clearsRepeat = false, due, priority }: UpdateAsk, asker: Asker): Promise<void> =>
  change(store, id, asker, (job, { now }) => {
    const { repeat: before, ...kept } = job.policy;
    const rule = clearsRepeat ? undefined : (repeat ?? before);
    const next = due ?? (repeat === undefined ? undefined : dueBy(job, repeat, now));
    const edit = {
      input: marked(data, isMock(job)),
      policy: { ...kept, ...(rule === undefined ? {} : { repeat: rule }) },
      ...(next === undefined ? {} : { due: next }),
      ...(priority === undefined ? {} : { priority }),
    };
    return [{ do: 'edit', edit }];
  });

/** It failed for good. For its parent that counts as an end like any other. */
export const fail = (store: Store, id: number, data: string | undefined, asker: Asker): Promise<void> =>
  change(store, id, asker, (job) => {
    if (job.state !== 'running') return new Refusal('wrong.state', `job ${id} is ${job.state}: only what is handed out can fail`, { id });
    const error = { code: 'unknown', message: 'its worker said that it failed' } as const;
    const edits: Command[] = data === undefined ? [] : [{ do: 'edit', edit: { input: data } }];
    return [...edits, { do: 'fail', fence: job.fence, error, retryable: false }];
  });

/** Ends a child that is not being worked on, or may be handed out again; others are left as they are. */
export const cancel = (store: Store, id: number, asker: Asker): Promise<void> =>
  change(store, id, asker, async (job) => {
    if (await hasChildren(store, job)) return new Refusal('has.children', `job ${id} has children and cannot be cancelled`, { id });
    if (job.parent === null) return new Refusal('no.parent', `job ${id} has no parent and cannot be cancelled`, { id });
    return cancelling(job);
  });

/** Removes every trace of a job that nobody works on. */
export async function remove(store: Store, id: number): Promise<void> {
  await applyTogether(store, async () => {
    const [job] = await store.load([id]);
    if (!job || isGone(job)) return unknownJob(id);
    const isWorkedOn = job.state === 'running' && job.policy.retryAfter === undefined;
    if (isWorkedOn || job.state === 'held') return new Refusal('wrong.state', `job ${id} is ${job.state} and cannot be deleted`, { id, state: job.state });
    return [{ before: job, after: null, events: [] }];
  });
}

/** Back to the queue from any state, due since its creation; what does not exist is passed over. */
export async function requeue(store: Store, ids: readonly number[], name: string | undefined, asker: Asker): Promise<void> {
  const changes = await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const jobs = (await store.load(ids)).filter((job) => !isGone(job));
    return allOrRefusal(jobs.map((job) => {
      const rename: Command[] = name === undefined ? [] : [{ do: 'edit', edit: { type: name } }];
      return steps(job, [...rename, { do: 'requeue', due: job.created }], asking);
    }));
  });
  await settleAfter(store, changes, asker);
}

function cancelling(job: Job): readonly Command[] {
  const reopened: Command = { do: 'requeue', due: job.due };
  const ended: Command = { do: 'stop', code: 'user' };
  if (job.state === 'ended') return job.fate === 'failed' ? [reopened, ended] : [];
  if (job.state === 'running') return job.policy.retryAfter === undefined ? [] : [ended];
  return job.state === 'pending' ? [ended] : [];
}

async function change(
  store: Store,
  id: number,
  asker: Asker,
  decide: (job: Job, asking: Asking) => readonly Command[] | Refusal | Promise<readonly Command[] | Refusal>,
): Promise<void> {
  const changes = await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const [job] = await store.load([id]);
    if (!job || isGone(job)) return unknownJob(id);
    const commands = await decide(job, asking);
    return commands instanceof Refusal ? commands : allOrRefusal([steps(job, commands, asking)]);
  });
  await settleAfter(store, changes, asker);
}

const allOrRefusal = (answers: readonly (Change | Refusal)[]): readonly Change[] | Refusal =>
  answers.find((answer) => answer instanceof Refusal) ?? (answers as readonly Change[]);

async function hasChildren(store: Store, { id }: Job): Promise<boolean> {
  return (await store.find({ parent: id }, { limit: 1 })).jobs.length > 0;
}

function dueBy(job: Job, repeat: string, now: number): number {
  const rule = parseRepeat(repeat);
  if (rule.base === 'started' && job.startedAt === null) {
    throw new Refusal('wrong.state', `job ${job.id} was never started: its next time cannot be counted from that`, { id: job.id });
  }
  return nextRepeat(rule, { scheduled: job.due, started: job.startedAt ?? now, finished: now });
}
