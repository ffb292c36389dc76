/** The job that has been due for the longest time, found without reading every due job. */
import type { EngineCore } from '../engine/engine.ts';
import { workKinds } from '../model/state.ts';
import type { Tally } from '../store/query.ts';
import type { DueJob } from '../store/store.ts';

/** How many types are asked for the job that has been due longest: those with the most due jobs. */
const typesMax = 20;

type DueSource = Pick<EngineCore, 'find' | 'now' | 'oldestDue'>;

/** Returns the types with the most due jobs. The tallies must have the field `due`. */
export function fullestTypes(tallies: readonly Tally[]): string[] {
  const ready = new Map<string, number>();
  for (const { type, due = 0 } of tallies) if (due > 0) ready.set(type, (ready.get(type) ?? 0) + due);
  return [...ready].sort(([, a], [, b]) => b - a).slice(0, typesMax).map(([type]) => type);
}

/**
 * Returns the due job that has waited longest; null: no job is due. If jobs of more than `typesMax` types are due, the
 * due job that was created first stands for the other types.
 */
export async function longestDue(
  engine: DueSource,
  tallies: readonly Tally[],
): Promise<(DueJob & { readonly type: string }) | null> {
  const types = fullestTypes(tallies);
  const candidates = [...(await engine.oldestDue(types))].map(([type, job]) => ({ ...job, type }));
  if (types.length === typesMax) candidates.push(...(await createdFirst(engine)));
  return candidates.sort((a, b) => a.due - b.due)[0] ?? null;
}

async function createdFirst(engine: DueSource): Promise<readonly (DueJob & { readonly type: string })[]> {
  const query = { kinds: workKinds, standings: ['pending'], dueBefore: engine.now() } as const;
  const { jobs } = await engine.find(query, { order: 'oldest', limit: 1 });
  return jobs.map(({ id, due, type }) => ({ id, due, type }));
}
