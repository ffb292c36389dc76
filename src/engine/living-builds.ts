/** The living builds: the builds of all instances whose lease has not lapsed. */
import { declaresDef, declaresLimit, declaresType, readBuilds, readTypes, type Build } from '../jobs/catalogue.ts';
import type { KnownDefinition } from '../jobs/define.ts';
import type { Job } from '../model/job.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import { versionsOf } from '../model/type-version.ts';
import { isLive, type Store } from '../store/store.ts';

type BuildReader = Pick<Store, 'instances' | 'load' | 'now'>;

/** Returns the build id of each instance that has a build and a valid lease; an id can occur several times. */
export async function livingBuildIds(store: BuildReader): Promise<readonly string[]> {
  const instances = await store.instances();
  const now = store.now();
  return instances.flatMap((each) => (isLive(each, now) && each.about.build !== undefined ? [each.about.build] : []));
}

/** The living builds, each once, oldest first. */
export const livingBuilds = async (store: BuildReader): Promise<readonly Build[]> =>
  readBuilds(store, await livingBuildIds(store));

export const isNewer = (build: Build, than: Build): boolean =>
  build.firstSeen > than.firstSeen || (build.firstSeen === than.firstSeen && build.id > than.id);

/** The code of an instance: its build, and the version of a type that it executes without an upgrade. */
export interface OwnCode {
  readonly build: string;
  readonly version: number;
}

/**
 * Whether other living code may accept an input that this code refuses: that of a newer build with the type, of a newer
 * version of the type, or of the version of the job itself, if this code had to upgrade the input.
 */
export async function mayOthersAccept(
  store: BuildReader,
  { build, version }: OwnCode,
  { type, typeVersion }: Pick<Job, 'type' | 'typeVersion'>,
): Promise<boolean> {
  const now = store.now();
  const versions = (await store.instances())
    .filter((each) => isLive(each, now) && each.about.types.includes(type))
    .map(({ about }) => versionsOf(about.versions ?? [], type).to);
  const isOtherVersion = versions.some((other) => other > version || (other === typeVersion && typeVersion < version));
  return isOtherVersion || (await hasNewerBuildWith(store, build, type));
}

async function hasNewerBuildWith(store: BuildReader, build: string, type: string): Promise<boolean> {
  const living = await readBuilds(store, [...(await livingBuildIds(store)), build]);
  const own = living.find(({ id }) => id === build);
  return living.some((other) => declaresType(other, type) && (own === undefined || isNewer(other, own)));
}

/**
 * Whether a type of a living build lists the limit. Of builds whose records do not have their limits, the catalogue is
 * read, which has the types as the newest build declares them.
 */
export async function isLimitDeclared(store: BuildReader, name: string): Promise<boolean> {
  const living = await livingBuilds(store);
  if (living.some((build) => declaresLimit(build, name))) return true;
  return living.some(({ limits }) => limits === null) && (await catalogueLimitNames(store)).has(name);
}

async function catalogueLimitNames(store: BuildReader): Promise<ReadonlySet<string>> {
  const instances = await store.instances();
  const now = store.now();
  const types = instances.flatMap((each) => (isLive(each, now) ? each.about.types : []));
  return new Set((await readTypes(store, types)).values().flatMap(limitNames));
}

export const limitNames = ({ limits = [], taskLimits = [] }: TypeEntry): string[] =>
  [...limits, ...taskLimits].map(({ name }) => name);

export async function undeclaredDefNames(
  store: BuildReader,
  defs: readonly Pick<KnownDefinition, 'name' | 'build'>[],
): Promise<ReadonlySet<string>> {
  const declared = defs.filter(({ build }) => build !== undefined);
  if (declared.length === 0) return new Set();
  const living = await livingBuilds(store);
  const isUndeclared = (name: string): boolean => !living.some((build) => declaresDef(build, name));
  return new Set(declared.map(({ name }) => name).filter(isUndeclared));
}
