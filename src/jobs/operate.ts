/**
 * Operating on jobs: cancel, stop, pause, resume, requeue, edit, delete. Each action is recorded with its actor,
 * and with a reason if one was given. Only a delete can have no actor; it then writes no audit entry.
 */
import { apply, remove, removeAndRecord, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Edit } from '../model/event.ts';
import { isOpen, type Job } from '../model/job.ts';
import type { TerminateCode } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import type { Store, Writer } from '../store/store.ts';
import { auditRecord, auditView, closeRecord } from './audit.ts';
import type { Producer } from './new-jobs.ts';
import { proceedAfterDeletion } from './proceed.ts';
import { cancelChildren, settleAfter, settleParents, stopChildren } from './settle.ts';
import { workOf } from './work-of.ts';

export interface Act extends Asker {
  readonly code?: TerminateCode;
}

/**
 * Cancels a job and its open children. A job that is running is asked to stop, and stopped by force after `graceMs`, if
 * given. A job that waits for its children ends after them. Any other open job ends immediately.
 */
export async function cancelJob(
  store: Writer,
  id: number,
  { code = 'user', ...asker }: Act,
  graceMs?: number,
): Promise<Job> {
  const job = await workOf(store, id);
  const change = await apply(store, job, { do: 'cancel', code, ...(graceMs === undefined ? {} : { graceMs }) }, asker);
  return withFamily(store, change, asker, graceMs);
}

/** Ends a job and its children immediately. Later writes of their holders are refused. */
export async function stopJob(store: Store, id: number, { code = 'user', ...asker }: Act): Promise<Job> {
  const job = await workOf(store, id);
  if (isOpen(job)) await stopChildren(store, job.id, asker);
  const change = await apply(store, id, { do: 'stop', code }, asker);
  // Stops children that were added since the first call. The parent has ended now, so no more can be added.
  await stopChildren(store, job.id, asker);
  await settleAfter(store, [change], asker);
  return change.after!;
}

export const pauseJob = async (store: Store, id: number, asker: Asker): Promise<Job> =>
  (await apply(store, await workOf(store, id), { do: 'pause' }, asker)).after!;

export const resumeJob = async (store: Store, id: number, asker: Asker): Promise<Job> =>
  (await apply(store, await workOf(store, id), { do: 'resume' }, asker)).after!;

/** Returns a job to the queue from any state. */
export const requeueJob = async (store: Store, id: number, due: number, asker: Asker): Promise<Job> =>
  (await apply(store, await workOf(store, id), { do: 'requeue', due }, asker)).after!;

export const editJob = async (store: Writer, id: number, edit: Edit, asker: Asker): Promise<Job> =>
  (await apply(store, await workOf(store, id), { do: 'edit', edit }, asker)).after!;

/** How often a deletion is tried if the job changes between the read and the write. */
const deleteTriesMax = 50;

/**
 * Deletes an ended job with its history and notes; if there is an asker, writes an audit entry. Refuses to delete a
 * task and a child run: the result of its run depends on them, so they are deleted only together with that run.
 */
export async function deleteJob(producer: Producer, id: number, asker: Asker | null): Promise<void> {
  const { store } = producer;
  for (let tries = 0; tries < deleteTriesMax; tries++) {
    const job = await workOf(store, id);
    if (isOpen(job)) throw stillOpen(job);
    if (job.kind === 'task' || (job.kind === 'run' && job.parent !== null)) throw ofARun(job);
    if (await (asker ? removeAudited(producer, job, asker) : isRemoved(store, job))) {
      return proceedAfterDeletion(store, job, asker ?? { by: 'deletion' });
    }
  }
  throw new Refusal('contended', `job ${id} changed again and again while it was deleted: try again`, { id });
}

const isRemoved = async (store: Store, job: Job): Promise<boolean> => (await remove(store, [job]))[0]!;

async function removeAudited(producer: Producer, job: Job, asker: Asker): Promise<boolean> {
  const entry = { action: 'delete', job: job.id, def: job.def, before: auditView(job), after: null };
  const record = await auditRecord(producer, entry, asker);
  const isGone = await removeAndRecord(producer.store, job, record);
  if (isGone) await closeRecord(producer, record, asker);
  return isGone;
}

const stillOpen = ({ id, state }: Job): Refusal =>
  new Refusal('wrong.state', `job ${id} is ${state}: cancel or stop it before deleting it`, { id, state });

const ofARun = ({ id, kind, parent }: Job): Refusal =>
  new Refusal('wrong.state', `job ${id} is a ${kind === 'task' ? 'task' : 'child'} of run ${parent}: delete the run instead`, { id, parent });

async function withFamily(store: Writer, change: Change, asker: Asker, graceMs?: number): Promise<Job> {
  const job = change.after!;
  if (job.parent === null || job.kind === 'run') await cancelChildren(store, job.id, asker, graceMs);
  if (job.state === 'held') await settleParents(store, asker, [job.id]);
  else await settleAfter(store, [change], asker);
  return job.state === 'held' ? ((await store.load([job.id]))[0] ?? job) : job;
}
