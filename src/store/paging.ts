/** Pages: all that fits a query, from the oldest on and in helpings, so that a million need not fit in memory. */
import type { Job } from '../model/job.ts';
import type { Page, Query } from './query.ts';
import type { Store } from './store.ts';

/** Each job once, whatever becomes of those that were passed. */
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
