/** Reads all jobs of a store page by page, continuing after rows that cannot be read. */
import type { Job } from '../model/job.ts';
import { firstRecordId } from '../model/record-id.ts';
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
/** About how long all inputs and results of a page are together. */
const pageLengthMax = 8_000_000;
/**
 * How many ranges of `pageSize` ids are searched for the row that makes a page unreadable. After that, the error of the
 * page is thrown.
 */
const probesMax = 100;

/**
 * Reads the jobs that exist now, and all records. Jobs that are created meanwhile are left out: they may be created faster
 * than they are read.
 */
export async function* readStored(store: JobReader): AsyncGenerator<ReadPage> {
  yield* readPages(store, {}, { after: 0, upTo: await newestJob(store) });
  yield* readPages(store, {}, { after: firstRecordId - 1, upTo: Infinity });
}

/** If the newest job cannot be read, all jobs are read. */
async function newestJob(store: JobReader): Promise<number> {
  try {
    const { jobs } = await store.find({}, { order: 'newest', after: firstRecordId, limit: 1 });
    return jobs[0]?.id ?? 0;
  } catch {
    return firstRecordId - 1;
  }
}

interface PageBounds {
  readonly after: number;
  /** No page begins behind this id. */
  readonly upTo: number;
}

const allIds: PageBounds = { after: 0, upTo: Infinity };

export async function* readPages(store: JobReader, query: Query = {}, { after, upTo }: PageBounds = allIds): AsyncGenerator<ReadPage> {
  let [last, size] = [after, pageSize];
  while (last < upTo) {
    const page = await readPage(store, query, last, size);
    yield page;
    if (page.next === null) return;
    last = page.next;
    size = sizeAfter(page.jobs);
  }
}

/** Jobs with long inputs and results are read in small pages, so that a page needs little memory. */
function sizeAfter(jobs: readonly Job[]): number {
  const length = jobs.reduce((sum, { input, result }) => sum + input.length + (result?.length ?? 0), 0);
  return length === 0 ? pageSize : Math.max(1, Math.min(pageSize, Math.floor((pageLengthMax * jobs.length) / length)));
}

type PageBefore<Next> = ReadPage & { readonly next: Next };

async function readPage(store: JobReader, query: Query, after: number, limit: number): Promise<PageBefore<number | null>> {
  try {
    const { jobs, next } = await store.find(query, { order: 'oldest', after, limit });
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

const readRange = (store: JobReader, from: number, to: number): Promise<ReadPage> =>
  readJobs(store, Array.from({ length: to - from + 1 }, (_, index) => from + index));

/** Reads the jobs with these ids. If that fails, bisects the ids until the unreadable rows are known. */
export async function readJobs(store: Pick<Store, 'load'>, ids: readonly number[]): Promise<ReadPage> {
  try {
    return { jobs: await store.load(ids), unreadable: [] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (ids.length <= 1) return { jobs: [], unreadable: ids.map((id) => ({ id, why })) };
  }
  const middle = Math.ceil(ids.length / 2);
  const halves = [await readJobs(store, ids.slice(0, middle)), await readJobs(store, ids.slice(middle))];
  return { jobs: halves.flatMap(({ jobs }) => jobs), unreadable: halves.flatMap(({ unreadable }) => unreadable) };
}
