// The graph of a flow: layers and edges run by run, and groups that stay small however large the flow is.
import { expect, test } from 'vitest';
import { graphOf } from '../../src/engine/inspect/flow-graph.ts';
import type { FlowRunStanding } from '../../src/engine/inspect/flows.ts';
import { jobType } from '../../src/index.ts';
import type { Job } from '../../src/model/job.ts';
import { testEngine } from '../../src/testing/index.ts';

const good = jobType('good', { run: () => 1 });
const bad = jobType('bad', {
  retry: { attempts: 1 },
  run: () => {
    throw new Error('bad');
  },
});

/** A run of a flow, as far as the graph reads it. */
const run = (id: number, followed: readonly number[], { type = 'part', fate = 'succeeded' } = {}): FlowRunStanding => ({
  job: { id, type, def: null, state: 'ended', fate, follows: followed.length === 0 ? null : { on: 'succeeded', otherwise: 'cancel' } } as unknown as Job,
  after: followed.map((one) => ({ follower: id, followed: one, outcome: 'succeeded', links: [], result: null })),
});

test('a flow is shown run by run, in the layers of what each follows, and failed runs come first', async () => {
  await using t = await testEngine({ types: [good, bad] });
  const flow = await t.createFlow((f) => {
    const first = f.run(good);
    const parts = [f.run(good, { after: first }), f.run(bad, { after: first })];
    f.run(good, { after: parts });
    f.run(good, { after: parts, on: 'failed' });
  });
  await t.drain();
  const [first, part, broken, cancelled, alert] = flow.runs.map(({ id }) => id);
  const { layers, edges, counts, isGrouped } = await t.engine.flowGraph(flow.id);
  expect(layers.map(({ nodes }) => nodes.map((node) => [node.run, node.standing]))).toEqual([
    [[first, 'succeeded']], [[broken, 'failed'], [part, 'succeeded']], [[cancelled, 'cancelled'], [alert, 'succeeded']],
  ]);
  expect(edges.filter(({ from }) => from === String(broken)).map(({ to, on, outcome }) => [to, on, outcome])).toEqual([
    [String(cancelled), 'succeeded', 'failed'], [String(alert), 'failed', 'failed'],
  ]);
  expect([counts, isGrouped]).toEqual([{ succeeded: 3, failed: 1, cancelled: 1 }, false]);
  expect(await t.engine.flowOf(await flow.runs[2]!.get())).toBe(flow.id);
});

test('a flow that does not exist has no graph', async () => {
  await using t = await testEngine({ types: [good] });
  await expect(t.engine.flowGraph(7)).rejects.toMatchObject({ code: 'unknown.flow' });
});

test('ten thousand runs are groups of the same type and state, in layers', () => {
  const parts = Array.from({ length: 9_998 }, (_, index) =>
    run(index + 2, [1], { fate: index % 100 === 0 ? 'failed' : 'succeeded' }));
  const all = [run(1, [], { type: 'start' }), ...parts, run(10_000, parts.slice(0, 1_000).map(({ job }) => job.id), { type: 'end' })];
  const { layers, edges, isGrouped } = graphOf(1, all, false);
  expect(isGrouped).toBe(true);
  expect(layers.map(({ nodes }) => nodes.map(({ type, standing, count }) => `${count} ${type} ${standing}`))).toEqual([
    ['1 start succeeded'], ['100 part failed', '9898 part succeeded'], ['1 end succeeded'],
  ]);
  expect(edges).toHaveLength(4);
});

test('a long chain shares layers, and rare types share groups', () => {
  const chain = Array.from({ length: 10_000 }, (_, index) =>
    run(index + 1, index === 0 ? [] : [index], { type: `type ${index % 50}` }));
  const { layers, edges } = graphOf(1, chain, true);
  expect(layers).toHaveLength(40);
  expect(layers.at(-1)).toMatchObject({ from: 9_750, to: 9_999 });
  expect(layers.every(({ nodes }) => nodes.length <= 6)).toBe(true);
  expect(layers.flatMap(({ nodes }) => nodes).reduce((sum, { count }) => sum + count, 0)).toBe(10_000);
  expect(edges.length).toBeLessThan(40 * 36 + 40);
});
