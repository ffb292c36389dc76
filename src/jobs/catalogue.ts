/**
 * The catalogue: the job types that instances have registered, and the builds that declare them. Each type and each
 * build is stored as a job of kind `type` or `build`, which is never executed; its history shows how it changed. Its id
 * is a hash of its name, so that it is loaded without a search. These ids are above the ids of all other stored jobs.
 */
import type { Asker } from '../apply.ts';
import type { Job } from '../model/job.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import { pagesOf } from '../store/paging.ts';
import { digestOf, recordId } from '../store/record-id.ts';
import type { Store } from '../store/store.ts';
import { recordType, writeRecords, type RecordContent } from './record-writing.ts';

const recordBatch = 500;

/**
 * A program as it was deployed: the job types, definitions, named limits and alerts that it declares (as hashes), and when
 * it was first seen.
 */
export interface Build {
  readonly id: string;
  readonly firstSeen: number;
  readonly types: ReadonlySet<string>;
  readonly defs: ReadonlySet<string>;
  /** Null: a version of Stint has stored it that did not store them. */
  readonly limits: ReadonlySet<string> | null;
  readonly alerts: ReadonlySet<string>;
}

export interface BuildDeclarations {
  readonly build: string;
  readonly types: readonly string[];
  readonly defs: readonly string[];
  readonly limits: readonly string[];
  readonly alerts: readonly string[];
}

/** Stores the entries of job types. An entry that is equal to the stored one is not written again. */
export async function registerTypes(store: Store, entries: readonly TypeEntry[], asker: Asker): Promise<void> {
  for (let from = 0; from < entries.length; from += recordBatch) {
    const records = entries.slice(from, from + recordBatch).map((entry) => recordOf('type', entry.name, entry));
    await writeRecords(store, records, asker);
  }
}

/** Returns the entries of these job types by name. Types that are not registered are missing from the result. */
export async function readTypes(
  store: Pick<Store, 'load'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, TypeEntry>> {
  if (names.length === 0) return new Map();
  const entries = (await store.load([...new Set(names)].map((name) => recordId('type', name)))).map(entryOf);
  return new Map(entries.map((entry) => [entry.name, entry]));
}

export async function allTypes(store: Store): Promise<readonly TypeEntry[]> {
  const pages = pagesOf(store, { kinds: ['type'], types: [recordType('type')] });
  return (await Array.fromAsync(pages)).flat().map(entryOf);
}

/** Stores a build and its declarations; returns the build with the time at which it was first seen. */
export async function registerBuild(
  store: Store,
  { build, types, defs, limits, alerts }: BuildDeclarations,
  asker: Asker,
): Promise<Build> {
  const hashes = (names: readonly string[]): string[] => names.map(shortHash).sort();
  const content = { id: build, types: hashes(types), defs: hashes(defs), limits: hashes(limits), ...(alerts.length === 0 ? {} : { alerts: hashes(alerts) }) };
  await writeRecords(store, [recordOf('build', build, content)], asker);
  return (await readBuilds(store, [build]))[0]!;
}

/** The name of the record that counts the changes of the newest living build. The id of a build has no control character. */
const newestName = '\tnewest';

interface NewestContent {
  readonly newest: string;
  readonly changes: number;
}

/**
 * Records that this build is the newest living one. It must be called before the build registers its types: an instance
 * that reads the number of changes later notices a build that came and went in the meantime.
 */
export async function registerNewest(store: Store, build: string, asker: Asker): Promise<void> {
  const contentAfter = (before: unknown): NewestContent => {
    const known = before as NewestContent | undefined;
    return known?.newest === build ? known : { newest: build, changes: (known?.changes ?? 0) + 1 };
  };
  await writeRecords(store, [{ kind: 'build', name: newestName, contentAfter }], asker);
}

/** Returns how often another build became the newest living one. */
export async function newestChanges(store: Pick<Store, 'load'>): Promise<number> {
  const [record] = await store.load([recordId('build', newestName)]);
  return record ? (JSON.parse(record.input) as NewestContent).changes : 0;
}

/** Returns the registered builds among these ids, ordered by when they were first seen. */
export async function readBuilds(store: Pick<Store, 'load'>, ids: readonly string[]): Promise<readonly Build[]> {
  if (ids.length === 0) return [];
  const known = (await store.load([...new Set(ids)].map((id) => recordId('build', id)))).map(buildOf);
  return known.sort((a, b) => a.firstSeen - b.firstSeen || (a.id < b.id ? -1 : 1));
}

export const declaresType = ({ types }: Build, name: string): boolean => types.has(shortHash(name));
export const declaresDef = ({ defs }: Build, name: string): boolean => defs.has(shortHash(name));
export const declaresLimit = ({ limits }: Build, name: string): boolean => limits?.has(shortHash(name)) ?? false;

export const declaresAlert = ({ alerts }: Build, name: string): boolean => alerts.has(shortHash(name));

const recordOf = (kind: RecordContent['kind'], name: string, content: unknown): RecordContent =>
  ({ kind, name, contentAfter: () => content });

const entryOf = ({ input }: Job): TypeEntry => JSON.parse(input) as TypeEntry;

function buildOf({ input, created }: Job): Build {
  const { id, types, defs, limits, alerts } = JSON.parse(input) as
    { readonly id: string; readonly types: string[]; readonly defs: string[]; readonly limits?: string[]; readonly alerts?: string[] };
  return {
    id, firstSeen: created, types: new Set(types), defs: new Set(defs), limits: limits ? new Set(limits) : null, alerts: new Set(alerts),
  };
}

/**
 * Returns 48 bits of the hash of a name. The record of a build lists these hashes instead of the names of all its types
 * and definitions, so that the record stays small.
 */
const shortHash = (name: string): string => digestOf(name).subarray(0, 6).toString('base64url');
