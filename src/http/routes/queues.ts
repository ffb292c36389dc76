/** Queues over HTTP: the open jobs of each type, the longest wait, and the limits in use. */
import type { LimitInUse } from '../../engine/inspect/limits-in-use.ts';
import type { Tally } from '../../store/query.ts';
import { isLive, type DueJob, type Instance } from '../../store/store.ts';
import { turn } from '../../time/clock.ts';
import type { LimitView, QueueView } from '../contract.ts';
import type { RouteHandlers } from '../handler.ts';
import { instancesPerType } from '../instances-per-type.ts';
import { fullestTypes } from '../longest-due.ts';

/** After this many queues, `listQueues` yields to the event loop: 20,000 queues take 50 ms. */
const queuesPerTurn = 2_000;

export const queueRoutes: RouteHandlers<'listQueues'> = {
  async listQueues({ engine, jobCounts }) {
    const now = engine.now();
    const able = (await engine.instances()).filter((each) => isLive(each, now) && !each.about.draining);
    const tallies = await jobCounts.open();
    const counts = countsPerType(tallies);
    await turn();
    const types = [...new Set([...counts.keys(), ...engine.types().map(({ name }) => name)])].sort();
    const limits = Map.groupBy(await engine.limitsInUse(types), ({ type }) => type);
    // `oldestReady` is null for types that are not among the fullest.
    const oldest = await engine.oldestDue(fullestTypes(tallies));
    const data = { now, instances: instancesPerType(able), counts, limits, oldest };
    const items: QueueView[] = [];
    for (const type of types) {
      items.push(queueView(type, data));
      if (items.length % queuesPerTurn === 0) await turn();
    }
    return { items };
  },
};

interface TypeCounts {
  ready: number;
  later: number;
  held: number;
  running: number;
}

type CountsPerType = ReadonlyMap<string, Readonly<TypeCounts>>;

const none: Readonly<TypeCounts> = { ready: 0, later: 0, held: 0, running: 0 };

function countsPerType(tallies: readonly Tally[]): CountsPerType {
  const perType = new Map<string, TypeCounts>();
  for (const { type, standing, count, due = 0 } of tallies) {
    const counts = perType.get(type) ?? { ...none };
    perType.set(type, counts);
    if (standing === 'held' || standing === 'running') counts[standing] += count;
    if (standing !== 'pending') continue;
    counts.ready += due;
    counts.later += count - due;
  }
  return perType;
}

/** The data of all queues, indexed by type, because a server may have twenty thousand types. */
interface QueueData {
  readonly now: number;
  readonly instances: ReadonlyMap<string, readonly Instance[]>;
  readonly counts: CountsPerType;
  readonly limits: ReadonlyMap<string, readonly LimitInUse[]>;
  readonly oldest: ReadonlyMap<string, DueJob>;
}

function queueView(type: string, { now, instances, counts, limits, oldest }: QueueData): QueueView {
  const { ready, later, held, running } = counts.get(type) ?? none;
  const withType = instances.get(type) ?? [];
  return {
    type,
    ready,
    later,
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
