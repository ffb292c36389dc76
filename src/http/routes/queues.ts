/** Queues over HTTP: the open jobs of each type, the longest wait, and the limits in use. */
import type { LimitInUse } from '../../engine/inspect/limits-in-use.ts';
import { workKinds } from '../../model/state.ts';
import type { Tally } from '../../store/query.ts';
import type { Instance } from '../../store/store.ts';
import type { LimitView, QueueView } from '../contract.ts';
import type { HttpServices, RouteHandlers } from '../handler.ts';

/** The age of the oldest job is looked up for this many types: those with most ready jobs. */
const agesMax = 20;

export const queueRoutes: RouteHandlers<'listQueues'> = {
  async listQueues({ engine, jobCounts }) {
    const now = engine.now();
    const able = (await engine.instances()).filter(({ leaseUntil, about }) => leaseUntil > now && !about.draining);
    const open = await jobCounts.open();
    const ready = await engine.count({ kinds: workKinds, standings: ['pending'], dueBefore: now });
    const types = new Set([...open.map(({ type }) => type), ...engine.types().map(({ name }) => name)]);
    const limits = await engine.limitsInUse([...types]);
    const ages = await agesOf(engine, ready, now);
    const items = [...types].sort().map((type) => queueView(type, { able, open, ready, limits, ages }));
    return { items };
  },
};

type Ages = ReadonlyMap<string, QueueView['oldestReady']>;

async function agesOf(engine: HttpServices['engine'], ready: readonly Tally[], now: number): Promise<Ages> {
  const counts = new Map<string, number>();
  for (const { type, count } of ready) counts.set(type, (counts.get(type) ?? 0) + count);
  const fullest = [...counts].sort(([, a], [, b]) => b - a).slice(0, agesMax);
  const ages = new Map<string, QueueView['oldestReady']>();
  for (const [type] of fullest) {
    const query = { kinds: workKinds, types: [type], standings: ['pending'], dueBefore: now } as const;
    const [job] = (await engine.find(query, { order: 'oldest', limit: 1 })).jobs;
    if (job !== undefined) ages.set(type, { id: job.id, ageMs: Math.max(0, now - job.due) });
  }
  return ages;
}

interface QueueData {
  readonly able: readonly Instance[];
  readonly open: readonly Tally[];
  readonly ready: readonly Tally[];
  readonly limits: readonly LimitInUse[];
  readonly ages: Ages;
}

function queueView(type: string, { able, open, ready, limits, ages }: QueueData): QueueView {
  const sum = (tallies: readonly Tally[], standing: Tally['standing']): number =>
    tallies
      .filter((tally) => tally.type === type && tally.standing === standing)
      .reduce((all, { count }) => all + count, 0);
  const withType = able.filter(({ about }) => about.types.includes(type));
  const readyCount = sum(ready, 'pending');
  return {
    type,
    ready: readyCount,
    later: Math.max(0, sum(open, 'pending') - readyCount),
    held: sum(open, 'held'),
    running: sum(open, 'running'),
    oldestReady: ages.get(type) ?? null,
    instances: withType.length,
    slots: withType.reduce((all, { about }) => all + about.slots, 0),
    limits: limits.filter((limit) => limit.type === type).map(limitView),
  };
}

const limitView = ({ scope, name, max, taken }: LimitInUse): LimitView => ({ scope, name, max, taken });
