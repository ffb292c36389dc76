/** The overview over HTTP: types, instances, statistics and time series. */
import { hasTasks, type JobType } from '../../engine/declare/job-type.ts';
import { workKinds } from '../../model/state.ts';
import type { Tally } from '../../store/query.ts';
import type { Instance } from '../../store/store.ts';
import type { StatsView, TypeView } from '../contract.ts';
import type { HttpServices, RouteHandlers } from '../handler.ts';
import { instancesPerType } from '../instances-per-type.ts';
import { instanceView } from '../views.ts';

export const overviewRoutes: RouteHandlers<'listTypes' | 'listInstances' | 'stats' | 'series'> = {
  async listTypes({ engine, jobCounts }) {
    const now = engine.now();
    const alive = (await engine.instances()).filter(({ leaseUntil }) => leaseUntil > now);
    const tallies = await jobCounts.open();
    const local = new Map(engine.types().map((type) => [type.name, type]));
    const elsewhere = alive.flatMap(({ about }) => about.types);
    const names = new Set([...local.keys(), ...elsewhere, ...tallies.map(({ type }) => type)]);
    const perType = Map.groupBy(tallies, ({ type }) => type);
    const having = instancesPerType(alive);
    const viewOf = (name: string): TypeView =>
      typeView(name, local.get(name), having.get(name) ?? [], perType.get(name) ?? []);
    return { items: [...names].sort().map(viewOf) };
  },

  async listInstances({ engine }) {
    const now = engine.now();
    return { items: (await engine.instances()).map((instance) => instanceView(instance, now, engine.instance)) };
  },

  async stats({ engine, jobCounts }, { query: { ended = false } }) {
    const now = engine.now();
    const tallies = await jobCounts.open();
    const past = ended ? await jobCounts.ended() : null;
    const alive = (await engine.instances()).filter(({ leaseUntil }) => leaseUntil > now);
    return {
      now,
      open: sums(tallies),
      ended: past && sums(past),
      types: [...tallies, ...(past ?? [])].map(({ due: _due, ...tally }) => tally),
      oldestReady: await oldestReady(engine, now),
      instances: {
        alive: alive.length,
        slots: alive.reduce((sum, { about }) => sum + about.slots, 0),
        busy: alive.reduce((sum, { about }) => sum + about.busy, 0),
      },
    };
  },

  async series({ feed, timeSeries }, { query: { range = '1h', type } }) {
    await feed.start();
    return timeSeries.answer(range, type);
  },
};

/**
 * Returns the due job that was created first; null: no job is due. Another job may have been due for longer, but only a
 * scan would find it.
 */
export async function oldestReady(engine: HttpServices['engine'], now: number): Promise<StatsView['oldestReady']> {
  const query = { kinds: workKinds, standings: ['pending'], dueBefore: now } as const;
  const [job] = (await engine.find(query, { order: 'oldest', limit: 1 })).jobs;
  return job === undefined ? null : { id: job.id, type: job.type, dueAt: job.due, ageMs: Math.max(0, now - job.due) };
}

function sums(tallies: readonly Tally[]): StatsView['open'] {
  const sum: StatsView['open'] = {};
  for (const { standing, count } of tallies) sum[standing] = (sum[standing] ?? 0) + count;
  return sum;
}

export const typeView = (
  name: string,
  type: JobType | undefined,
  alive: readonly Instance[],
  tallies: readonly Tally[],
): TypeView => ({
  name,
  isLocal: type !== undefined,
  hasTasks: type === undefined ? null : hasTasks(type),
  isolate: type?.options.isolate ?? null,
  onePerType: type?.options.onePerType ?? false,
  concurrency: type?.options.concurrency ?? null,
  instances: alive.filter(({ about }) => about.types.includes(name)).map(({ id }) => id),
  counts: sums(tallies.filter((tally) => tally.type === name)),
});
