/**
 * The audit: what operators did, one record for each act, which is a job of a kind of its own that nobody works on. So
 * it is stored, found and kept like any other; and where an act removes a job, in the same commit.
 */
import { apply, insert, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Job } from '../model/job.ts';
import { parseJson } from '../model/json.ts';
import { standingOf, type PageRequest } from '../store/query.ts';
import type { UniqueRequest } from './draft.ts';
import { newJobs, type Producer } from './new-jobs.ts';

export interface AuditEntry {
  readonly action: string;
  /** The job that it was done to; of a definition, its name. */
  readonly job: number | null;
  readonly def: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

export interface AuditRecord extends AuditEntry {
  readonly id: number;
  readonly at: number;
  readonly by: string;
  readonly why: string | null;
}

export interface AuditQuery {
  readonly action?: string | undefined;
  readonly job?: number | undefined;
  readonly by?: string | undefined;
}

const auditName = 'stint.audit';
const auditRetentionMs = 10 * 365 * 86_400_000;

/** Of an act that was done: the history of what it was done to tells it too. */
export async function audit(
  producer: Producer,
  entry: AuditEntry,
  asker: Asker,
  unique?: UniqueRequest,
): Promise<void> {
  const record = await auditRecord(producer, entry, asker, unique);
  await insert(producer.store, [record]);
  await closeRecord(producer, record, asker);
}

/** The record as a change, to be committed with the act. */
export async function auditRecord(
  producer: Producer,
  entry: AuditEntry,
  { by, why }: Asker,
  unique?: UniqueRequest,
): Promise<Change> {
  const tags = { action: entry.action, by, ...(entry.job === null ? {} : { job: String(entry.job) }) };
  const input = { ...entry, why: why ?? null };
  const draft = { kind: 'audit', type: auditName, input, tags, policy: { retentionMs: auditRetentionMs } } as const;
  return (await newJobs(producer, [unique === undefined ? draft : { ...draft, unique }], by))[0]!;
}

/** It is over as soon as it is stored; one that is left open by a crash is told none the less. */
export async function closeRecord({ store }: Producer, { after }: Change, asker: Asker): Promise<void> {
  const { id } = after!;
  const claim = { do: 'claim', holder: asker.by, until: null, parentCancelled: false } as const;
  const claimed = await apply(store, id, claim, asker);
  await apply(store, id, { do: 'succeed', fence: claimed.after!.fence }, asker);
}

export interface AuditPage {
  readonly records: readonly AuditRecord[];
  readonly next: number | null;
}

export async function auditRecords(
  { store }: Pick<Producer, 'store'>,
  query: AuditQuery,
  page: PageRequest,
): Promise<AuditPage> {
  const { action, job, by } = query;
  const tags = {
    ...(action === undefined ? {} : { action }),
    ...(by === undefined ? {} : { by }),
    ...(job === undefined ? {} : { job: String(job) }),
  };
  const isAll = Object.keys(tags).length === 0;
  const found = await store.find({ kinds: ['audit'], types: [auditName], ...(isAll ? {} : { tags }) }, page);
  return { records: found.jobs.map(recordOf), next: found.next };
}

function recordOf({ id, created, tags, input }: Job): AuditRecord {
  const { why = null, ...entry } = parseJson(input) as unknown as AuditEntry & { why?: string | null };
  return { id, at: created, by: tags?.['by'] ?? '', why, ...entry };
}

/** What of a job an operator can change, or wants to know of one that is gone. */
export const auditView = (job: Job): unknown => ({
  id: job.id,
  kind: job.kind,
  type: job.type,
  def: job.def,
  standing: standingOf(job),
  created: job.created,
  due: job.due,
  priority: job.priority,
  tags: job.tags,
  attempt: job.attempt,
  isCancelAsked: job.cancel !== null,
});
