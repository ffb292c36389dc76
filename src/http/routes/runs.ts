/** Runs over HTTP: list, create, show and operate on them. */
import type { RunRequest as EngineRequest } from '../../engine/declare/run-request.ts';
import { outputPage } from '../../engine/inspect/output.ts';
import { isOpen, type Job } from '../../model/job.ts';
import type { Duration } from '../../time/duration.ts';
import { redactTexts, type Visibility } from '../access/redact.ts';
import type { Answer, ParsedRequest, RunView } from '../contract.ts';
import { createdRun } from '../created-run.ts';
import { dueField, instantOf, queryOf } from '../filter.ts';
import type { HttpCall, StoreRouteHandlers, StoreServices } from '../handler.ts';
import { includesRole } from '../access/access.ts';
import { actor, terminateCode } from '../access/principal.ts';
import { checkPriorityOf } from '../access/priority.ts';
import { HttpRefusal } from '../problems.ts';
import { matrixOf } from '../task-matrix.ts';
import { reply } from './work.ts';
import { chunkView, eventView, logView, stepView, progressView, runDetail, runView } from '../views.ts';
import { countVisible, findVisible } from '../visible-search.ts';

const pageDefault = 50;
/** A search without a suitable index stops after this time and returns the jobs found so far. */
const patienceMs = 500;
const matrixDefault = 10_000;
export const idempotentFor: Duration = '1d';

type RunRouteNames =
  | 'listRuns' | 'countRuns' | 'createRun' | 'getRun' | 'editRun' | 'deleteRun' | 'listTasks' | 'getMatrix'
  | 'listEvents' | 'getProgress' | 'getLog' | 'getSteps' | 'getOutput' | 'getRunStats' | 'explainRun' | 'cancelRun' | 'stopRun' | 'retryRun'
  | 'pauseRun' | 'resumeRun' | 'completeRun' | 'failRun' | 'completeHandOff' | 'failHandOff';

