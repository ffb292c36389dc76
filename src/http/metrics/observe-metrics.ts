/**
 * Gives the metrics to OpenTelemetry: gauges and counters are observed when the reader of the application collects, and each
 * duration is recorded when it ends. Names, units, attributes and help are those of Prometheus.
 */
import { metricNames, type DurationName, type MetricMeta, type MetricName } from './metric-names.ts';
import type { Metrics } from './metrics.ts';

interface Instrument {}

interface InstrumentOptions {
  readonly description: string;
  readonly unit: string;
}

interface Observing {
  observe(instrument: never, value: number, attributes: Record<string, string>): void;
}

/** What is used of a meter of `@opentelemetry/api`; no exported type mentions the package, which is optional. */
export interface MetricsMeter {
  createObservableGauge(name: string, options: InstrumentOptions): Instrument;
  createObservableCounter(name: string, options: InstrumentOptions): Instrument;
  createHistogram(name: string, options: InstrumentOptions): { record(value: number, attributes: Record<string, string>): void };
  addBatchObservableCallback(callback: (observing: Observing) => Promise<void>, instruments: never[]): void;
  removeBatchObservableCallback(callback: (observing: Observing) => Promise<void>, instruments: never[]): void;
}

/** Begins to observe; returns a function that ends it. */
export function observeMetrics(meter: MetricsMeter, metrics: Metrics): () => void {
  const ofKind = (kind: MetricMeta['kind']): MetricName[] =>
    (Object.keys(metricNames) as MetricName[]).filter((name) => metricNames[name].kind === kind);
  const observed = new Map<MetricName, Instrument>([
    ...ofKind('gauge').map((name) => [name, meter.createObservableGauge(name, optionsOf(name))] as const),
    ...ofKind('counter').map((name) => [name, meter.createObservableCounter(name, optionsOf(name))] as const),
  ]);
  const histograms = new Map((ofKind('histogram') as DurationName[]).map((name) => [name, meter.createHistogram(name, optionsOf(name))]));
  const observe = async (observing: Observing): Promise<void> => {
    for (const { name, values } of await metrics.figures()) {
      for (const { labels, value } of values) observing.observe(observed.get(name) as never, value, { ...labels });
    }
  };
  const instruments = [...observed.values()] as never[];
  meter.addBatchObservableCallback(observe, instruments);
  metrics.observeDurations((name, seconds, labels) => histograms.get(name)!.record(seconds, { ...labels }));
  return () => {
    meter.removeBatchObservableCallback(observe, instruments);
    metrics.observeDurations(() => {});
  };
}

const optionsOf = (name: MetricName): InstrumentOptions =>
  ({ description: metricNames[name].help, unit: /_seconds(?:_total)?$/.test(name) ? 's' : name.endsWith('_bytes') ? 'By' : '1' });
