/** The worker API over HTTP, for workers in any language. Every write needs the fence of the claim. */
import { closeFor, spendMore } from '../../engine/attempt/limit-use.ts';
import { taskGate } from '../../engine/declare/type-registry.ts';
import { checkRunnableType } from '../../jobs/checks/values.ts';
import type { Job, RunningJob } from '../../model/job.ts';
import { closingMaxMs, type LimitUse } from '../../model/limit.ts';
import { versionsOf, type TypeVersions } from '../../model/type-version.ts';
import { isEncodedPayload } from '../../model/encoded-payload.ts';
import { jsonText, parseJson } from '../../model/json.ts';
import { emptyProgress, track, type Progress } from '../../model/progress.ts';
import { Refusal } from '../../refusal.ts';
import { endedStandings, standingOf } from '../../store/query.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import type { Answer, ParsedRequest } from '../contract.ts';
import { dueField, instantOf } from '../filter.ts';
import type { HttpServices, RouteHandlers } from '../handler.ts';
import { unauthenticated } from '../access/access.ts';
import { actor, type Principal } from '../access/principal.ts';
import { checkPriorityOf } from '../access/priority.ts';
import { HttpRefusal } from '../problems.ts';
import { cancelView, claimedView } from '../views.ts';

type WorkRouteNames =
  | 'claim' | 'heartbeat' | 'tellProgress' | 'tellLog' | 'createChildren' | 'complete' | 'fail' | 'release' | 'spendLimit';

const leaseDefaultMs = 30_000;
const claimPollMs = 1_000;
const waitingMax = 1_000;
const childrenShownMax = 1_000;