export const runRoutes: StoreRouteHandlers<RunRouteNames> = {
  async listRuns({ engine }, { query }, { principal: { visibility } }) {
    const { after, limit, order, with: extras, inMemory, ...filter } = query;
    const found = await findVisible(engine, queryOf(filter, visibility), pageOf({ after, limit, order }), visibility);
    const jobs = found.jobs.filter((job) => inMemory === undefined || runView(job, visibility).inMemory === inMemory);
    const isFull = extras?.includes('progress') ?? false;
    const view = async (job: Job): Promise<RunView> =>
      isFull && isOpen(job) ? viewWithProgress(engine, job, visibility) : runView(job, visibility);
    return { items: await Promise.all(jobs.map(view)), next: found.next };
  },

  async countRuns({ engine }, { query }, { principal: { visibility } }) {
    const { tallies, isCut } = await countVisible(engine, queryOf(query, visibility), visibility);
    const total = tallies.reduce((sum, { count }) => sum + count, 0);
    return { total, items: tallies.map((tally) => ({ ...tally })), isCut };
  },

  async createRun(services, { body: { type, def, ...request } }, call) {
    return created(services, type === undefined ? { def: def! } : { type }, request, call);
  },

  async getRun({ engine }, { params: { id } }, { principal: { visibility } }) {
    const { job, tasks, progress } = await engine.snapshot(id);
    const [queuePosition, flow] = [await engine.queuePosition(job), await engine.flowOf(job)];
    return runDetail(job, await engine.history(id), visibility, { tasks, progress, queuePosition, flow });
  },

  async editRun({ engine, priorities }, { params: { id }, body: { priority, tags, why, ...rest } }, { principal }) {
    checkPriorityOf(principal, priority, priorities);
    const edit = {
      ...(priority === undefined ? {} : { priority }),
      ...dueField(rest),
      ...(tags === undefined ? {} : { tags }),
    };
    return runView(await engine.editJobRun(id, edit, act(principal, why)), principal.visibility);
  },

  async deleteRun({ engine }, { params: { id }, query: { why } }, { principal }) {
    await engine.deleteJobRun(id, act(principal, why));
    return {};
  },

  async listTasks({ engine }, { params: { id }, query: { state, ...page } }, { principal: { visibility } }) {
    await engine.get(id);
    const query = queryOf({ parent: id, ...(state === undefined ? {} : { state }) }, visibility);
    const found = await engine.find(query, pageOf({ order: 'oldest', ...page }));
    return { items: found.jobs.map((job) => runView(job, visibility)), next: found.next };
  },

  async getMatrix({ engine }, { params: { id }, query: { after, limit = matrixDefault } }) {
    await engine.get(id);
    return matrixOf(engine, id, after ?? null, limit);
  },

  async listEvents({ engine }, { params: { id }, query: { from = 1, limit = 1000 } }, { principal: { visibility } }) {
    await engine.record(id);
    const events = await engine.history(id, from, limit + 1);
    const shown = events.slice(0, limit).map((event) => eventView(event, visibility));
    return { items: shown, next: events[limit]?.n ?? null };
  },

  async getProgress({ engine }, { params: { id } }, { principal: { visibility } }) {
    return { progress: progressView((await engine.snapshot(id)).progress, visibility) };
  },

  async getLog({ engine }, { params: { id }, query: { after = 0, limit = 1000 } }, { principal: { visibility } }) {
    await engine.snapshot(id);
    const lines = await engine.log(id, { after, limit });
    return { items: logView(lines, visibility), next: lines.length < limit ? null : lines.at(-1)!.n };
  },

  async getSteps({ engine }, { params: { id }, query: { after, limit = 1000 } }, { principal: { visibility } }) {
    await engine.snapshot(id);
    const steps = await engine.steps(id, { ...(after === undefined ? {} : { after }), limit });
    return { items: steps.map((step) => stepView(step, visibility)), next: steps.length < limit ? null : steps.at(-1)!.n };
  },

  async getOutput({ engine }, { params: { id }, query }, { principal: { visibility } }) {
    const { after, limit = outputPage } = query;
    const chunks = await engine.output(id, { ...(after === undefined ? {} : { after }), limit });
    return { items: chunks.map((chunk) => chunkView(chunk, visibility)), next: chunks.at(-1)?.position ?? null };
  },

  async getRunStats({ engine }, { params: { id } }) {
    const stats = await engine.stats(id);
    return { ...stats, tasksByState: { ...stats.tasksByState } };
  },

  async explainRun({ engine }, { params: { id } }, { principal: { visibility } }) {
    const reasons = redactTexts(await engine.explain(id), visibility);
    return { items: reasons.map(({ detail, ...rest }) => ({ ...rest, ...(detail ? { detail: { ...detail } } : {}) })) };
  },

  async cancelRun({ engine }, { params: { id }, body: { why, grace } }, { principal }) {
    if (!includesRole(principal.role, 'operator')) await checkCreator(engine, id, principal);
    const options = { ...end(principal, why), ...(grace === undefined ? {} : { grace: grace as Duration }) };
    return runView(await engine.cancelJobRun(id, options), principal.visibility);
  },

  async stopRun({ engine }, { params: { id }, body: { why } }, { principal }) {
    const { job, how } = await engine.stopJobRun(id, end(principal, why));
    return { run: runView(job, principal.visibility), how };
  },

  async retryRun({ engine }, { params: { id }, body: { why, only, downstream, from } }, { principal }) {
    const scope = {
      ...(only === undefined ? {} : { only }), ...(downstream === undefined ? {} : { downstream }),
      ...(from === undefined ? {} : { from }),
    };
    const options = { ...act(principal, why), ...scope };
    return runView(await engine.retryJobRun(id, options), principal.visibility);
  },

  async completeRun({ engine }, { params: { id }, body: { result, why } }, { principal }) {
    return runView(await engine.completeJobRun(id, result, act(principal, why)), principal.visibility);
  },

  async failRun({ engine }, { params: { id }, body: { error, why } }, { principal }) {
    return runView(await engine.failJobRun(id, errorOf(error), act(principal, why)), principal.visibility);
  },

  async completeHandOff({ engine, access }, { body: { token, result } }, { credentials }) {
    return reply(await access.withSecret(credentials, () => engine.complete(token, result)));
  },

  async failHandOff({ engine, access }, { body: { token, error } }, { credentials }) {
    return reply(await access.withSecret(credentials, () => engine.fail(token, errorOf(error))));
  },

  async pauseRun({ engine }, { params: { id }, body: { why } }, { principal }) {
    return runView(await engine.pauseJobRun(id, act(principal, why)), principal.visibility);
  },

  async resumeRun({ engine }, { params: { id }, body: { why } }, { principal }) {
    return runView(await engine.resumeJobRun(id, act(principal, why)), principal.visibility);
  },
};

