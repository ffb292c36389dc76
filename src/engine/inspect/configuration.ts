/** The configurations of definitions in the terms of seed 4 (docs/seeds.md): their status, their last and their next run. */
import type { Job } from '../../model/job.ts';
import type { Store } from '../../store/store.ts';
import { configurationOf, type Configuration } from '../../vocabulary/configuration.ts';

/** Returns the configuration of each definition by its id. Three queries, however many definitions. */
export async function configurationsIn(
  store: Pick<Store, 'latestEnds' | 'startedRuns' | 'load'>,
  defs: readonly Job[],
): Promise<ReadonlyMap<number, Configuration>> {
  if (defs.length === 0) return new Map();
  const names = defs.map(({ def }) => def!);
  // In this order: a run that ends between the two queries is found by both, not by neither.
  const started = await store.startedRuns(names);
  const ends = await store.latestEnds(names);
  const ids = new Set([...[...started.values()].flat(), ...[...ends.values()].map(({ id }) => id)]);
  const runs = Map.groupBy(ids.size === 0 ? [] : await store.load([...ids]), ({ def }) => def!);
  return new Map(defs.map((def) => [def.id, configurationOf(def, runs.get(def.def!) ?? [])]));
}
