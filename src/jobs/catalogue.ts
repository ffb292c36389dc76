/**
 * The catalogue: the job types that instances have registered, and the builds that declare them. Each type and each
 * build is stored as a job of kind `type` or `build`, which is never executed; its history shows how it changed. Its id
 * is a hash of its name, so that it is loaded without a search. These ids are above the ids of all other stored jobs.
 */
import { createHash } from 'node:crypto';
import { applyTogether, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { never } from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import { create, record } from '../model/machine.ts';
import { firstRecordId } from '../model/record-id.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import { pagesOf } from '../store/paging.ts';
import type { Store } from '../store/store.ts';
import { originOf } from './draft.ts';

const recordBatch = 500;
const typeRecord = 'stint.type';
const buildRecord = 'stint.build';

/**
 * A program as it was deployed: the job types and definitions that it declares (as hashes), and when it was first seen.
 */
export interface Build {
  readonly id: string;
  readonly firstSeen: number;
  readonly types: ReadonlySet<string>;
  readonly defs: ReadonlySet<string>;
}

export interface BuildDeclarations {
  readonly build: string;
  readonly types: readonly string[];
  readonly defs: readonly string[];
}

/** Stores the entries of job types. An entry that is equal to the stored one is not written again. */
export async function registerTypes(store: Store, entries: readonly TypeEntry[], asker: Asker): Promise<void> {
  for (let from = 0; from < entries.length; from += recordBatch) {
    const records = entries.slice(from, from + recordBatch).map((entry) => recordOf('type', entry.name, entry));
    await write(store, records, asker);
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
  const pages = pagesOf(store, { kinds: ['type'], types: [typeRecord] });
  return (await Array.fromAsync(pages)).flat().map(entryOf);
}

/** Stores a build and its declarations; returns the build with the time at which it was first seen. */
export async function registerBuild(
  store: Store,
  { build, types, defs }: BuildDeclarations,
  asker: Asker,
): Promise<Build> {
  const content = { id: build, types: types.map(shortHash).sort(), defs: defs.map(shortHash).sort() };
  await write(store, [recordOf('build', build, content)], asker);
  return (await readBuilds(store, [build]))[0]!;
}

/** Returns the registered builds among these ids, ordered by when they were first seen. */
export async function readBuilds(store: Pick<Store, 'load'>, ids: readonly string[]): Promise<readonly Build[]> {
  if (ids.length === 0) return [];
  const known = (await store.load([...new Set(ids)].map((id) => recordId('build', id)))).map(buildOf);
  return known.sort((a, b) => a.firstSeen - b.firstSeen || (a.id < b.id ? -1 : 1));
}

export const declaresType = ({ types }: Build, name: string): boolean => types.has(shortHash(name));
export const declaresDef = ({ defs }: Build, name: string): boolean => defs.has(shortHash(name));

interface NamedRecord {
  readonly kind: 'type' | 'build';
  readonly id: number;
  readonly name: string;
  readonly input: string;
}

const recordOf = (kind: NamedRecord['kind'], name: string, content: unknown): NamedRecord =>
  ({ kind, id: recordId(kind, name), name, input: JSON.stringify(content) });

async function write(store: Store, records: readonly NamedRecord[], asker: Asker): Promise<void> {
  await applyTogether(store, async () => {
    const known = new Map((await store.load(records.map(({ id }) => id))).map((job) => [job.id, job]));
    const asking = { ...asker, now: store.now() };
    return records.flatMap((each) => changeOf(each, known.get(each.id), asking));
  });
}

function changeOf(
  { kind, id, name, input }: NamedRecord,
  known: Job | undefined,
  asking: Asker & { readonly now: number },
): Change[] {
  if (known) return known.input === input ? [] : [record(known, [{ kind: 'edited', edit: { input } }], asking)];
  const type = kind === 'type' ? typeRecord : buildRecord;
  const origin = { ...originOf({ kind, type, key: name, inputText: input }, id, asking.now), parent: null };
  return [create(origin, { due: never, priority: 0, hold: 'pause' }, asking)];
}

const entryOf = ({ input }: Job): TypeEntry => JSON.parse(input) as TypeEntry;

function buildOf({ input, created }: Job): Build {
  const { id, types, defs } =
    JSON.parse(input) as { readonly id: string; readonly types: string[]; readonly defs: string[] };
  return { id, firstSeen: created, types: new Set(types), defs: new Set(defs) };
}

/**
 * Returns the id of a type, build or pause: 51 bits of a hash of its name. With 10,000 names, the probability that two get the
 * same id is 1 in 40 million.
 */
export const recordId = (kind: NamedRecord['kind'] | 'pause', name: string): number =>
  firstRecordId + Number(digestOf(`${kind} ${name}`).readBigUInt64BE() >> 13n);

/**
 * Returns 48 bits of the hash of a name. The record of a build lists these hashes instead of the names of all its types
 * and definitions, so that the record stays small.
 */
const shortHash = (name: string): string => digestOf(name).subarray(0, 6).toString('base64url');

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
