/** Queues over HTTP: the open jobs of each type, the longest wait, and the limits in use. */
import type { LimitInUse } from '../../engine/inspect/limits-in-use.ts';
import type { Standing, Tally } from '../../store/query.ts';
import type { DueJob, Instance } from '../../store/store.ts';
import type { LimitView, QueueView } from '../contract.ts';
import type { RouteHandlers } from '../handler.ts';
import { instancesPerType } from '../instances-per-type.ts';

/** The oldest ready job is read only for this many types, those with the most ready jobs. For the others it is null. */
const agesMax = 20;

export const queueRoutes: RouteHandlers<'listQueues'> = {
  async listQueues({ engine, jobCounts }) {
    const now = engine.now();
    const able = (await engine.instances()).filter(({ leaseUntil, about }) => leaseUntil > now && !about.draining);
    const open = countsPerType(await jobCounts.open());
    const ready = countsPerType(await jobCounts.ready());
    const types = [...new Set([...open.keys(), ...engine.types().map(({ name }) => name)])].sort();
    const limits = Map.groupBy(await engine.limitsInUse(types), ({ type }) => type);
    const oldest = await engine.oldestDue(fullest(ready));
    const instances = instancesPerType(able);
    return { items: types.map((type) => queueView(type, { now, instances, open, ready, limits, oldest })) };
  },
};

type CountsPerType = ReadonlyMap<string, Partial<Record<Standing, number>>>;

function countsPerType(tallies: readonly Tally[]): CountsPerType {
  const counts = new Map<string, Partial<Record<Standing, number>>>();
  for (const { type, standing, count } of tallies) {
    const known = counts.get(type) ?? {};
    counts.set(type, Object.assign(known, { [standing]: (known[standing] ?? 0) + count }));
  }
  return counts;
}

const fullest = (ready: CountsPerType): string[] =>
  [...ready]
    .sort(([, a], [, b]) => (b.pending ?? 0) - (a.pending ?? 0))
    .slice(0, agesMax)
    .map(([type]) => type);

/** The data of all queues, indexed by type, because a server may have twenty thousand types. */
interface QueueData {
  readonly now: number;
  readonly instances: ReadonlyMap<string, readonly Instance[]>;
  readonly open: CountsPerType;
  readonly ready: CountsPerType;
  readonly limits: ReadonlyMap<string, readonly LimitInUse[]>;
  readonly oldest: ReadonlyMap<string, DueJob>;
}

function queueView(type: string, { now, instances, open, ready, limits, oldest }: QueueData): QueueView {
  const { pending = 0, held = 0, running = 0 } = open.get(type) ?? {};
  const readyCount = ready.get(type)?.pending ?? 0;
  const withType = instances.get(type) ?? [];
  return {
    type,
    ready: readyCount,
    later: Math.max(0, pending - readyCount),
    held,
    running,
    oldestReady: ageOf(oldest.get(type), now),
    instances: withType.length,
    slots: withType.reduce((all, { about }) => all + about.slots, 0),
    limits: (limits.get(type) ?? []).map(limitView),
  };
}

const ageOf = (job: DueJob | undefined, now: number): QueueView['oldestReady'] =>
  job === undefined ? null : { id: job.id, ageMs: Math.max(0, now - job.due) };

const limitView = ({ scope, name, max, taken }: LimitInUse): LimitView => ({ scope, name, max, taken });
