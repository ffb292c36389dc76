/** Failure groups: the newest jobs that failed or are being retried, grouped by fingerprint. */
import type { Job, JobError } from '../../model/job.ts';
import { workKinds } from '../../model/state.ts';
import type { Page, PageRequest, Query } from '../../store/query.ts';
import { fingerprintOf } from './fingerprint.ts';

export interface FailureGroup {
  readonly fingerprint: string;
  readonly type: string;
  readonly code: JobError['code'];
  /** The message of the newest failure. */
  readonly message: string;
  readonly failed: number;
  /** How many jobs wait for a retry, or execute one, after a failure. */
  readonly retrying: number;
  /** The times of the failures, newest first. For a job that is being retried: the time of its last change. */
  readonly times: readonly number[];
  /** The jobs with the newest failures of the group. */
  readonly samples: readonly Job[];
}

export interface Failures {
  readonly groups: readonly FailureGroup[];
  readonly scanned: number;
  /** Whether there were too many jobs to read all, so that older failures may be missing. */
  readonly isCut: boolean;
}

export interface FailuresRequest {
  readonly since: number;
  readonly type?: string;
}

type FindJobs = (query: Query, page: PageRequest) => Promise<Page>;

const pageSize = 1_000;
const failedPages = 3;
const openPages = 2;
const samplesMax = 5;

export async function findFailures(find: FindJobs, { since, type }: FailuresRequest): Promise<Failures> {
  const about = { kinds: workKinds, ...(type === undefined ? {} : { types: [type] }) };
  const [failed, open] = await Promise.all([
    newest(find, { ...about, standings: ['failed'] }, failedPages),
    newest(find, { ...about, standings: ['pending', 'running'] }, openPages),
  ]);
  const matching = [...failed.jobs, ...open.jobs].filter((job) => job.error !== null && failedAt(job) >= since);
  const groups = Map.groupBy(matching, fingerprinter());
  const failureGroups = [...groups].map(([fingerprint, jobs]) => groupOf(fingerprint, jobs));
  return {
    groups: failureGroups.sort((a, b) => b.times[0]! - a.times[0]!),
    scanned: failed.jobs.length + open.jobs.length,
    isCut: failed.isCut || open.isCut,
  };
}

/** Jobs often fail with the same message, whose fingerprint is computed once: a page of failures takes a third less. */
function fingerprinter(): (job: Job) => string {
  const known = new Map<string, string>();
  return (job) => {
    const name = JSON.stringify([job.type, job.error!.code, job.error!.message]);
    const fingerprint = known.get(name) ?? fingerprintOf(job)!;
    known.set(name, fingerprint);
    return fingerprint;
  };
}

async function newest(find: FindJobs, query: Query, pages: number): Promise<{ jobs: readonly Job[]; isCut: boolean }> {
  const jobs: Job[] = [];
  let after: number | null = null;
  for (let page = 0; page < pages; page++) {
    const found: Page = await find(query, { order: 'newest', limit: pageSize, ...(after === null ? {} : { after }) });
    jobs.push(...found.jobs);
    if (found.next === null) return { jobs, isCut: false };
    after = found.next;
  }
  return { jobs, isCut: true };
}

const failedAt = (job: Job): number => (job.state === 'ended' ? job.endedAt : job.changed);

function groupOf(fingerprint: string, jobs: readonly Job[]): FailureGroup {
  const latest = jobs.toSorted((a, b) => failedAt(b) - failedAt(a));
  const failed = jobs.filter(({ state }) => state === 'ended').length;
  const { type, error } = latest[0]!;
  return {
    fingerprint,
    type,
    code: error!.code,
    message: error!.message,
    failed,
    retrying: jobs.length - failed,
    times: latest.map(failedAt),
    samples: latest.slice(0, samplesMax),
  };
}