export const workRoutes: RouteHandlers<WorkRouteNames> = {
  async claim(services, { body }, call) {
    const { engine, workSignal, clock, remoteWorkers } = services;
    if (workSignal.waiting >= waitingMax) {
      throw new HttpRefusal('too.many', 'too many workers are waiting; try again later', { 'retry-after': '5' });
    }
    const deadline = clock.monotonic() + (body.waitMs ?? 0);
    const id = holderName(call.principal, body.worker);
    const address = call.credentials.address ?? 'remote';
    for (;;) {
      const versions = await engine.claimVersions(body.types, body.versions ?? []);
      await remoteWorkers.report({ id, address, types: body.types, versions, slots: body.limit ?? 1 });
      const request = { ...claimOf(body, versions, call.principal), limits: await engine.claimLimits(body.types) };
      const notified = workSignal.notified;
      const { jobs, searchedAt } = await engine.jobs.claimBatch(request);
      if (jobs.length > 0 && call.signal.aborted) await release(services, jobs);
      const left = deadline - clock.monotonic();
      if (jobs.length > 0 || left <= 0 || call.signal.aborted) {
        return { items: await Promise.all(jobs.map((job) => handedOut(services, job))) };
      }
      const due = await engine.jobs.store.nextDue(request, searchedAt);
      const dueMs = due === null ? Infinity : Math.max(1, due - engine.now());
      if (workSignal.notified === notified) await workSignal.wait(Math.min(left, claimPollMs, dueMs), call.signal);
      // A worker whose token was revoked while it waited gets no job.
      if (!(await call.isAllowed())) throw unauthenticated();
    }
  },

  async heartbeat({ engine }, { params: { id }, body: { fence, leaseMs = leaseDefaultMs } }, { principal }) {
    await held(engine, id, fence, principal);
    const [isHeld] = await engine.jobs.extend([{ id, fence }], leaseMs);
    if (!isHeld) throw lost(id);
    const job = await held(engine, id, fence, principal);
    const leaseUntil = job.lease.until ?? engine.now() + leaseMs;
    return { leaseUntil, isCancelled: job.cancel !== null, cancel: cancelView(job) };
  },

  async tellProgress({ engine }, { params: { id }, body: { fence, steps } }, { principal }) {
    const job = await held(engine, id, fence, principal);
    const before = await engine.jobs.store.progress(id);
    const tree = { ...treeOfClaim(before, fence), fence };
    const progress = steps.reduce<Progress>((grown, step) => track(grown, step, engine.now()), tree);
    const [isWritten] = await engine.jobs.store.writeNotes([{ id, fence, progress: jsonText(progress) }]);
    if (!isWritten) throw lost(id);
    return reply(job);
  },

  async tellLog({ engine }, { params: { id }, body: { fence, lines } }, { principal }) {
    const job = await held(engine, id, fence, principal);
    const log = lines.map(({ level = 'info', text }) => ({ at: engine.now(), level, text: storable(text) }));
    const [isWritten] = await engine.jobs.store.writeNotes([{ id, fence, log }]);
    if (!isWritten) throw lost(id);
    return reply(job);
  },

  async createChildren({ engine, priorities }, { params: { id }, body: { fence, children } }, { principal }) {
    for (const { priority } of children) checkPriorityOf(principal, priority, priorities);
    const parent = await held(engine, id, fence, principal);
    const versions = await engine.claimVersions(children.map(({ type }) => type), []);
    const usesOf = await engine.taskLimitUses(parent, children.map(({ type }) => checkRunnableType(type)));
    const drafts = children.map(({ key, tags, ...rest }) => ({
      kind: 'task' as const,
      type: rest.type,
      // A child of the same type belongs to the same work: it has the version of its run.
      typeVersion: rest.type === parent.type ? parent.typeVersion : versionsOf(versions, rest.type).to,
      input: rest.input,
      ...limitFields(rest.type, usesOf(rest.type, rest.input)),
      ...(rest.priority === undefined ? {} : { priority: rest.priority }),
      ...(key === undefined ? {} : { key }),
      ...(tags === undefined ? {} : { tags }),
      ...dueField(rest),
    }));
    const jobs = await engine.jobs.createChildren(id, drafts, actor(principal), fence);
    return { items: jobs.map((job) => ({ id: job.id, key: job.key })) };
  },

  async complete({ engine, workSignal }, { params: { id }, body: { fence, result } }, { principal }) {
    await held(engine, id, fence, principal);
    const job = await engine.jobs.succeed(id, fence, { by: actor(principal) }, jsonText(result));
    // Wakes waiting claims: the job may have freed a place at a gate, and the store does not report free places.
    workSignal.notify();
    return reply(job);
  },

  async fail(
    { engine, workSignal },
    { params: { id }, body: { fence, error, retryable = true, retryAt, retryAfter } },
    { principal },
  ) {
    await held(engine, id, fence, principal);
    const { message, code = 'unknown', name, id: ownCode, data, stack } = error;
    const optional = { ...(data === undefined ? {} : { data }), ...(stack === undefined ? {} : { stack }) };
    const names = { ...(name === undefined ? {} : { name }), ...(ownCode === undefined ? {} : { id: ownCode }) };
    const jobError = { code, message, ...names, ...optional };
    const at = retryAfter === undefined ? retryAt : afterDelay(engine, retryAfter);
    const due = at === undefined ? {} : { retryAt: instantOf(at) };
    const command = { do: 'fail', fence, error: jobError, retryable, ...due } as const;
    const [answer] = await engine.jobs.conclude([{ job: id, command }], { by: actor(principal) });
    if (answer instanceof Refusal) throw answer;
    // Wakes waiting claims: the job may have freed a place at a gate, and the store does not report free places.
    workSignal.notify();
    return reply(answer!.after!);
  },

  async release({ engine }, { params: { id }, body: { fence, delay, rateLimited, ...rest } }, { principal }) {
    const claimed = await held(engine, id, fence, principal);
    const closed = await closedUntil(engine, claimed, rateLimited);
    const { due = closed } = delay === undefined ? dueField(rest) : { due: afterDelay(engine, delay) };
    const job = await engine.jobs.release(id, fence, { by: actor(principal) }, due);
    return reply(job);
  },

  async spendLimit({ engine }, { params: { id }, body: { fence, limit, cost } }, { principal }) {
    const job = await held(engine, id, fence, principal);
    await spendMore(engine.jobs.store, job, limit, cost);
    return reply(job);
  },
};

