/** Finishing a hand-out: the job is done, repeats, waits for its children, or goes back to the queue. */
import { applyTogether, isChange, unknownJob, type Asker } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import type { Command } from '../../model/command.ts';
import type { Edit } from '../../model/event.ts';
import type { Job } from '../../model/job.ts';
import { step, steps, type Asking } from '../../model/machine.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { openChildren, settleAfter } from '../settle.ts';
import { asksForDeletion, isMarked, isMock } from './data.ts';
import { endedChildren } from './hand-out.ts';
import { isGone } from './look.ts';

export interface FinishAsk {
  readonly id: number;
  /** JSON text that replaces the job's data. */
  readonly data?: string;
  readonly ignoreRepeat?: boolean;
}

export interface RetryAsk extends FinishAsk {
  /** When it is due again, unless it repeats. */
  readonly due: number;
  readonly name?: string;
  readonly priority?: number;
}

/** The work is done: it repeats if it is to, waits if children are open, and is gone otherwise. */
export const finish = (store: Store, ask: FinishAsk, asker: Asker): Promise<void> =>
  conclude(store, ask, asker, async (job) => {
    const children = (await Array.fromAsync(openChildren(store, job.id))).flat();
    if (children.length > 0) return { commands: [{ do: 'plan', fence: job.fence, tasks: children.length }], freed: children };
    const ignoreRepeat = !repeats(job, ask);
    return { commands: [{ do: 'succeed', fence: job.fence, ignoreRepeat, despiteChildren: true }], freed: [] };
  });

/** The work is to be done again: when its repeat rule says, or when the worker says. */
export const retry = (store: Store, ask: RetryAsk, asker: Asker): Promise<void> =>
  conclude(store, ask, asker, async (job) => {
    const edit: Edit = {
      ...(ask.name === undefined ? {} : { type: ask.name }),
      ...(ask.priority === undefined ? {} : { priority: ask.priority }),
    };
    const last: Command = repeats(job, ask)
      ? { do: 'succeed', fence: job.fence, despiteChildren: true }
      : { do: 'again', fence: job.fence, due: ask.due };
    return { commands: [...(Object.keys(edit).length > 0 ? [{ do: 'edit', edit } as const] : []), last], freed: [] };
  });

interface Conclusion {
  readonly commands: readonly Command[];
  /** Children that may go now. */
  readonly freed: readonly Job[];
}

async function conclude(store: Store, ask: FinishAsk, asker: Asker, decide: (job: Job) => Promise<Conclusion>): Promise<void> {
  const changes = await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const held = await heldJob(store, ask.id, asking);
    if (held instanceof Refusal) return held;
    const mismatch = ask.data !== undefined && isMarked(ask.data) !== isMock(held.before!);
    if (mismatch) return new Refusal('mismatched.mock', `the data of job ${ask.id} must keep its mark`, { id: ask.id });
    const { commands, freed } = await decide(held.after!);
    const edits: Command[] = ask.data === undefined ? [] : [{ do: 'edit', edit: { input: ask.data } }];
    const concluded = steps(held.after!, [...edits, ...commands], asking);
    if (concluded instanceof Refusal) return concluded;
    const past = (await endedChildren(store, held.before!)).filter(({ fate }) => fate !== 'failed');
    return [
      { before: held.before, after: concluded.after, events: [...held.events, ...concluded.events] },
      ...freed.map((child) => step(child, { do: 'free' }, asking)).filter(isChange),
      ...past.map((before) => ({ before, after: null, events: [] })),
    ];
  });
  await settleAfter(store, changes, asker);
}

/** The job as a worker holds it. A mock may be finished from any state: it is taken first. */
async function heldJob(store: Store, id: number, asking: Asking): Promise<Change | Refusal> {
  const [job] = await store.load([id]);
  if (!job || isGone(job)) return unknownJob(id);
  if (job.state !== 'running' && !isMock(job)) {
    return new Refusal('wrong.state', `job ${id} is ${job.state}: only what is handed out can be finished`, { id, state: job.state });
  }
  const [parent] = job.parent === null ? [] : await store.load([job.parent]);
  const isParentWaiting = parent?.state === 'held' && parent.hold === 'children';
  if (job.parent !== null && parent && !isParentWaiting) {
    return new Refusal('wrong.parent', `the parent of job ${id} does not wait for it`, { id, parent: job.parent });
  }
  if (job.state === 'running') return { before: job, after: job, events: [] };
  return steps(job, [{ do: 'requeue', due: asking.now }, { do: 'claim', holder: asking.by, until: null }], asking);
}

const repeats = (job: Job, { ignoreRepeat, data }: FinishAsk): boolean =>
  job.policy.repeat !== undefined && !ignoreRepeat && !(data !== undefined && asksForDeletion(data));
