/** The overview over HTTP: types, instances, statistics and time series. */
import { workKinds } from '../../model/state.ts';
import type { StatsView } from '../contract.ts';
import type { HttpServices, RouteHandlers } from '../handler.ts';
import { sums, typeList } from '../type-views.ts';
import { instanceView } from '../views.ts';

export const overviewRoutes: RouteHandlers<'listTypes' | 'listInstances' | 'stats' | 'series'> = {
  async listTypes({ engine, jobCounts }) {
    return { items: await typeList(engine, await jobCounts.open()) };
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
    // Remote workers, whose pid is 0, do not report how many slots are busy.
    const reporting = alive.filter(({ about }) => about.pid !== 0);
    return {
      now,
      open: sums(tallies),
      ended: past && sums(past),
      types: [...tallies, ...(past ?? [])].map(({ due: _due, ...tally }) => tally),
      oldestReady: await oldestReady(engine, now),
      instances: {
        alive: alive.length,
        slots: reporting.reduce((sum, { about }) => sum + about.slots, 0),
        busy: reporting.reduce((sum, { about }) => sum + about.busy, 0),
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
