/** The query, which every store supports: filters over jobs, and the pages and counts of the jobs that match. */
import { matches, parseGlob } from '../model/glob.ts';
import type { Kind } from '../model/state.ts';
import type { Job } from '../model/job.ts';

export interface Query {
  readonly kinds?: readonly Kind[];
  /** Exact type names. */
  readonly types?: readonly string[];
  /** A GLOB pattern over type names. */
  readonly glob?: string;
  readonly def?: string;
  /** Only the children of this job; null: only jobs without a parent. */
  readonly parent?: number | null;
  readonly standings?: readonly Standing[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly createdFrom?: number;
  readonly createdBefore?: number;
  readonly dueBefore?: number;
  /** A part of the message of the job's newest error, ignoring case. */
  readonly error?: string;
  /** The input must have the scalar `equals` at this path of member names. */
  readonly input?: { readonly path: readonly string[]; readonly equals: string | number | boolean | null };
  /** A part of the type, definition, key, error message, or of the value of a tag, ignoring case. */
  readonly text?: string;
}

/** The state of a job; for an ended job, its fate. */
export type Standing = 'pending' | 'held' | 'running' | 'succeeded' | 'failed' | 'cancelled';
export const openStandings: readonly Standing[] = ['pending', 'held', 'running'];
export const endedStandings: readonly Standing[] = ['succeeded', 'failed', 'cancelled'];
export const standings: readonly Standing[] = [...openStandings, ...endedStandings];

export const standingOf = (job: Job): Standing => (job.state === 'ended' ? job.fate : job.state);

export const isForDefinitions = ({ kinds }: Query): boolean => kinds?.length === 1 && kinds[0] === 'def';

export const excludesSucceeded = ({ standings: wanted }: Query): boolean =>
  wanted !== undefined && !wanted.includes('succeeded');

/** Whether the query can match tasks, of which a run may have a million. */
export const includesTasks = ({ kinds }: Query): boolean => kinds?.includes('task') ?? true;

/**
 * Which page to return. Pages are ordered by id, so a job that is stored between two requests does not make another job
 * appear twice or not at all.
 */
export interface PageRequest {
  readonly order?: 'newest' | 'oldest';
  /** Only jobs beyond this id: with smaller ids for `newest`, with larger ids for `oldest`. */
  readonly after?: number;
  readonly limit?: number;
  /**
   * After about this time a long search stops and returns the jobs found so far. The page may then be short or empty,
   * and `next` continues the search. Default: no limit.
   */
  readonly patienceMs?: number;
}

export interface Page {
  readonly jobs: readonly Job[];
  /** The value of `after` for the next page; null: this page is the last. */
  readonly next: number | null;
}

export const pageLimitMax = 1000;

/** The number of jobs of one kind, type and standing. */
export interface Tally {
  readonly kind: Kind;
  readonly type: string;
  readonly standing: Standing;
  readonly count: number;
  /** How many of them are pending and due before the time `dueBy` of `count`; absent: `dueBy` was not passed. */
  readonly due?: number;
}

/**
 * Returns whether a job matches the query. The memory store filters with this function, and the SQL of the other stores
 * must agree with it.
 */
export function matchesQuery(job: Job, query: Query): boolean {
  return (
    (query.kinds?.includes(job.kind) ?? true) &&
    (query.types?.includes(job.type) ?? true) &&
    (query.glob === undefined || matches(parseGlob(query.glob), job.type)) &&
    (query.def === undefined || job.def === query.def) &&
    (query.parent === undefined || job.parent === query.parent) &&
    (query.standings?.includes(standingOf(job)) ?? true) &&
    (query.tags === undefined || hasTags(job, query.tags)) &&
    (query.createdFrom === undefined || job.created >= query.createdFrom) &&
    (query.createdBefore === undefined || job.created < query.createdBefore) &&
    (query.dueBefore === undefined || (job.state !== 'ended' && job.due < query.dueBefore)) &&
    (query.error === undefined || includes(job.error?.message, query.error)) &&
    (query.input === undefined || isScalarAt(job.input, query.input.path, query.input.equals)) &&
    (query.text === undefined || mentions(job, query.text))
  );
}

const hasTags = (job: Job, tags: Readonly<Record<string, string>>): boolean =>
  Object.entries(tags).every(([name, value]) => job.tags !== null && Object.hasOwn(job.tags, name) && job.tags[name] === value);

const includes = (text: string | null | undefined, part: string): boolean =>
  text !== null && text !== undefined && asciiLower(text).includes(asciiLower(part));

/** Converts only A to Z to lower case, because databases differ in how they convert other letters. */
export const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const mentions = (job: Job, part: string): boolean =>
  [job.type, job.def, job.key, job.error?.message, ...Object.values(job.tags ?? {})].some((text) => includes(text, part));

export function isScalarAt(input: string, path: readonly string[], equals: unknown): boolean {
  let value: unknown = JSON.parse(input);
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
    value = (value as Record<string, unknown>)[name];
  }
  return value === equals;
}
