/** The page of metrics: what Prometheus finds at /metrics. */
import { metricNames, type MetricMeta } from '../../src/http/metrics/metric-names.ts';
import { code, page, table } from './markdown.ts';

export const metricsPage = (): string =>
  page(
    'Metrics',
    `
    A server answers \`GET /metrics\` in the text format of Prometheus, to those with the role viewer. Gauges tell
    of the whole store, from whichever server they are asked; counters and histograms tell of what this server has
    seen since it started.
    `,
    table(
      ['name', 'kind', 'labels', 'what it tells'],
      (Object.entries(metricNames) as [string, MetricMeta][]).map(([name, { kind, labels = [], help }]) => [
        code(name), kind, labels.map(code).join(', '), help,
      ]),
    ),
  );
