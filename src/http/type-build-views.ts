/** The builds that execute a job type, and how many of their attempts failed. */
import { readBuilds } from '../jobs/catalogue.ts';
import type { Instance, Store } from '../store/store.ts';
import type { TypeDetail } from './contract.ts';

/** Returns the builds of the live instances with the type, newest first. */
export async function buildsOfType(
  store: Pick<Store, 'load'>,
  type: string,
  having: readonly Instance[],
): Promise<TypeDetail['builds']> {
  const perBuild = Map.groupBy(having.filter(({ about }) => about.build !== undefined), ({ about }) => about.build!);
  const builds = await readBuilds(store, [...perBuild.keys()]);
  return builds.toReversed().map(({ id, firstSeen }) => {
    const instances = perBuild.get(id)!;
    const counts = instances.flatMap(({ about }) => about.attempts?.filter((one) => one.type === type) ?? []);
    return {
      id,
      firstSeen,
      instances: instances.map((instance) => instance.id),
      succeeded: sum(counts.map(({ succeeded }) => succeeded)),
      failed: sum(counts.map(({ failed }) => failed)),
    };
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
