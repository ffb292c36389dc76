/** Finishing a Bedrock job that was handed out: it ends, repeats, waits for its children, or returns to the queue. */
import { applyTogether, isChange, type Asker } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import type { Command } from '../../model/command.ts';
import type { Edit } from '../../model/event.ts';
import type { Job } from '../../model/job.ts';
import { checkExactText } from '../../model/json.ts';
import { step, steps, type Asking } from '../../model/machine.ts';
import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { checkName, checkWhole } from '../checks/values.ts';
import { openChildren, settleAfter } from '../settle.ts';
import { checkDue, checkQueuePriority } from './check.ts';
import { asksForDeletion, isMarked, isMock, uncounted } from './data.ts';
import { endedChildren, mayHaveChildren } from './hand-out.ts';
import { heldOrMock } from './held.ts';

export interface FinishRequest {
  readonly id: number;
  /** JSON text that replaces the job's data. */
  readonly data?: string;
  readonly ignoreRepeat?: boolean;
  /** Whether the job skips the repeats that it has missed, instead of catching up; see `nextRepeat`. */
  readonly reanchor?: boolean;
}

export interface RetryRequest extends FinishRequest {
  /** When the job is due again; used only if it does not repeat. */
  readonly due: number | { readonly inSeconds: number };
  readonly name?: string;
  readonly priority?: number;
}

/** Finishes a job. If it has open children, it waits for them. If not, it repeats (see `repeats`) or ends. */
export const finish = (store: Store, request: FinishRequest, asker: Asker): Promise<void> =>
  conclude(store, request, asker, async (job) => {
    const children = mayHaveChildren(job) ? (await Array.fromAsync(openChildren(store, job.id))).flat() : [];
    if (children.length === 0) return { commands: [done(job, request, !repeats(job, request))], freed: [] };
    return { commands: [waitFor(children.length, job)], freed: children };
  });

/**
 * Returns the command that makes a job wait for its children. It sets the due time of the job to its last start, so
 * that the job is due as soon as the children have ended.
 */
const waitFor = (children: number, { fence, startedAt }: Job): Command =>
  ({ do: 'plan', fence, tasks: children, ...(startedAt === null ? {} : { due: startedAt }) });

/** Makes a job due again: by its repeat rule if it repeats (see `repeats`), otherwise at the time in the request. */
export const retry = (store: Store, request: RetryRequest, asker: Asker): Promise<void> =>
  conclude(store, request, asker, async (job, { now }) => {
    const edit: Edit = {
      ...(request.name === undefined ? {} : { type: checkName('name', request.name) }),
      ...(request.priority === undefined ? {} : { priority: checkQueuePriority(request.priority) }),
    };
    const last: Command = repeats(job, request)
      ? done(job, request, false)
      : { do: 'again', fence: job.fence, due: dueAgain(request, now) };
    return { commands: [...(Object.keys(edit).length > 0 ? [{ do: 'edit', edit } as const] : []), last], freed: [] };
  });

const delaySecondsMax = 99_999_999;

const dueAgain = ({ due }: RetryRequest, now: number): number =>
  typeof due === 'number'
    ? checkDue('nextRun', due)
    : now + checkWhole('delay', due.inSeconds, 0, delaySecondsMax) * 1000;

interface Conclusion {
  readonly commands: readonly Command[];
  /** Children that waited for the job and can be claimed now. */
  readonly freed: readonly Job[];
}

type Conclude = (job: Job, asking: Asking) => Promise<Conclusion>;

async function conclude(store: Store, request: FinishRequest, asker: Asker, decide: Conclude): Promise<void> {
  const changes = await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const [job] = await store.load([request.id]);
    const held = heldOrMock(job, request.id, asking);
    if (held instanceof Refusal) return held;
    const refused = (await refusedByParent(store, job!)) ?? refusedByMark(job!, request);
    if (refused) return refused;
    const edits: Command[] = request.data === undefined
      ? []
      : [{ do: 'edit', edit: { input: uncounted(request.data) } }];
    const { commands, freed } = await decide(held.after!, asking);
    const concluded = steps(held.after!, [...edits, ...commands], asking);
    if (concluded instanceof Refusal) return concluded;
    const isWaiting = concluded.after?.state === 'held';
    const past = await endedChildren(store, held.after!, ['succeeded', 'cancelled']);
    return [
      { before: held.before, after: concluded.after, events: [...held.events, ...concluded.events] },
      ...(isWaiting ? freed : []).map((child) => step(child, { do: 'free' }, asking)).filter(isChange),
      ...past.map((before): Change => ({ before, after: null, events: [] })),
    ];
  });
  await settleAfter(store, changes, asker);
}

async function refusedByParent(store: Store, { id, parent }: Job): Promise<Refusal | null> {
  if (parent === null) return null;
  const [job] = await store.load([parent]);
  if (job?.state === 'held' && job.hold === 'children') return null;
  return new Refusal('wrong.parent', `the parent of job ${id} does not wait for it`, { id, parent });
}

function refusedByMark(job: Job, { id, data }: FinishRequest): Refusal | null {
  if (data === undefined || isMarked(checkExactText(data)) === isMock(job)) return null;
  return new Refusal('mismatched.mock', `the data of job ${id} must keep its mark`, { id });
}

const done = ({ fence }: Job, { reanchor = false }: FinishRequest, ignoreRepeat: boolean): Command =>
  ({ do: 'succeed', fence, ignoreRepeat, despiteChildren: true, reanchor });

const repeats = (job: Job, { ignoreRepeat, data }: FinishRequest): boolean =>
  job.policy.repeat !== undefined && !ignoreRepeat && !(data !== undefined && asksForDeletion(data));
