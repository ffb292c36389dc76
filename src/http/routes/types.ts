/** One job type over HTTP: its settings and the schema of its input. */
import { workKinds } from '../../model/state.ts';
import type { TypeEntry } from '../../model/type-entry.ts';
import { Refusal } from '../../refusal.ts';
import { openStandings } from '../../store/query.ts';
import type { TypeDetail } from '../contract.ts';
import type { RouteHandlers } from '../handler.ts';
import { typeView } from './overview.ts';

export const typeRoutes: RouteHandlers<'getType'> = {
  async getType({ engine }, { params: { name } }) {
    const now = engine.now();
    const alive = (await engine.instances()).filter(({ leaseUntil }) => leaseUntil > now);
    const tallies = await engine.count({ kinds: workKinds, types: [name], standings: openStandings });
    const local = engine.types().find((type) => type.name === name);
    const entry = await engine.typeEntry(name);
    const isKnown = entry !== null || local !== undefined || tallies.length > 0 || alive.some(({ about }) => about.types.includes(name));
    if (!isKnown) throw new Refusal('unknown.type', `no live instance knows the job type ${name}`, { name });
    return { ...typeView(name, local, alive, tallies), ...(entry === null ? {} : traitsOf(entry)), ...settings(entry) };
  },
};

/** The settings of a type in the catalogue. They are known even if this server does not have the code of the type. */
const traitsOf = ({ phase, isolate, onePerType, concurrency }: TypeEntry) =>
  ({ hasTasks: phase === 'prepare', isolate, onePerType, concurrency });

function settings(entry: TypeEntry | null): Omit<TypeDetail, keyof ReturnType<typeof typeView>> {
  return {
    taskConcurrency: entry?.taskConcurrency ?? null,
    keyConcurrency: entry?.keyConcurrency ?? null,
    timeoutMs: entry?.policy.timeoutMs ?? null,
    attempts: entry?.policy.attemptsMax ?? null,
    schema: entry?.schema == null ? null : (JSON.parse(entry.schema) as Record<string, unknown>),
  };
}
