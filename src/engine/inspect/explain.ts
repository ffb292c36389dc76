/** Explains why a job is not running: returns every reason that applies, in order of importance. */
import type { Jobs } from '../../jobs.ts';
import { parseGate, Turnstile, type Limits } from '../../model/gate.ts';
import type { Job, PendingJob } from '../../model/job.ts';
import type { Instance } from '../../store/store.ts';
import { openStandings } from '../../store/query.ts';

export interface Reason {
  readonly code: ReasonCode;
  /** A sentence for display. */
  readonly says: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export type ReasonCode =
  | 'ended' | 'running' | 'paused' | 'waits.parent' | 'waits.children' | 'not.due' | 'parent.cancelled'
  | 'type.unknown' | 'suspended' | 'leader.only' | 'limit.full' | 'slots.busy' | 'about.to.run';

export async function explain(jobs: Jobs, job: Job, limits: Limits): Promise<readonly Reason[]> {
  switch (job.state) {
    case 'ended':
      return [{ code: 'ended', says: `it has ended: ${job.fate}` }];
    case 'running':
      return [{ code: 'running', says: `it is running, claimed by ${job.lease.holder}`, detail: { ...job.lease, fence: job.fence } }];
    case 'held':
      return [await heldReason(jobs, job)];
    case 'pending':
      return pendingReasons(jobs, job, limits);
  }
}

async function heldReason(jobs: Jobs, job: Extract<Job, { state: 'held' }>): Promise<Reason> {
  if (job.hold === 'pause') return { code: 'paused', says: 'it is paused: resume it' };
  if (job.hold === 'parent') return { code: 'waits.parent', says: `it waits for its parent, job ${job.parent}`, detail: { parent: job.parent } };
  const open = await jobs.count({ parent: job.id, standings: openStandings });
  const count = open.reduce((sum, tally) => sum + tally.count, 0);
  return { code: 'waits.children', says: `it waits for ${count} open ${count === 1 ? 'task' : 'tasks'}`, detail: { open: count } };
}

async function pendingReasons(jobs: Jobs, job: PendingJob, limits: Limits): Promise<readonly Reason[]> {
  const { store } = jobs;
  const now = store.now();
  const able = (await store.instances()).filter(({ leaseUntil, about }) => leaseUntil > now && about.types.includes(job.type));
  const reasons = [
    job.due > now ? notDue(job.due, now) : null,
    await parentReason(jobs, job),
    able.length === 0 ? unknownType(job) : null,
    able.length > 0 && able.every(({ about }) => about.draining) ? allSuspended(able) : null,
    await gateReason(jobs, job, limits, able),
    able.length > 0 && able.every(({ about }) => about.busy >= about.slots) ? allBusy(able) : null,
  ].filter((reason) => reason !== null);
  return reasons.length > 0 ? reasons : [{ code: 'about.to.run', says: 'nothing prevents it from running: it is about to be claimed' }];
}

const notDue = (due: number, now: number): Reason => ({
  code: 'not.due',
  says: `it is due at ${new Date(due).toISOString()}, in ${Math.ceil((due - now) / 1000)} s`,
  detail: { due },
});

const unknownType = ({ type }: Job): Reason => ({
  code: 'type.unknown',
  says: `no live instance has the job type ${type}: start one that has it`,
  detail: { type },
});

const allSuspended = (able: readonly Instance[]): Reason => ({
  code: 'suspended',
  says: able.length === 1
    ? 'the only instance with its type is suspended: resume it'
    : `all ${able.length} instances with its type are suspended: resume one`,
  detail: { instances: able.map(({ id }) => id) },
});

const allBusy = (able: readonly Instance[]): Reason => ({
  code: 'slots.busy',
  says: `all slots of the ${able.length === 1 ? 'only instance' : `${able.length} instances`} with its type are busy`,
  detail: { instances: able.map(({ id, about }) => ({ id, slots: about.slots, busy: about.busy })) },
});

async function parentReason(jobs: Jobs, job: Job): Promise<Reason | null> {
  const [parent] = job.parent === null ? [] : await jobs.store.load([job.parent]);
  return parent?.cancel ? { code: 'parent.cancelled', says: `its run ${parent.id} was cancelled`, detail: { parent: parent.id } } : null;
}

async function gateReason(jobs: Jobs, job: PendingJob, limits: Limits, able: readonly Instance[]): Promise<Reason | null> {
  if (job.gate === null || job.admitted) return null;
  const gate = parseGate(job.gate);
  const admitted = await jobs.store.admittedPerGate([job.type]);
  if (new Turnstile(admitted, limits, true).room(job.gate) > 0) {
    return gate.leaderOnly ? { code: 'leader.only', says: 'only the leader may run it', detail: { able: able.map(({ id }) => id) } } : null;
  }
  const { jobs: holders } = await jobs.find({ types: [job.type], kinds: [job.kind], standings: ['running', 'held'] }, { limit: 20 });
  const ids = holders.filter(({ admitted }) => admitted).map(({ id }) => id);
  return { code: 'limit.full', says: `its limit is reached: in use by ${ids.map((id) => `job ${id}`).join(', ')}`, detail: { gate, holders: ids } };
}
