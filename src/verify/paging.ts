/** Reads all jobs of a store page by page, continuing after rows that cannot be read. */
import type { Job } from '../model/job.ts';
import { matchesQuery, type Query } from '../store/query.ts';
import type { Store } from '../store/store.ts';

export interface ReadPage {
  readonly jobs: readonly Job[];
  readonly unreadable: readonly UnreadableRow[];
}

export interface UnreadableRow {
  readonly id: number;
  readonly why: string;
}

type JobReader = Pick<Store, 'find' | 'load'>;

const pageSize = 500;
/**
 * How many ranges of `pageSize` ids are searched for the row that makes a page unreadable. After that, the error of the
 * page is thrown.
 */
const probesMax = 100;

export async function* readPages(store: JobReader, query: Query = {}): AsyncGenerator<ReadPage> {
  for (let after = 0; ; ) {
    const page = await readPage(store, query, after);
    yield page;
    if (page.next === null) return;
    after = page.next;
  }
}

type PageBefore<Next> = ReadPage & { readonly next: Next };

async function readPage(store: JobReader, query: Query, after: number): Promise<PageBefore<number | null>> {
  try {
    const { jobs, next } = await store.find(query, { order: 'oldest', after, limit: pageSize });
    return { jobs, next, unreadable: [] };
  } catch (error) {
    const { jobs, ...page } = await probe(store, after, error);
    return { ...page, jobs: jobs.filter((job) => matchesQuery(job, query)) };
  }
}

/**
 * Called when a row makes its page unreadable. Reads one range of ids after the other, up to the first range that
 * contains unreadable rows. These rows may or may not match the query of the page.
 */
async function probe(store: JobReader, after: number, cause: unknown): Promise<PageBefore<number>> {
  const read: Job[] = [];
  for (let probes = 0; probes < probesMax; probes++) {
    const from = after + probes * pageSize;
    const { jobs, unreadable } = await readRange(store, from + 1, from + pageSize);
    read.push(...jobs);
    if (unreadable.length > 0) return { jobs: read, unreadable, next: from + pageSize };
  }
  throw cause;
}

/** Reads a range of ids. If that fails, bisects the range until the unreadable rows are known. */
async function readRange(store: JobReader, from: number, to: number): Promise<ReadPage> {
  const ids = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  try {
    return { jobs: await store.load(ids), unreadable: [] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (from === to) return { jobs: [], unreadable: [{ id: from, why }] };
  }
  const middle = Math.floor((from + to) / 2);
  const halves = [await readRange(store, from, middle), await readRange(store, middle + 1, to)];
  return { jobs: halves.flatMap(({ jobs }) => jobs), unreadable: halves.flatMap(({ unreadable }) => unreadable) };
}
