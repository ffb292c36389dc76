/** Operating on jobs: cancel, stop, pause, resume, retry, edit, delete. Every act names who asked and why. */
import { apply, applyTogether, remove, unknownJob, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Edit } from '../model/event.ts';
import { isOpen, type Job } from '../model/job.ts';
import { step } from '../model/machine.ts';
import type { TerminateCode } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { checkPriority, checkTime } from './draft.ts';
import { cancelChildren, settleAfter, settleParents } from './settle.ts';

export interface Act extends Asker {
  readonly code?: TerminateCode;
}

/** Asks a job to give up: at once where nothing runs, at the next safe point where something does. */
export async function cancelJob(store: Store, id: number, { code = 'user', ...asker }: Act, graceMs?: number): Promise<Job> {
  const change = await apply(store, id, { do: 'cancel', code, ...(graceMs === undefined ? {} : { graceMs }) }, asker);
  return withFamily(store, change, asker);
}

/** Ends a job now. Whoever works on it can write nothing any more. */
export async function stopJob(store: Store, id: number, { code = 'user', ...asker }: Act): Promise<Job> {
  const [job] = await store.load([id]);
  if (!job) throw unknownJob(id);
  if (job.state === 'held' && job.hold === 'children') await stopChildren(store, job, asker);
  const change = await apply(store, id, { do: 'stop', code }, asker);
  await settleAfter(store, [change], asker);
  return change.after!;
}

export const pauseJob = async (store: Store, id: number, asker: Asker): Promise<Job> =>
  (await apply(store, id, { do: 'pause' }, asker)).after!;

export const resumeJob = async (store: Store, id: number, asker: Asker): Promise<Job> =>
  (await apply(store, id, { do: 'resume' }, asker)).after!;

/** Opens an ended job again; of a run with tasks all of them, or only those that did not succeed. */
export async function retryJob(store: Store, id: number, asker: Asker, only?: 'failed'): Promise<Job> {
  const [change] = await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const [job] = await store.load([id]);
    if (!job) return unknownJob(id);
    const tasks = isOpen(job) ? [] : await tasksToReopen(store, job, only);
    const steps = [step(job, { do: 'retry', reopens: tasks.length }, asking), ...tasks.map((task) => step(task, { do: 'retry', reopens: 0 }, asking))];
    return steps.find((answer) => answer instanceof Refusal) ?? (steps as Change[]);
  });
  if (change === undefined) throw unknownJob(id);
  return change.after!;
}

/** Back to the queue, from whatever state. */
export async function requeueJob(store: Store, id: number, due: number, asker: Asker): Promise<Job> {
  return (await apply(store, id, { do: 'requeue', due: checkTime('due', due) }, asker)).after!;
}

export async function editJob(store: Store, id: number, edit: Edit, asker: Asker): Promise<Job> {
  if (edit.priority !== undefined) checkPriority(edit.priority);
  if (edit.due !== undefined) checkTime('due', edit.due);
  return (await apply(store, id, { do: 'edit', edit }, asker)).after!;
}

/** Removes every trace of a job that has ended. */
export async function deleteJob(store: Store, id: number): Promise<void> {
  for (;;) {
    const [job] = await store.load([id]);
    if (!job) throw unknownJob(id);
    if (isOpen(job)) throw new Refusal('wrong.state', `job ${id} is ${job.state}: cancel or stop it before deleting it`, { id, state: job.state });
    const [gone] = await remove(store, [job]);
    if (gone) return;
  }
}

async function withFamily(store: Store, change: Change, asker: Asker): Promise<Job> {
  const job = change.after!;
  if (job.state === 'held' && job.hold === 'children') {
    await cancelChildren(store, job.id, asker);
    await settleParents(store, asker, [job.id]);
    return (await store.load([job.id]))[0] ?? job;
  }
  await settleAfter(store, [change], asker);
  return job;
}

async function stopChildren(store: Store, parent: Job, asker: Asker): Promise<void> {
  for (;;) {
    const { jobs } = await store.find({ parent: parent.id, standings: ['pending', 'held', 'running'] }, { limit: 1000 });
    if (jobs.length === 0) return;
    await Promise.all(jobs.map((job) => apply(store, job.id, { do: 'stop', code: 'parent' }, asker).catch(ignoreEnded)));
  }
}

/** A child that ended by itself in the meantime needs no stop. */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof Refusal) || (error.code !== 'wrong.state' && error.code !== 'unknown.job')) throw error;
}

async function tasksToReopen(store: Store, run: Job, only?: 'failed'): Promise<Job[]> {
  const tasks: Job[] = [];
  for (let after: number | undefined; ; ) {
    const page = await store.find(
      { parent: run.id, standings: only ? ['failed', 'cancelled'] : ['succeeded', 'failed', 'cancelled'] },
      { order: 'oldest', limit: 1000, ...(after === undefined ? {} : { after }) },
    );
    tasks.push(...page.jobs);
    if (page.next === null) return tasks;
    after = page.next;
  }
}
