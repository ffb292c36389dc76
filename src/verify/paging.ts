/** Reads all jobs of a store page by page, continuing after rows that cannot be read. */
import type { Job } from '../model/job.ts';
import type { Query } from '../store/query.ts';
import type { Store } from '../store/store.ts';

export interface ReadPage {
  readonly jobs: readonly Job[];
  /** Rows that cannot be read, with the reason. */
  readonly unreadable: readonly UnreadableRow[];
}

export interface UnreadableRow {
  readonly id: number;
  readonly why: string;
}

type JobReader = Pick<Store, 'find' | 'load'>;

const pageSize = 500;
/** How many ids beyond the last one read are searched for the row that cannot be read. */
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
    return probe(store, after, error);
  }
}

/** A row makes its page unreadable: reads the next rows by id, and reports those that cannot be read. */
async function probe(store: JobReader, after: number, cause: unknown): Promise<PageBefore<number>> {
  for (let probes = 0; probes < probesMax; probes++) {
    const from = after + probes * pageSize;
    const { jobs, unreadable } = await readRange(store, from + 1, from + pageSize);
    if (unreadable.length > 0) return { jobs, unreadable, next: from + pageSize };
  }
  throw cause;
}

/** Bisects a range that cannot be read down to single rows. */
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
