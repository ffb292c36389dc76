// Metrics for OpenTelemetry, by the real SDK: they have the names, attributes and values of those for Prometheus.
import { MeterProvider, MetricReader, type MetricData } from '@opentelemetry/sdk-metrics';
import { expect, onTestFinished, test, vi } from 'vitest';
import { metricNames } from '../../src/http/metrics/metric-names.ts';
import { ended, nightly, until, world, type World } from './world.ts';

class Collector extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}

  async metrics(): Promise<ReadonlyMap<string, MetricData>> {
    const { resourceMetrics, errors } = await this.collect();
    expect(errors).toEqual([]);
    return new Map(resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics).map((metric) => [metric.descriptor.name, metric]));
  }
}

async function measured(): Promise<{ server: World; collector: Collector }> {
  const collector = new Collector();
  const provider = new MeterProvider({ readers: [collector] });
  const server = await world({ meter: provider.getMeter('stint') });
  onTestFinished(async () => {
    await server.close();
    await provider.shutdown();
  });
  return { server, collector };
}

/** The lines of Prometheus as `name {"label":"value"}` with their values. */
async function prometheus(server: World): Promise<ReadonlyMap<string, number>> {
  const { body } = await server.get('/metrics');
  const lines = String(body).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text]);
    return [`${name} ${JSON.stringify(Object.fromEntries(pairs))}`, Number(value)];
  }));
}

test('have all values of Prometheus, with the same names and attributes', async () => {
  const { server, collector } = await measured();
  const { id } = await server.engine.createNamed({ type: 'echo' }, {});
  await ended(server, id);
  await server.engine.createNamed({ type: 'echo' }, { delay: '1h' });
  await server.engine.createJobRun(nightly);
  await until(async () => (await prometheus(server)).get('stint_run_seconds_count {"type":"echo"}') === 2);
  const [told, metrics] = [await prometheus(server), await collector.metrics()];
  // They change by themselves, or with the request that reads them.
  const moving = ['stint_event_loop_lag_seconds', 'stint_oldest_ready_seconds', 'stint_http_requests_total', 'stint_store_bytes'];
  const values = [...metrics.values()].flatMap(({ descriptor: { name }, dataPoints }) =>
    dataPoints.flatMap(({ attributes, value }) => (typeof value === 'number' && !moving.includes(name) ? [[`${name} ${JSON.stringify(attributes)}`, value] as const] : [])));
  expect(values.length).toBeGreaterThan(20);
  expect(Object.fromEntries(values)).toEqual(Object.fromEntries([...told].filter(([key]) =>
    !moving.some((name) => key.startsWith(name)) && !/_(bucket|sum|count) /.test(key))));
  for (const name of moving) expect(metrics.has(name), name).toBe(true);
  const histogram = metrics.get('stint_run_seconds')!;
  expect(histogram.descriptor).toMatchObject({ unit: 's', description: metricNames.stint_run_seconds.help });
  expect(histogram.dataPoints).toMatchObject([{ attributes: { type: 'echo' }, value: { count: 2 } }]);
  expect(metrics.get('stint_jobs_ended_total')).toMatchObject({ isMonotonic: true });
  const seconds = { attributes: { definition: 'nightly' }, value: expect.any(Number) as number };
  expect(metrics.get('stint_definition_attempt_seconds_total')).toMatchObject({ descriptor: { unit: 's' }, dataPoints: [seconds] });
});

test('are not read any more when the server is closed', async () => {
  const { server, collector } = await measured();
  const limits = vi.spyOn(server.engine, 'limits');
  await collector.metrics();
  expect(limits).toHaveBeenCalledTimes(1);
  await server.http.close();
  await collector.metrics();
  expect(limits).toHaveBeenCalledTimes(1);
});
