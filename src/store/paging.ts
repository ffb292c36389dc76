/**
 * Iterates over all jobs that match a query, oldest first, page by page, so that a million jobs need not fit in memory.
 */
import type { Job } from '../model/job.ts';
import type { Page, Query } from './query.ts';
import type { Store } from './store.ts';

/** Yields the pages in order, from the first job after the id `after` on. Each job occurs once, even if jobs of earlier pages change or are deleted. */
export async function* pagesOf(
  store: Pick<Store, 'find'>,
  query: Query,
  limit = 1000,
  after?: number,
): AsyncGenerator<readonly Job[], void> {
  for (let last: number | null | undefined = after; last !== null; ) {
    const page: Page = await store.find(query, { order: 'oldest', limit, ...(last === undefined ? {} : { after: last }) });
    yield page.jobs;
    last = page.next;
  }
}
