/** The views of job types: from the catalogue, the code of this program, the live instances and the open jobs. */
import type { EngineCore } from '../engine/engine.ts';
import { allTypes } from '../jobs/catalogue.ts';
import { workKinds } from '../model/state.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import type { TypeFairness } from '../model/type-limit.ts';
import { Refusal } from '../refusal.ts';
import { openStandings, type Tally } from '../store/query.ts';
import { isLive, type Instance } from '../store/store.ts';
import { buildsOfType } from './type-build-views.ts';
import { versionsOfType } from './type-version-views.ts';
import type { StatsView, TypeDetail, TypeView } from './contract.ts';
import { instancesPerType } from './instances-per-type.ts';

/** Returns the views of all known types, sorted by name. `tallies`: the counts of open jobs. */
export async function typeList(engine: EngineCore, tallies: readonly Tally[]): Promise<TypeView[]> {
  const entries = new Map((await allTypes(engine.jobs.store)).map((entry) => [entry.name, entry]));
  const local = new Set(engine.types().map(({ name }) => name));
  for (const name of local) if (!entries.has(name)) entries.set(name, (await engine.typeEntry(name))!);
  const having = instancesPerType(await aliveInstances(engine));
  const perType = Map.groupBy(tallies, ({ type }) => type);
  const names = new Set([...entries.keys(), ...having.keys(), ...perType.keys()]);
  return [...names].sort().map((name) => ({
    ...factsOf(name, entries.get(name) ?? null),
    isLocal: local.has(name),
    instances: (having.get(name) ?? []).map(({ id }) => id),
    counts: sums(perType.get(name) ?? []),
  }));
}

/** Returns the view of one type; refuses a name that no code, catalogue entry, live instance or open job has. */
export async function typeDetail(engine: EngineCore, name: string): Promise<TypeDetail> {
  const entry = await engine.typeEntry(name);
  const tallies = await engine.count({ kinds: workKinds, types: [name], standings: openStandings });
  const having = (await aliveInstances(engine)).filter(({ about }) => about.types.includes(name));
  if (entry === null && tallies.length + having.length === 0) {
    const message = `no instance has registered the job type ${name}: start one with its code`;
    throw new Refusal('unknown.type', message, { name });
  }
  return {
    ...factsOf(name, entry),
    isLocal: engine.types().some((type) => type.name === name),
    instances: having.map(({ id }) => id),
    counts: sums(tallies),
    ...(await versionsOfType(engine, name, entry, having)),
    builds: await buildsOfType(engine.jobs.store, name, having),
    taskConcurrency: entry?.taskConcurrency ?? null,
    keyConcurrency: entry?.keyConcurrency ?? null,
    fairness: entry?.fairness === undefined ? null : fairnessView(entry.fairness),
    taskFairness: entry?.taskFairness ?? null,
    shares: [...await engine.sharesInUse(name)],
    priority: entry?.priority ?? 0,
    timeoutMs: entry?.policy.timeoutMs ?? null,
    attempts: entry?.policy.attemptsMax ?? null,
    schema: entry?.schema == null ? null : (JSON.parse(entry.schema) as Record<string, unknown>),
  };
}

const fairnessView = ({ key, weight }: TypeFairness): NonNullable<TypeDetail['fairness']> =>
  ({ key: pathText(key), weight: typeof weight === 'number' ? weight : pathText(weight) });

const pathText = (path: readonly string[] | 'code'): string => (path === 'code' ? path : path.join('.'));

async function aliveInstances(engine: EngineCore): Promise<readonly Instance[]> {
  const now = engine.now();
  return (await engine.instances()).filter((each) => isLive(each, now));
}

/** The settings of a type in the catalogue. They are known even if this server does not have the code of the type. */
const factsOf = (name: string, entry: TypeEntry | null) => ({
  name,
  hasTasks: entry === null ? null : entry.phase === 'prepare',
  isolate: entry?.isolate ?? null,
  batch: entry?.batch ?? null,
  onePerType: entry?.onePerType ?? false,
  concurrency: entry?.concurrency ?? null,
});

export function sums(tallies: readonly Tally[]): StatsView['open'] {
  const sum: StatsView['open'] = {};
  for (const { standing, count } of tallies) sum[standing] = (sum[standing] ?? 0) + count;
  return sum;
}
