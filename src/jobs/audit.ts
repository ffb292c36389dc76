/**
 * The audit: one entry for each recorded action, such as an operator's cancel or a sign-in. An entry is stored as a job
 * of kind `audit`, which no worker executes. So entries are stored, searched and deleted like jobs. The entry of a
 * deletion is written in one commit with the deletion.
 */
import { apply, applyEach, insert, isChange, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Job } from '../model/job.ts';
import { parseJson } from '../model/json.ts';
import { standingOf, type PageRequest } from '../store/query.ts';
import type { Draft, UniqueRequest } from './draft.ts';
import { newJobs, type Creator, type Producer } from './new-jobs.ts';

export interface AuditEntry {
  readonly action: string;
  /** The job that the action changed; null: the action was on the definition `def`, or on no job at all. */
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

/** Stores the entry of an action that has been done, unless another entry has its unique key. */
export async function audit(
  producer: Creator,
  entry: AuditEntry,
  asker: Asker,
  unique?: UniqueRequest,
): Promise<void> {
  const record = await auditRecord(producer, entry, asker, unique);
  const [isStored] = await insert(producer.store, [record]);
  if (isStored === true) await closeRecord(producer, record, asker);
}

/** Returns the entry as a change that is not stored yet, so that the caller can commit it together with the action. */
export async function auditRecord(
  producer: Creator,
  entry: AuditEntry,
  asker: Asker,
  unique?: UniqueRequest,
): Promise<Change> {
  const draft = recordDraft(entry, asker);
  return (await newJobs(producer, [unique === undefined ? draft : { ...draft, unique }], asker.by))[0]!;
}

/** Like `auditRecord`, for many entries. */
export const newRecords = (
  producer: Creator,
  entries: readonly AuditEntry[],
  asker: Asker,
): Promise<readonly Change[]> =>
  newJobs(producer, entries.map((entry) => recordDraft(entry, asker)), asker.by);

function recordDraft(entry: AuditEntry, { by, why }: Asker): Draft {
  const tags = { action: entry.action, by, ...(entry.job === null ? {} : { job: String(entry.job) }) };
  const input = { ...entry, why: why ?? null };
  return { kind: 'audit', type: auditName, input, tags, policy: { retentionMs: auditRetentionMs } };
}

/**
 * Ends the job of a stored entry, so that retention deletes it after `auditRetentionMs`. If a crash prevents this, the
 * job stays open: the entry is listed, but retention does not delete it.
 */
export async function closeRecord({ store }: Pick<Creator, 'store'>, { after }: Change, asker: Asker): Promise<void> {
  const { id } = after!;
  const claimed = await apply(store, id, claimBy(asker), asker);
  await apply(store, id, { do: 'succeed', fence: claimed.after!.fence }, asker);
}

/** Like `closeRecord`, for many entries in two commits. */
export async function closeRecords(
  { store }: Pick<Creator, 'store'>,
  records: readonly Change[],
  asker: Asker,
): Promise<void> {
  const claims = records.map(({ after }) => ({ job: after!.id, command: claimBy(asker) }));
  const claimed = (await applyEach(store, claims, asker)).filter(isChange);
  const ends = claimed.map(({ after }) =>
    ({ job: after!, command: { do: 'succeed', fence: after!.fence } as const }));
  await applyEach(store, ends, asker);
}

const claimBy = ({ by }: Asker) => ({ do: 'claim', holder: by, until: null, parentCancelled: false }) as const;

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

/**
 * Returns the fields of a job that an entry stores in `before` and `after`. They show what the job was, even after the
 * job has been deleted.
 */
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
