/** Changing Bedrock jobs: update, fail, cancel, delete, requeue. */
import { applyTogether, unknownJob, type Asker } from '../../apply.ts';
import type { Change } from '../../model/change.ts';
import type { Command } from '../../model/command.ts';
import type { Job } from '../../model/job.ts';
import { checkExactText } from '../../model/json.ts';
import { step, steps, type Asking } from '../../model/machine.ts';
import { Refusal } from '../../refusal.ts';
import { openStandings, type Standing } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import { nextRepeat, parseRepeat } from '../../time/repeat.ts';
import { checkName } from '../checks/values.ts';
import { checkPolicy } from '../checks/policy.ts';
import { handOuts } from '../../vocabulary/bedrock.ts';
import { openChildren, settleAfter, settleParents } from '../settle.ts';
import { checkDue, checkQueuePriority } from './check.ts';
import { isMock, keepData, marked, uncounted } from './data.ts';
import { heldJob } from './held.ts';
import { isGone } from './query.ts';

export interface UpdateRequest {
  readonly id: number;
  readonly data: string;
  readonly repeat?: string;
  readonly clearsRepeat?: boolean;
  readonly due?: number;
  readonly priority?: number;
  /** Whether the job skips the repeats that it has missed, instead of catching up; see `nextRepeat`. */
  readonly reanchor?: boolean;
}

/**
 * Replaces the data, and changes the other fields that the request sets. Without a due time in the request, a new
 * repeat rule sets the due time.
 */
export async function update(store: Store, request: UpdateRequest, asker: Asker): Promise<void> {
  const { id, repeat, due, priority } = request;
  const data = checkExactText(request.data);
  if (repeat !== undefined) checkPolicy({ repeat }, store.now());
  if (priority !== undefined) checkQueuePriority(priority);
  if (due !== undefined) checkDue('nextRun', due);
  await change(store, id, asker, (job, { now }) => {
    const next = due ?? (repeat === undefined ? undefined : dueBy(job, repeat, now, request.reanchor ?? false));
    const edit = {
      input: marked(uncounted(data), isMock(job)),
      policy: policyAfter(job, request),
      ...(next === undefined ? {} : { due: next }),
      ...(priority === undefined ? {} : { priority }),
    };
    return [{ do: 'edit', edit }, ...(next === undefined ? [] : leaseUntil(job, next))];
  });
}

function policyAfter({ policy }: Job, { repeat, clearsRepeat }: UpdateRequest): Job['policy'] {
  const { repeat: before, ...others } = policy;
  const rule = clearsRepeat ? undefined : (repeat ?? before);
  return { ...others, ...(rule === undefined ? {} : { repeat: rule }) };
}

/**
 * For a running job with `retryAfter`, returns the command that moves the end of its lease to the new due time. If the
 * worker has not finished by then, the job is handed out again. For any other job, returns no command.
 */
function leaseUntil(job: Job, until: number): readonly Command[] {
  if (job.state !== 'running' || job.policy.retryAfter === undefined) return [];
  return [{ do: 'handOff', fence: job.fence, holder: job.lease.holder, until }];
}

/** Fails a job without a retry. Its parent does not wait for it any longer. */
export async function fail(store: Store, id: number, data: string | undefined, asker: Asker): Promise<void> {
  const error = { code: 'unknown', message: 'its worker reported a failure' } as const;
  const changes = await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const [job] = await store.load([id]);
    const held = heldJob(job, id, asking);
    if (held instanceof Refusal) return held;
    const edits = data === undefined ? keepData(job!) : replaceData(job!, data);
    const failing: Command = { do: 'fail', fence: held.after!.fence, error, retryable: false };
    const failed = steps(held.after!, [...edits, failing], asking);
    if (failed instanceof Refusal) return failed;
    return [{ ...failed, before: held.before, events: [...held.events, ...failed.events] }];
  });
  await settleAfter(store, changes, asker);
}

const replaceData = (job: Job, data: string): readonly Command[] =>
  [{ do: 'edit', edit: { input: marked(checkExactText(data), isMock(job)) } }];

/**
 * Cancels a child that is pending, has failed, or is running with `retryAfter`. A child in another state stays
 * unchanged. Refuses a job that has children or no parent.
 */
export const cancel = (store: Store, id: number, asker: Asker): Promise<void> =>
  change(store, id, asker, async (job) => {
    const cannot = (code: 'has.children' | 'no.parent', why: string): Refusal =>
      new Refusal(code, `job ${id} ${why} and cannot be cancelled`, { id });
    if (await hasChildren(store, job)) return cannot('has.children', 'has children');
    if (job.parent === null) return cannot('no.parent', 'has no parent');
    return cancelling(job);
  });

