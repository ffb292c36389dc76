/**
 * Named limits: declared by code at the start of an engine, changed by operators. Claims read the values from these
 * records, so that instances with different code apply the same values.
 */
import type { Job } from '../model/job.ts';
import type { LimitValues } from '../model/limit.ts';
import { limitContentOf, limitValuesOf, type LimitContent } from '../model/limit-record.ts';
import { Refusal } from '../refusal.ts';
import { pagesOf } from '../store/paging.ts';
import { recordId } from '../store/record-id.ts';
import type { Store } from '../store/store.ts';
import { recordType, writeRecords } from './record-writing.ts';

export interface LimitRecord extends LimitContent {
  /** The values that apply: the override over the code. */
  readonly values: LimitValues;
  readonly version: number;
}

export interface LimitDeclaration {
  readonly name: string;
  readonly keyed: boolean;
  readonly values: LimitValues;
}

/** Stores the limits as code declares them. Overrides stay. A limit that is stored as declared is not written. */
export async function declareLimits(store: Store, limits: readonly LimitDeclaration[], by: string): Promise<void> {
  if (limits.length === 0) return;
  const records = limits.map(({ name, keyed, values }) => ({
    kind: 'limit' as const,
    name,
    contentAfter: (before: unknown): LimitContent => ({ ...(before ?? noContent(name)) as LimitContent, code: values, keyed }),
  }));
  await writeRecords(store, records, { by, why: 'the code declares it' });
}

/**
 * Sets the override of a limit, which replaces the one before; null removes it. Applies to the next claim of every
 * instance.
 */
export async function overrideLimit(
  store: Store,
  name: string,
  override: Partial<LimitValues> | null,
  { by, why }: { readonly by: string; readonly why?: string },
): Promise<LimitRecord> {
  const contentAfter = (before: unknown): LimitContent => {
    if (before === undefined) throw unknownLimit(name);
    const who = override === null ? { by: null, why: null } : { by, why: why ?? null };
    return { ...(before as LimitContent), override, ...who };
  };
  await writeRecords(store, [{ kind: 'limit', name, contentAfter }], { by, ...(why === undefined ? {} : { why }) });
  return (await readLimit(store, name))!;
}

/** Stores a limit that no code declares: all its values are an override. Refused if the name is in use. */
export async function createLimit(
  store: Store,
  { name, keyed, override }: Pick<LimitContent, 'name' | 'keyed'> & { readonly override: Partial<LimitValues> },
  { by, why }: { readonly by: string; readonly why?: string },
): Promise<LimitRecord> {
  const contentAfter = (before: unknown): LimitContent => {
    if (before === undefined) return { name, code: null, keyed, override, by, why: why ?? null };
    throw new Refusal('taken.key', `there is a limit ${name} already: override it instead`, { name });
  };
  await writeRecords(store, [{ kind: 'limit', name, contentAfter }], { by, ...(why === undefined ? {} : { why }) });
  return (await readLimit(store, name))!;
}

/** Returns the record of a limit; null: no program has declared it. */
export async function readLimit(store: Pick<Store, 'load'>, name: string): Promise<LimitRecord | null> {
  const [job] = await store.load([recordId('limit', name)]);
  return job ? recordOf(job) : null;
}

export async function readLimits(store: Pick<Store, 'find'>): Promise<readonly LimitRecord[]> {
  const pages = pagesOf(store, { kinds: ['limit'], types: [recordType('limit')] });
  return (await Array.fromAsync(pages)).flat().map(recordOf);
}

export const unknownLimit = (name: string): Refusal =>
  new Refusal('limit.unknown', `there is no limit ${JSON.stringify(name)}: start a program that declares it`, { name });

const noContent = (name: string): LimitContent =>
  ({ name, code: null, keyed: false, override: null, by: null, why: null });

function recordOf({ input, version }: Job): LimitRecord {
  const content = limitContentOf(input);
  return { ...content, values: limitValuesOf(content), version };
}
