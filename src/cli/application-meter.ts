/** The meter of OpenTelemetry for a server, of the provider that `node --import` may have registered. */
import type { MetricsMeter } from '../http/metrics/observe-metrics.ts';
import { version } from '../version.ts';

/** Null: the package `@opentelemetry/api` is not installed. Without a provider, its meter does nothing. */
export async function applicationMeter(): Promise<MetricsMeter | null> {
  try {
    const { metrics } = await import('@opentelemetry/api');
    return metrics.getMeter('stint', version);
  } catch {
    return null;
  }
}
