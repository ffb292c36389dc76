/** The task matrix: id, standing and, if it has ended, duration of the tasks of a run, in a compact form. */
import type { EngineCore } from '../engine/engine.ts';
import type { Job } from '../model/job.ts';
import { standingOf } from '../store/query.ts';
import type { MatrixView } from './contract.ts';

const pageSize = 1_000;

/**
 * Reads tasks page by page, from the first or after the id `after`, until it has read `limit` tasks. The last page can
 * exceed `limit`.
 */
export async function matrixOf(
  engine: EngineCore,
  run: number,
  after: number | null,
  limit: number,
): Promise<MatrixView> {
  const jobs: Job[] = [];
  let next = after;
  do {
    const start = next === null ? {} : { after: next };
    const found = await engine.find({ parent: run }, { order: 'oldest', limit: Math.min(pageSize, limit), ...start });
    jobs.push(...found.jobs);
    next = found.next;
  } while (next !== null && jobs.length < limit);
  return {
    ids: jobs.map(({ id }) => id),
    standings: jobs.map((job) => standingOf(job)[0]!).join(''),
    ranMs: jobs.map(ranMs),
    next,
  };
}

const ranMs = (job: Job): number | null =>
  job.state === 'ended' && job.startedAt !== null ? job.endedAt - job.startedAt : null;
