/** The overview over HTTP: types, instances and statistics. */
import { isLive, type DueJob } from '../../store/store.ts';
import type { StatsView } from '../contract.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { longestDue } from '../longest-due.ts';
import { sums, typeList } from '../type-views.ts';
import { instanceView } from '../views.ts';

export const overviewRoutes: StoreRouteHandlers<'listTypes' | 'listInstances' | 'stats'> = {
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
    const alive = (await engine.instances()).filter((each) => isLive(each, now));
    // Remote workers, whose pid is 0, do not report how many slots are busy.
    const reporting = alive.filter(({ about }) => about.pid !== 0);
    return {
      now,
      open: sums(tallies),
      ended: past && sums(past),
      types: [...tallies, ...(past ?? [])].map(({ due: _due, ...tally }) => tally),
      oldestReady: ageOf(await longestDue(engine, tallies), now),
      instances: {
        alive: alive.length,
        slots: reporting.reduce((sum, { about }) => sum + about.slots, 0),
        busy: reporting.reduce((sum, { about }) => sum + about.busy, 0),
      },
    };
  },
};

const ageOf = (job: (DueJob & { readonly type: string }) | null, now: number): StatsView['oldestReady'] =>
  job && { id: job.id, type: job.type, dueAt: job.due, ageMs: Math.max(0, now - job.due) };
