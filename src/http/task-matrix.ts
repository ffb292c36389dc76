/** The matrix: how every task of a run stands, a letter and two numbers each. */
import type { EngineCore } from '../engine/engine.ts';
import type { Job } from '../model/job.ts';
import { standingOf } from '../store/query.ts';
import type { MatrixView } from './contract.ts';

const step = 1_000;

/** At most `limit`, rounded up to whole steps. */
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
    const found = await engine.find({ parent: run }, { order: 'oldest', limit: Math.min(step, limit), ...start });
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
