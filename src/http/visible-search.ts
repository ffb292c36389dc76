/**
 * Text searches for callers who see texts without their secrets. The store searches the unredacted texts. A job is
 * found only if the text that the caller sees matches too; otherwise a search would reveal redacted text.
 */
import type { EngineCore } from '../engine/engine.ts';
import type { Job } from '../model/job.ts';
import { matchesQuery, standingOf, type Page, type PageRequest, type Query, type Tally } from '../store/query.ts';
import { redactTags, redactText, type Visibility } from './access/redact.ts';
import { HttpRefusal } from './problems.ts';

type Find = Pick<EngineCore, 'find' | 'count'>;

const readPageSize = 1_000;
/**
 * How many pages of stored matches are read for one response. If the caller can see fewer of these matches than
 * requested, the response is a short page. If the caller can see none of them, `next` is null, so the search ends: a
 * page without runs that is not the last one would reveal that many runs match in redacted text.
 */
const readPagesMax = 10;

const isByText = ({ error, text }: Query): boolean => error !== undefined || text !== undefined;

export async function findVisible(
  engine: Find,
  query: Query,
  page: PageRequest,
  visibility: Visibility,
): Promise<Page> {
  if (visibility === 'full' || !isByText(query)) return engine.find(query, page);
  const { limit = readPageSize } = page;
  const jobs: Job[] = [];
  let next = page.after ?? null;
  for (let pages = 0; pages < readPagesMax; pages++) {
    const start = next === null ? {} : { after: next };
    const found = await engine.find(query, { ...page, ...start, limit: readPageSize });
    const visible = found.jobs.filter((job) => isVisibleMatch(job, query, visibility));
    jobs.push(...visible.slice(0, limit - jobs.length));
    if (jobs.length === limit) return { jobs, next: jobs.at(-1)!.id };
    if (found.next === null || found.jobs.length < readPageSize) return { jobs, next: found.next };
    next = found.next;
  }
  return { jobs, next: jobs.length === 0 ? null : next };
}

export interface VisibleCount {
  readonly tallies: readonly Tally[];
  /**
   * Whether the count stopped at its limit, so that older matches may be missing. If no run was counted, this is false:
   * true would reveal matches in redacted text.
   */
  readonly isCut: boolean;
}

export async function countVisible(engine: Find, query: Query, visibility: Visibility): Promise<VisibleCount> {
  if (visibility === 'full' || !isByText(query)) return { tallies: await engine.count(query), isCut: false };
  const limit = readPageSize * readPagesMax;
  const { jobs, next } = await findVisible(engine, query, { order: 'newest', limit }, visibility);
  return { tallies: tally(jobs), isCut: next !== null };
}

/**
 * Refuses a bulk operation that selects runs by text, if the caller sees texts redacted; otherwise returns the query.
 * The operation would also act on matches in hidden text, and the number of runs would reveal this text.
 */
export function checkVisible(query: Query, visibility: Visibility): Query {
  if (visibility === 'full' || !isByText(query)) return query;
  const message = 'this token sees texts without their secrets, and cannot act on all runs that match a text';
  throw new HttpRefusal('forbidden', message);
}

const isVisibleMatch = (job: Job, query: Query, visibility: Visibility): boolean =>
  matchesQuery(visibleJob(job, visibility), query);

const visibleJob = (job: Job, visibility: Visibility): Job => ({
  ...job,
  tags: job.tags && redactTags(job.tags, visibility),
  error: job.error && { ...job.error, message: redactText(job.error.message, visibility) },
});

function tally(jobs: readonly Job[]): Tally[] {
  const groups = Map.groupBy(jobs, (job) => JSON.stringify([job.kind, job.type, standingOf(job)]));
  return [...groups.values()].map((group) => {
    const { kind, type } = group[0]!;
    return { kind, type, standing: standingOf(group[0]!), count: group.length };
  });
}