/** The gate of tasks, so that they do not count toward the limits of the runs of their type. */
const limitFields = (type: string, limitUses: readonly LimitUse[]) =>
  (limitUses.length === 0 ? {} : { limitUses, gate: { type: taskGate(type) } });

const afterDelay = (engine: HttpServices['engine'], delay: number | string): number =>
  engine.now() + durationMs(delay as Duration);

/** Replaces NUL and unpaired surrogates, which PostgreSQL cannot store. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

type ClaimBody = ParsedRequest<'claim'>['body'];

const claimOf = (
  { worker, types, limit = 1, leaseMs = leaseDefaultMs }: ClaimBody,
  versions: readonly TypeVersions[],
  principal: Principal,
) => ({
  kinds: ['run', 'task'] as const,
  names: { exact: types, versions },
  limit,
  holder: holderName(principal, worker),
  leaseMs,
});

/**
 * Returns the holder name under which a worker claims jobs. It includes the caller's name, so that no worker can use
 * the holder name of another caller's worker or of an instance.
 */
const holderName = (principal: Principal, worker: string): string => `${holderPrefix(principal)}${worker}`;

/** The first part of the holder names of the caller's workers. A slash in the caller's name is encoded: it ends the part. */
const holderPrefix = (principal: Principal): string => `${actor(principal).replaceAll(/[%/]/g, encodeURIComponent)}/`;

/** Closes the limit of which the worker was refused; returns until when. Undefined: the worker was not refused. */
async function closedUntil(
  { jobs: { store } }: HttpServices['engine'],
  job: RunningJob,
  refused: ParsedRequest<'release'>['body']['rateLimited'],
): Promise<number | undefined> {
  if (refused === undefined) return undefined;
  const until = store.now() + Math.min(durationMs(refused.retryAfter as Duration), closingMaxMs);
  await closeFor(store, job, refused.limit, until);
  return until;
}

async function release({ engine }: HttpServices, jobs: readonly RunningJob[]): Promise<void> {
  await engine.jobs.conclude(
    jobs.map((job) => ({ job, command: { do: 'release' as const, fence: job.fence } })),
    { by: engine.instance, why: 'the worker disconnected before it received the job' },
  );
}

async function handedOut({ engine }: HttpServices, job: RunningJob): Promise<Answer<'claim'>['items'][number]> {
  // Only a job that has no parent and was claimed before (its fence is above 1) can have ended children.
  const mayHaveChildren = job.parent === null && job.fence > 1;
  const { jobs: children } = mayHaveChildren
    ? await engine.jobs.find(
      { parent: job.id, standings: endedStandings }, { order: 'oldest', limit: childrenShownMax },
    )
    : { jobs: [] };
  return claimedView(job, children);
}

/**
 * Returns the job if the caller holds it under this fence; otherwise throws. The fence alone is not enough, because
 * fences are small numbers that can be guessed.
 */
async function held(
  engine: HttpServices['engine'],
  id: number,
  fence: number,
  principal: Principal,
): Promise<RunningJob> {
  const job = await engine.jobs.get(id);
  if (job === null) throw new Refusal('unknown.job', `no such job: ${id}`, { id });
  const isHolder = job.state === 'running' && job.lease.holder.startsWith(holderPrefix(principal));
  if (job.state === 'running' && job.fence === fence && isHolder) return job;
  throw lost(id);
}

const lost = (id: number): Refusal =>
  new Refusal('lost.lease', `this worker does not hold job ${id} under this fence; stop working on it`, { id });

export const reply = (job: Job): Answer<'complete'> => ({
  id: job.id,
  standing: standingOf(job),
  isCancelled: job.cancel !== null,
});

/** Returns the stored tree if it is of this claim or has no fence; otherwise an empty tree. */
function treeOfClaim(text: string | null, fence: number): Progress {
  const isReadable = text !== null && !isEncodedPayload(text);
  const stored = isReadable ? (parseJson(text) as unknown as Progress) : emptyProgress;
  return stored.fence === undefined || stored.fence === fence ? stored : emptyProgress;
}