/** Deletes a job. Refuses a job that is held, is running without `retryAfter`, or has open children. */
export async function remove(store: Store, id: number, asker: Asker): Promise<void> {
  const [{ before }] = (await applyTogether(store, async () => {
    const [job] = await store.load([id]);
    if (!job || isGone(job)) return unknownJob(id);
    const isWorkedOn = job.state === 'running' && job.policy.retryAfter === undefined;
    if (isWorkedOn || job.state === 'held') return undeletable(job, job.state);
    if (await hasChildren(store, job, openStandings)) return undeletable(job, 'held');
    return [{ before: job, after: null, events: [] }];
  })) as [Change];
  if (before!.parent !== null) await settleParents(store, asker, [before!.parent]);
}

const undeletable = ({ id }: Job, state: 'running' | 'held'): Refusal =>
  new Refusal('wrong.state', `job ${id} is worked on or waited for, and cannot be deleted`, { id, state });

export interface RequeueRequest {
  readonly ids: readonly number[];
  readonly name?: string;
  /** Whether the last hand-out is not counted, because its worker never got the job or did not start it. */
  readonly decrementsFailures?: boolean;
}

/**
 * Returns jobs to the queue from any state. Their due time becomes the time of their creation, so they are due at once.
 * Unknown ids are ignored.
 */
export async function requeue(store: Store, request: RequeueRequest, asker: Asker): Promise<void> {
  if (request.name !== undefined) checkName('name', request.name);
  await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const jobs = (await store.load(request.ids)).filter((job) => !isGone(job));
    const requeued = jobs.map((job) => steps(job, requeueing(job, request), asking));
    return allOrRefusal([...requeued, ...(await parentsReopened(store, jobs, asking))]);
  });
}

function requeueing(job: Job, { name, decrementsFailures = false }: RequeueRequest): readonly Command[] {
  const rename: Command[] = name === undefined ? [] : [{ do: 'edit', edit: { type: name } }];
  return [...rename, ...(job.state === 'ended' ? resetCount(job) : []), {
    do: 'requeue',
    due: job.created,
    ...(handOuts(job) === 0 ? {} : { crashes: handOuts(job) - (decrementsFailures ? 1 : 0) }),
  }];
}

/**
 * Returns the edit that removes the count of hand-outs from the data of an ended job, so that counting starts again.
 */
function resetCount({ input, policy }: Job): readonly Command[] {
  const reset = policy.handOutsMax === undefined ? input : uncounted(input);
  return reset === input ? [] : [{ do: 'edit', edit: { input: reset } }];
}

/**
 * Returns the changes that reopen the ended parents of requeued jobs, so that each parent waits for its child again.
 * Also returns the changes that free the other children with the hold `parent`. A parent frees such children when it
 * begins to wait, but a reopened parent waits already.
 */
async function parentsReopened(store: Store, jobs: readonly Job[], asking: Asking): Promise<(Change | Refusal)[]> {
  const here = new Set(jobs.map(({ id }) => id));
  const elsewhere = new Set(jobs.flatMap(({ parent }) => (parent === null || here.has(parent) ? [] : [parent])));
  const parents = elsewhere.size === 0 ? [] : await store.load([...elsewhere]);
  const ended = parents.filter(({ state }) => state === 'ended');
  const waiting = (await Promise.all(ended.map((parent) => childrenWaitingFor(store, parent)))).flat();
  return [
    ...ended.map((parent) => step(parent, { do: 'retry', reopens: 1 }, asking)),
    ...waiting.filter(({ id }) => !here.has(id)).map((child) => step(child, { do: 'free' }, asking)),
  ];
}

async function childrenWaitingFor(store: Store, parent: Job): Promise<readonly Job[]> {
  if (!parent.hasChildrenWaiting) return [];
  const open = (await Array.fromAsync(openChildren(store, parent.id))).flat();
  return open.filter((child) => child.state === 'held' && child.hold === 'parent');
}

function cancelling(job: Job): readonly Command[] {
  const reopened: Command = { do: 'requeue', due: job.due };
  const ended: Command = { do: 'stop', code: 'user' };
  if (job.state === 'ended') return job.fate === 'failed' ? [reopened, ended] : [];
  if (job.state === 'running') return job.policy.retryAfter === undefined ? [] : [...keepData(job), ended];
  return job.state === 'pending' ? [...keepData(job), ended] : [];
}

type Decide = (job: Job, asking: Asking) => readonly Command[] | Refusal | Promise<readonly Command[] | Refusal>;

async function change(store: Store, id: number, asker: Asker, decide: Decide): Promise<void> {
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

async function hasChildren(store: Store, { id }: Job, standings?: readonly Standing[]): Promise<boolean> {
  const { jobs } = await store.find({ parent: id, ...(standings === undefined ? {} : { standings }) }, { limit: 1 });
  return jobs.length > 0;
}

function dueBy(job: Job, repeat: string, now: number, reanchor: boolean): number {
  const rule = parseRepeat(repeat);
  if (rule.base === 'started' && job.startedAt === null) {
    const message = `job ${job.id} was never started: its next time cannot be counted from that`;
    throw new Refusal('wrong.state', message, { id: job.id });
  }
  return nextRepeat(rule, { scheduled: job.due, started: job.startedAt ?? now, finished: now }, { reanchor });
}
