// The results: charts, slopes and goals from rows of the bench.
import { expect, test } from 'vitest';
import { thisMachine } from '../../bench/machine.ts';
import type { Figure } from '../../bench/peers/comparison.ts';
import { tinySizes } from '../../bench/peers/sizes.ts';
import type { PeersData } from '../../bench/results/data.ts';
import { markdownOf } from '../../bench/results/markdown.ts';
import { isReached, limitGoals } from '../../bench/results/goals.ts';
import { chartsOf } from '../../bench/results/charts.ts';
import { withFormerSections } from '../../bench/results/sections.ts';
import { slopeOf } from '../../bench/results/slope.ts';
import { svgOf } from '../../bench/results/svg.ts';
import type { Row } from '../../bench/rounds.ts';

test('sections without new figures stay, in their order', () => {
  const former = '# Old\n\n## Beside the peers\n\nold\n\n## The Bedrock server\n\nkept\n';
  const latest = '# New\n\n## Beside the peers\n\nnew\n\n### Goals\n\n## Beside the raw limit\n\nfirst\n';
  expect(withFormerSections(latest, former)).toBe(
    '# New\n\n## Beside the peers\n\nnew\n\n### Goals\n\n## Beside the raw limit\n\nfirst\n\n## The Bedrock server\n\nkept\n',
  );
  expect(withFormerSections(latest, '')).toBe(latest);
});

test('flows and batches have sections of their own, and replace no other', () => {
  const figure = (peer: string, name: Figure['figure'], unit: Figure['unit'], median: number): Figure =>
    ({ peer, database: 'postgres', isOurs: peer.startsWith('Stint'), figure: name, unit, median, rounds: [median], cpu: null, jobs: 10, disturbed: 0 });
  const figures = [
    ...['Stint engine on PostgreSQL', 'pg-boss, polling'].flatMap((peer) => [
      figure(peer, 'flow chain', 'jobs/s', 10), figure(peer, 'create flow chain', 'ms', 1), figure(peer, 'time of flow chain', 'ms', 3),
    ]),
    figure('Stint batches on PostgreSQL', 'batch drain', 'jobs/s', 90),
  ];
  const peers: PeersData = {
    machine: thisMachine(), about: [], settings: ['pg-boss, polling   {}', 'DBOS   {}'], flowNotes: ['pg-boss, polling: chains of five'],
    sizes: tinySizes, figures, failures: [], verdicts: [],
  };
  const page = withFormerSections(markdownOf({ bench: null, peers, bedrock: null, charts: [] }), '# Old\n\n## Beside the peers\n\nkept\n');
  expect(page.match(/^##+ .*/gm)).toEqual([
    '## Beside the peers', '## Flows beside the peers', '### Flow: chain', '## Batches beside the peers', '### Drain in batches',
  ]);
  expect(page).toContain('kept');
  const ofBatches = figures.filter(({ figure: name }) => name === 'batch drain');
  const after = withFormerSections(markdownOf({ bench: null, peers: { ...peers, figures: ofBatches }, bedrock: null, charts: [] }), page);
  expect(after).toContain('### Flow: chain');
  expect(page).toContain('- pg-boss, polling: {}\n\n- pg-boss, polling: chains of five.\n');
  expect(page).toContain('| pg-boss, polling | 10 | 1 | 2 | 10 | – | 1.00 × |  |');
});

test('a slope is the exponent with which a figure grows', () => {
  const xs = [1, 10, 100];
  const slope = (y: (x: number) => number): number | null => slopeOf(xs.map((x) => ({ x, y: y(x) })));
  expect(slope(() => 7)).toBeCloseTo(0);
  expect(slope((x) => 3 * x)).toBeCloseTo(1);
  expect(slope((x) => 5 / x)).toBeCloseTo(-1);
  expect(slope((x) => x ** 2)).toBeCloseTo(2);
});

test('a slope ignores points at zero, and is null for a single point', () => {
  expect(slopeOf([{ x: 0, y: 9 }, { x: 1, y: 2 }, { x: 2, y: 4 }])).toBeCloseTo(1);
  expect(slopeOf([{ x: 0, y: 9 }, { x: 1, y: 2 }])).toBeNull();
});

test('a chart has a line for each database and side, and only the rows of its workload', () => {
  const rows = [
    row('drain', { batch: 1, processes: 1 }, 100, 200),
    row('drain', { batch: 100, processes: 1 }, 1_000, 2_000),
    row('drain', { batch: 100, processes: 2 }, 5, 5),
    row('scale instances', { instances: 1 }, 10, null),
    row('scale instances', { instances: 2 }, 20, null),
  ];
  const charts = chartsOf(rows);
  expect(charts.map(({ name }) => name)).toEqual(['batch', 'instances']);
  expect(charts[0]!.lines).toEqual([
    { database: 'sqlite', side: 'ours', points: [{ x: 1, y: 100 }, { x: 100, y: 1_000 }] },
    { database: 'sqlite', side: 'limit', points: [{ x: 1, y: 200 }, { x: 100, y: 2_000 }] },
  ]);
  expect(charts[1]!.lines.map(({ side }) => side)).toEqual(['ours']);
});

test('a chart stays inside its frame, also with a point at zero', () => {
  const counts = [0, 10_000, 1_000_000];
  const rows = counts.map((others) => row('backlog', { others, later: 0, ended: 0 }, 5_000 + others / 1_000, 9_000));
  const svg = svgOf(chartsOf(rows)[0]!);
  const coordinates = [...svg.matchAll(/c([xy])="([^"]+)"/g)].map(([, axis, text]) => ({ axis, value: Number(text) }));
  expect(coordinates).toHaveLength(2 * 2 * counts.length);
  for (const { axis, value } of coordinates) {
    expect(value).toBeGreaterThanOrEqual(0);
    expect(value).toBeLessThanOrEqual(axis === 'x' ? 640 : 400);
  }
  expect(svg).toContain('>1 M<');
});

test('the goals use the best batch size of one process, and the largest backlog', () => {
  const rows = [
    row('drain', { batch: 1, processes: 1 }, 100, 110),
    row('drain', { batch: 100, processes: 1 }, 800, 1_000),
    row('drain', { batch: 100, processes: 2 }, 900, 900),
    { ...row('backlog', { others: 10, later: 0, ended: 0 }, 800, 900), versusBase: 0.5 },
    { ...row('backlog', { others: 10, later: 0, ended: 10 }, 800, 900), versusBase: 0.8 },
  ];
  const goals = limitGoals(rows);
  expect(goals).toMatchObject([{ got: 0.8, want: { atLeast: 0.7 } }, { got: 1.25, want: { atMost: 1.5 } }]);
  expect(goals.map(isReached)).toEqual([true, true]);
});

function row(workload: string, params: Row['params'], ours: number, limit: number | null): Row {
  const figure = (median: number) => ({ median, rounds: [median], cpu: null });
  return {
    database: 'sqlite', workload, title: workload, params, unit: 'jobs/s',
    ours: figure(ours), limit: limit === null ? null : figure(limit), ratio: null, versusBase: null,
  };
}
