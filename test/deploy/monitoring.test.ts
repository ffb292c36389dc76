// The alert rules and the dashboard ask for metrics and labels that a server has.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { metricNames, type MetricMeta } from '../../src/http/metrics/metric-names.ts';
import { alerts, dashboard, panelQueries, type Panel } from './monitoring.ts';

/** Labels of each series that Prometheus adds, or that a histogram has. */
const everywhere = ['instance', 'le'];

test.each([...alerts, ...panelQueries])('$name asks for metrics and labels that exist', ({ expr }) => {
  const metrics = expr.match(/\bstint_\w+/g)!.map((name) => name.replace(/_bucket$/, ''));
  const known = metrics.map((name) => (metricNames as Record<string, MetricMeta>)[name]);
  expect(metrics.filter((_, index) => known[index] === undefined)).toEqual([]);
  const labels = new Set([...everywhere, ...known.flatMap((meta) => meta?.labels ?? [])]);
  expect(labelsIn(expr).filter((label) => !labels.has(label))).toEqual([]);
});

test('every alert has a case in the tests for promtool', () => {
  const cases = readFileSync('test/deploy/stint.rules.test.yaml', 'utf8');
  expect(alerts.filter(({ name }) => !cases.includes(`alertname="${name}"`))).toEqual([]);
});

test('the panels of the dashboard have ids of their own and do not overlap', () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const [index, panel] of panels.entries()) {
    expect(panels.slice(index + 1).filter((other) => overlaps(panel, other)).map(({ title }) => title)).toEqual([]);
    expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(24);
  }
});

/** The labels of matchers (`{type="mail"}`) and of groupings (`by (type, le)`). */
function labelsIn(expr: string): string[] {
  const matchers = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside]) => inside!.match(/\w+(?=\s*(?:=~|!~|!=|=))/g) ?? []);
  const groupings = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, inside]) => inside!.split(/,\s*/));
  return [...matchers, ...groupings];
}

const overlaps = ({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
