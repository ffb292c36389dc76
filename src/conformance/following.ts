/**
 * Following: edges are written with their runs, are closed by the ends of the runs to which they lead, and keep the
 * outcome of a run that is deleted.
 */
import { deepEqual, equal } from 'node:assert/strict';
import type { Edge, Link } from '../model/following.ts';
import type { Job } from '../model/job.ts';
import type { Standing } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { same } from './same.ts';
import type { Topic, World } from './world.ts';

const stop = { do: 'stop', code: 'admin' } as const;

const edgeOf = (follower: Job, followed: Job, links: readonly Link[] = []): Edge =>
  ({ follower: follower.id, followed: followed.id, outcome: null, links, result: null });

/** Creates `count` runs and one that follows them, in one commit. */
async function followed(world: World, count: number, links: readonly Link[] = []) {
  const follows = { on: 'ended', otherwise: 'cancel' } as const;
  const runs = Array.from({ length: count }, () => ({ isFollowed: true }) as const);
  const changes = await world.newJobs([...runs, { hold: 'runs', follows, due: world.now() + 5 }]);
  const jobs = changes.map(({ after }) => after);
  const follower = jobs.at(-1)!;
  const edges = jobs.slice(0, count).map((run) => edgeOf(follower, run, links));
  const flows = [{ id: jobs[0]!.id, runs: jobs.map(({ id }) => id) }];
  deepEqual(await world.store.commit({ changes, whole: true, edges, flows }), changes.map(() => true));
  return { runs: jobs.slice(0, count), follower, edges };
}

const proceedableIds = async (store: Store, follower: Job): Promise<number[]> =>
  (await store.proceedable([follower.id])).map(({ id }) => id);