export const act = (principal: HttpCall['principal'], why: string | undefined): { by: string; why?: string } => ({
  by: actor(principal),
  ...(why === undefined ? {} : { why }),
});

/** The actor, reason and code of a cancel or stop. */
export const end = (principal: HttpCall['principal'], why: string | undefined) =>
  ({ ...act(principal, why), code: terminateCode(principal) });

/** Refuses a producer that has not created the run. */
export async function checkCreator(
  engine: StoreServices['engine'],
  id: number,
  principal: HttpCall['principal'],
): Promise<void> {
  await engine.get(id);
  const [created] = await engine.history(id, 1, 1);
  if (created?.by === actor(principal)) return;
  throw new HttpRefusal('forbidden', `run ${id} was not created by ${principal.name}: it needs the role operator`);
}

const errorOf = ({ message, id: code, data }: ParsedRequest<'failRun'>['body']['error']): Error =>
  Object.assign(new Error(message), {
    ...(code === undefined ? {} : { code }), ...(data === undefined ? {} : { data }), stack: undefined,
  });

export async function created(
  { engine, priorities }: StoreServices,
  what: { readonly type: string } | { readonly def: string },
  request: ParsedRequest<'runDef'>['body'],
  call: HttpCall,
): Promise<Answer<'createRun'>> {
  const { principal } = call;
  checkPriorityOf(principal, request.priority, priorities);
  const handle = await engine.createNamed(what, engineRequest(request, keyOf(call)), actor(principal));
  if (handle.outcome !== 'created') call.status = 200;
  return createdRun(engine, handle, principal.visibility);
}

/**
 * Returns the unique key for the header Idempotency-Key; null: no header. The key includes the caller's name, so that
 * one producer cannot learn of another's runs.
 */
export function keyOf({ request, principal }: HttpCall): string | null {
  const key = request.headers.get('idempotency-key');
  if (key === null) return null;
  if (!/^[!-~]{1,200}$/.test(key)) {
    throw new HttpRefusal('malformed.request', 'an Idempotency-Key must have 1 to 200 visible ASCII characters');
  }
  return `idempotency ${principal.name} ${key}`;
}

type RunBody = ParsedRequest<'runDef'>['body'];

/** Converts the names and times of a request to those of the engine. */
export function engineRequest(
  { unique, dueTime, dueAt, due, delay, startBy, ...rest }: RunBody,
  key: string | null,
): EngineRequest<unknown> {
  if (unique !== undefined && key !== null) {
    throw new HttpRefusal('malformed.request', 'use either unique or Idempotency-Key, not both');
  }
  return {
    ...(rest as EngineRequest<unknown>),
    ...(dueTime === undefined ? {} : { dueTime: instantOf(dueTime) }),
    ...(dueAt === undefined ? {} : { dueAt: instantOf(dueAt) }),
    ...(due === undefined ? {} : { due: instantOf(due) }),
    ...(delay === undefined ? {} : { delay: delay as Duration }),
    ...(startBy === undefined ? {} : { startBy: startBy as Duration }),
    ...(unique === undefined ? {} : { unique: unique as NonNullable<EngineRequest<unknown>['unique']> }),
    ...(key === null ? {} : { unique: { key, for: idempotentFor } }),
  };
}

export function pageOf({ after, limit = pageDefault, order }: {
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
  readonly order?: 'newest' | 'oldest' | undefined;
}) {
  return { limit, patienceMs, ...(after === undefined ? {} : { after }), ...(order === undefined ? {} : { order }) };
}

async function viewWithProgress(engine: StoreServices['engine'], job: Job, visibility: Visibility): Promise<RunView> {
  const { tasks, progress } = await engine.snapshot(job.id).catch(() => ({ tasks: null, progress: null }));
  return runView(job, visibility, { tasks, progress });
}
