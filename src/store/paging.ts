/**
 * Iterates over all jobs that match a query, oldest first, page by page, so that a million jobs need not fit in memory.
 */
import type { Job } from '../model/job.ts';
import type { Page, Query } from './query.ts';
import type { Store } from './store.ts';

/** Yields the pages in order. Each job occurs once, even if jobs of earlier pages change or are deleted. */
export async function* pagesOf(
  store: Pick<Store, 'find'>,
  query: Query,
  limit = 1000,
): AsyncGenerator<readonly Job[], void> {
  for (let after: number | null | undefined; after !== null; ) {
    const page: Page = await store.find(query, { order: 'oldest', limit, ...(after === undefined ? {} : { after }) });
    yield page.jobs;
    after = page.next;
  }
}