export const following: Topic = {
  name: 'following',
  examples: {
    'edges and a flow are stored with their runs, or not at all': async (world) => {
      const { runs: [run], follower, edges } = await followed(world, 1);
      same(await world.load(follower.id), follower);
      same(await world.load(run!.id), run);
      deepEqual(await world.store.edges({ follower: follower.id, limit: 10 }), edges);
      deepEqual(await world.store.edges({ followed: run!.id, limit: 10 }), edges);
      equal(await world.store.flowOf(follower.id), run!.id);
      const changed = await world.apply(run!, { do: 'pause' });
      const stale = world.decide(run!, { do: 'follow', runs: 1 });
      const another = await world.newJob({ hold: 'runs' });
      const edge = edgeOf(another.after, changed);
      const flows = [{ id: another.after.id, runs: [another.after.id] }];
      const batch = { changes: [stale, another], whole: true, edges: [edge], flows };
      deepEqual(await world.store.commit(batch), [false, false]);
      deepEqual(await world.store.edges({ follower: another.after.id, limit: 10 }), []);
      equal(await world.store.flowOf(another.after.id), null);
    },

    'a follower may proceed when none of its edges is open, whoever closed the last two': async (world) => {
      const { runs: [first, second], follower } = await followed(world, 2);
      const other = await world.again();
      deepEqual(await world.store.closeEdges([first!.id]), [], 'a run that has not ended closes no edge');
      await world.apply(first!, stop);
      deepEqual(await world.store.closeEdges([first!.id]), [follower.id]);
      deepEqual(await world.store.closeEdges([first!.id]), [], 'an edge is closed once');
      deepEqual(await proceedableIds(world.store, follower), []);
      await world.apply(second!, stop);
      deepEqual(await proceedableIds(world.store, follower), [], 'the end alone closes no edge');
      deepEqual(await other.closeEdges([second!.id]), [follower.id]);
      same(await world.store.proceedable([follower.id, first!.id]), [follower]);
      const tally = { open: 0, succeeded: 0, failed: 0, cancelled: 2 };
      deepEqual(await world.store.tallyEdges([follower.id]), new Map([[follower.id, tally]]));
    },

    'an edge to a run that was deleted while the edge was created is closed as cancelled': async (world) => {
      const { runs: [run], follower } = await followed(world, 1);
      equal(await world.remove(await world.apply(run!, stop)), true);
      const late = await world.newJob({ hold: 'runs' });
      deepEqual(await world.store.commit({ changes: [late], whole: true, edges: [edgeOf(late.after, run!)] }), [true]);
      deepEqual(await world.store.endedWithOpenEdges(0, 10), { ids: [run!.id], next: null });
      deepEqual(await world.store.closeEdges([run!.id]), [late.after.id]);
      equal((await world.store.tallyEdges([late.after.id])).get(late.after.id)!.cancelled, 1);
      equal((await world.store.tallyEdges([follower.id])).get(follower.id)!.cancelled, 1);
    },

    'of two ends at the same time, one at least finds the follower ready': async (world) => {
      const { runs, follower } = await followed(world, 2);
      const stores = [world.store, await world.again()];
      await world.mustWrite(runs.map((run) => world.decide(run, stop)));
      const ready = await Promise.all(stores.map(async (store, index) => {
        await store.closeEdges([runs[index]!.id]);
        return proceedableIds(store, follower);
      }));
      equal(ready.flat().includes(follower.id), true);
    },

    'a job that has proceeded is not found again': async (world) => {
      const { runs: [run], follower } = await followed(world, 1);
      await world.apply(run!, stop);
      await world.store.closeEdges([run!.id]);
      const after = await world.apply(follower, { do: 'proceed', unsuccessful: 1, input: '[1]' });
      same(await world.load(follower.id), after);
      deepEqual(await proceedableIds(world.store, follower), []);
    },

    'an edge to a reopened run is open again, and a late close leaves it open': async (world) => {
      const { runs: [run], follower, edges } = await followed(world, 1);
      const ended = await world.apply(run!, stop);
      await world.store.closeEdges([run!.id]);
      const changes = [
        world.decide(ended, { do: 'retry', reopens: 0 }), world.decide(follower, { do: 'await', runs: 1 }),
      ];
      deepEqual(await world.store.commit({ changes, whole: true, edges }), [true, true]);
      deepEqual(await world.store.closeEdges([run!.id]), []);
      deepEqual(await proceedableIds(world.store, follower), []);
    },

    'an edge keeps the outcome of a deleted run, and its result if it is used': async (world) => {
      for (const links of [[], [{ from: ['a'], to: ['b', 0] }]] satisfies Link[][]) {
        const { runs: [run], follower } = await followed(world, 1, links);
        const [running] = await world.claim();
        const ended = await world.apply(running!, { do: 'succeed', fence: running!.fence, result: '{"a":1}' });
        equal(await world.remove(ended), true);
        const result = links.length === 0 ? null : '{"a":1}';
        const edge = { follower: follower.id, followed: run!.id, outcome: 'succeeded', links, result };
        deepEqual(await world.store.edges({ follower: follower.id, limit: 10 }), [edge]);
        deepEqual(await proceedableIds(world.store, follower), [follower.id]);
        equal(await world.store.flowOf(run!.id), null);
      }
    },

    'a deletion that is not committed changes neither edges nor flows': async (world) => {
      const { runs: [run], follower, edges } = await followed(world, 1);
      const { follower: last } = await followed(world, 1);
      const chain = { ...edgeOf(last, follower), outcome: 'cancelled' } as const;
      const ended = await world.apply(follower, stop);
      const reached = world.decide(last, { do: 'await', runs: 1 });
      deepEqual(await world.store.commit({ changes: [reached], whole: true, edges: [chain] }), [true]);
      const stale = world.decide(last, { do: 'await', runs: 1 });
      const changes = [{ before: ended, after: null, events: [] }, stale];
      deepEqual(await world.store.commit({ changes, whole: true }), [false, false]);
      deepEqual(await world.store.edges({ follower: follower.id, limit: 10 }), edges);
      deepEqual(await world.store.edges({ followed: follower.id, limit: 10 }), [chain]);
      deepEqual(await world.store.edges({ followed: run!.id, limit: 10 }), edges);
      equal(await world.store.flowOf(follower.id), run!.id);
    },

    'a purge keeps outcomes, and deletes the edges of what it deletes': async (world) => {
      const { runs: [run], follower } = await followed(world, 1);
      await world.apply(run!, stop);
      await world.advance(10);
      await world.store.purge({ limit: 10, feedKeptMs: 1000, retentionMs: 1 });
      equal(await world.load(run!.id), undefined);
      deepEqual(await proceedableIds(world.store, follower), [follower.id]);
      await world.apply(follower, stop);
      await world.advance(10);
      await world.store.purge({ limit: 10, feedKeptMs: 1000, retentionMs: 1 });
      deepEqual(await world.store.edges({ follower: follower.id, limit: 10 }), []);
      deepEqual(await world.store.flows(null, 10), []);
    },

    'what a crash left behind is found page by page': async (world) => {
      const some = [await followed(world, 2), await followed(world, 1), await followed(world, 1)];
      const ended = some.flatMap(({ runs }) => runs);
      for (const run of ended) await world.apply(run, stop);
      const first = await world.store.endedWithOpenEdges(0, 3);
      deepEqual(first, { ids: ended.slice(0, 3).map(({ id }) => id), next: ended[2]!.id });
      deepEqual(await world.store.endedWithOpenEdges(first.next, 3), { ids: [ended[3]!.id], next: null });
      await world.store.closeEdges(ended.slice(0, 3).map(({ id }) => id));
      const page = await world.store.stalledFollowers(0, 100);
      deepEqual(page, { ids: some.slice(0, 2).map(({ follower }) => follower.id), next: null });
      deepEqual(await world.store.stalledFollowers(some[0]!.follower.id, 100), { ids: [some[1]!.follower.id], next: null });
    },

    'one commit adds runs to several flows': async (world) => {
      const changes = await world.newJobs([{}, {}, {}]);
      const [one, two, three] = changes.map(({ after }) => after.id) as [number, number, number];
      const flows = [{ id: one, runs: [one, two] }, { id: three, runs: [three] }];
      deepEqual(await world.store.commit({ changes, whole: true, flows }), [true, true, true]);
      deepEqual(await world.store.flowRuns(one, 0, 10), [one, two]);
      deepEqual(await world.store.flowRuns(three, 0, 10), [three]);
    },

    'edges and flows are written, closed and read in the transaction of the caller': async (world) => {
      const changes = await world.newJobs([{ isFollowed: true }, { hold: 'runs' }]);
      const [run, follower] = changes.map(({ after }) => after) as [Job, Job];
      const edge = edgeOf(follower, run);
      const { transaction, commit } = await world.begin();
      const writer = world.store.within(transaction);
      const flows = [{ id: run.id, runs: [run.id, follower.id] }];
      deepEqual(await writer.commit({ changes, whole: true, edges: [edge], flows }), [true, true]);
      deepEqual(await writer.edges({ follower: follower.id, limit: 10 }), [edge]);
      deepEqual(await writer.commit({ changes: [world.decide(run, stop)] }), [true]);
      deepEqual(await writer.closeEdges([run.id]), [follower.id]);
      same(await writer.proceedable([follower.id]), [follower]);
      equal((await writer.tallyEdges([follower.id])).get(follower.id)!.cancelled, 1);
      deepEqual(await world.store.flows(null, 10), []);
      await commit();
      deepEqual(await world.store.edges({ follower: follower.id, limit: 10 }), [{ ...edge, outcome: 'cancelled' }]);
      deepEqual(await world.store.flows(null, 10), [run.id]);
    },

    'the runs of flows are counted by type and standing': async (world) => {
      const [some, others] = [await followed(world, 3), await followed(world, 1)];
      await world.apply(some.runs[0]!, stop);
      await world.claim({ limit: 2 });
      const flows = [some.runs[0]!.id, others.runs[0]!.id];
      const tallies = await world.store.tallyFlows(flows, 1000);
      const { type } = some.follower;
      const created = world.now();
      const tally = (flow: number, standing: Standing, count: number, first: number) =>
        ({ flow, type, standing, count, first, created });
      deepEqual(new Set(tallies), new Set([
        tally(flows[0]!, 'cancelled', 1, some.runs[0]!.id),
        tally(flows[0]!, 'running', 2, some.runs[1]!.id),
        tally(flows[0]!, 'held', 1, some.follower.id),
        tally(flows[1]!, 'pending', 1, others.runs[0]!.id),
        tally(flows[1]!, 'held', 1, others.follower.id),
      ]));
      deepEqual((await world.store.tallyFlows(flows, 1)).map(({ count }) => count), [1, 1]);
    },

    'the edges of several runs are read in pages, from both ends': async (world) => {
      const [some, others] = [await followed(world, 3), await followed(world, 2)];
      const all = [...some.edges, ...others.edges];
      const ids = [some.follower.id, others.follower.id];
      deepEqual(await world.store.edgesOfMany({ end: 'follower', ids, limit: 10 }), all);
      deepEqual(await world.store.edgesOfMany({ end: 'follower', ids, limit: 2 }), all.slice(0, 2));
      for (const from of [1, 2, 3, 4]) {
        const query = { end: 'follower', ids, limit: 2, after: all[from]! } as const;
        deepEqual(await world.store.edgesOfMany(query), all.slice(from + 1, from + 3));
      }
      const runs = all.map((edge) => edge.followed);
      deepEqual(await world.store.edgesOfMany({ end: 'followed', ids: runs, after: all[0]!, limit: 2 }), all.slice(1, 3));
      deepEqual(await world.store.edgesOfMany({ end: 'followed', ids: [some.follower.id], limit: 2 }), []);
    },

    'edges, flows and their runs are read in pages': async (world) => {
      const { runs, follower, edges } = await followed(world, 3);
      const { runs: [root] } = await followed(world, 1);
      deepEqual(await world.store.edges({ follower: follower.id, limit: 2 }), edges.slice(0, 2));
      deepEqual(await world.store.edges({ follower: follower.id, limit: 2, after: runs[1]!.id }), edges.slice(2));
      deepEqual(await world.store.flows(null, 10), [root!.id, runs[0]!.id]);
      deepEqual(await world.store.flows(root!.id, 10), [runs[0]!.id]);
      deepEqual(await world.store.flowRuns(runs[0]!.id, runs[1]!.id, 10), [runs[2]!.id, follower.id]);
      await world.apply(runs[0]!, stop);
      await world.store.closeEdges([runs[0]!.id]);
      deepEqual(await world.store.edges({ follower: follower.id, limit: 9, isOpen: true }), edges.slice(1));
    },
  },
};
