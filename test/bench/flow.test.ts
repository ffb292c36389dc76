// The flows of the peers bench: their shapes, the watch over their runs, and their tables.
import { expect, test } from 'vitest';
import { flowOf, flowShapes, type FlowShape } from '../../bench/peers/flow.ts';
import { flowTablesOf } from '../../bench/peers/flow-tables.ts';
import { FlowWatch } from '../../bench/peers/flow-watch.ts';
import type { Figure } from '../../bench/peers/comparison.ts';
import type { FigureName, Unit } from '../../bench/peers/reading.ts';

const followed = (shape: FlowShape, runs: number, isTree = false): (readonly number[])[] =>
  flowOf(shape, runs, { isTree }).map(({ after }) => after);

test('each shape has its edges', () => {
  expect(followed('fan-out', 3)).toEqual([[], [0], [0]]);
  expect(followed('fan-in', 3)).toEqual([[], [], [0, 1]]);
  expect(followed('chain', 3)).toEqual([[], [0], [1]]);
  expect(followed('ten chains', 30).slice(9)).toEqual([[], ...Array.from({ length: 20 }, (_, index) => [index])]);
  expect(followed('layers', 50).slice(4, 7)).toEqual([[], [0, 1, 2], [1, 2, 3]]);
});

test('only one run of a tree follows a run, except in a fan-out', () => {
  for (const shape of flowShapes.filter((each) => each !== 'fan-out')) {
    const edges = followed(shape, 50, true).flat();
    expect(new Set(edges).size, shape).toBe(edges.length);
  }
});

test.for(flowShapes)('a watch is done after each run of the shape %s in order', async (shape) => {
  const runs = flowOf(shape, 40);
  const watch = new FlowWatch(runs);
  for (const { input } of runs) watch.handle(input);
  await watch.done;
  watch.check();
});

test('a watch finds a run that is handled twice, early, or not part of the flow', async () => {
  const [first, second] = flowOf('chain', 3).map(({ input }) => input);
  const twice = new FlowWatch(flowOf('chain', 3));
  twice.handle(first!);
  twice.handle(first!);
  await expect(twice.done).rejects.toThrow('run 0 was handled twice');
  const early = new FlowWatch(flowOf('chain', 3));
  early.handle(second!);
  await expect(early.done).rejects.toThrow('run 1 was handled before run 0, which it follows');
  const foreign = new FlowWatch(flowOf('chain', 1));
  foreign.handle(second!);
  await expect(foreign.done).rejects.toThrow('no run of the flow has the number 1');
});

test('a watch finds a run that is handled again after the end', async () => {
  const runs = flowOf('chain', 2);
  const watch = new FlowWatch(runs);
  for (const { input } of [...runs, runs[1]!]) watch.handle(input);
  await watch.done;
  expect(() => watch.check()).toThrow('run 1 was handled twice');
});

test('a table of a shape has both times, and the ratios of ours to each peer, also on other databases', () => {
  const [ours, theirs] = ['Stint engine on PostgreSQL', 'BullMQ on Redis'];
  const figures = [
    ...flowFigures(ours, 2_000, 100, 500),
    ...flowFigures(theirs, 1_000, 200, 1_000),
    figure(ours, 'drain 1', 'jobs/s', 9),
  ];
  expect(flowTablesOf(figures)).toEqual([{
    title: 'Flow: chain',
    heads: ['runs', 'create ms', 'rest ms', 'runs/s', 'µs CPU w + s', 'PostgreSQL ×', 'SQLite ×'],
    rows: [
      [ours, '1,000', '100', '400', '2,000', '–', '', ''],
      [theirs, '1,000', '200', '800', '1,000', '–', '2.00 ×', ''],
    ],
  }]);
});

const flowFigures = (peer: string, rate: number, createMs: number, totalMs: number): Figure[] => [
  { ...figure(peer, 'flow chain', 'jobs/s', rate), jobs: 1_000 },
  figure(peer, 'create flow chain', 'ms', createMs),
  figure(peer, 'time of flow chain', 'ms', totalMs),
];

function figure(peer: string, name: FigureName, unit: Unit, median: number): Figure {
  return { peer, database: 'postgres', isOurs: false, figure: name, unit, median, rounds: [median], cpu: null, jobs: null, disturbed: 0 };
}
