/** The living builds: the builds of all instances whose lease has not lapsed. */
import { declaresDef, declaresType, readBuilds, type Build } from '../jobs/catalogue.ts';
import type { KnownDefinition } from '../jobs/define.ts';
import type { Store } from '../store/store.ts';

type BuildReader = Pick<Store, 'instances' | 'load' | 'now'>;

/** Returns the build id of each instance that has a build and a valid lease; an id can occur several times. */
export async function livingBuildIds(store: BuildReader): Promise<readonly string[]> {
  const instances = await store.instances();
  const now = store.now();
  return instances.flatMap(({ leaseUntil, about }) =>
    leaseUntil > now && about.build !== undefined ? [about.build] : []);
}

/** The living builds, each once, oldest first. */
export const livingBuilds = async (store: BuildReader): Promise<readonly Build[]> =>
  readBuilds(store, await livingBuildIds(store));

export const isNewer = (build: Build, than: Build): boolean =>
  build.firstSeen > than.firstSeen || (build.firstSeen === than.firstSeen && build.id > than.id);

export async function hasNewerBuildWith(store: BuildReader, build: string, type: string): Promise<boolean> {
  const living = await readBuilds(store, [...(await livingBuildIds(store)), build]);
  const own = living.find(({ id }) => id === build);
  return living.some((other) => declaresType(other, type) && (own === undefined || isNewer(other, own)));
}

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
