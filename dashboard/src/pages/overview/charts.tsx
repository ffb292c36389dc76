/** The charts of the overview: ended and created jobs, queue latency and run time. */
import type { JSX } from 'preact';
import type { SeriesRange, SeriesView } from '../../../../src/http/contract.ts';
import { Chart, type ChartSeries } from '../../components/chart.tsx';
import { Time } from '../../components/time.tsx';
import { go } from '../../router.ts';
import { rangeTexts } from './problems.ts';

type Point = SeriesView['points'][number];
type CountName = 'created' | 'succeeded' | 'failed' | 'cancelled' | 'retried' | 'lapsed';

interface ChartsProps {
  readonly series: SeriesView;
  readonly range: SeriesRange;
}

export function Charts({ series: { points, since }, range }: ChartsProps): JSX.Element {
  const shared = { times: points.map(({ at }) => at / 1_000), period: rangeTexts[range], onPick: openRuns };
  return (
    <div class="charts">
      <section class="card">
        <Chart
          title="Ended" unit="count" isStacked {...shared}
          series={[
            { label: 'succeeded', colour: '--succeeded', values: counts(points, 'succeeded'), shape: 'bars' },
            { label: 'failed', colour: '--failed', values: counts(points, 'failed'), shape: 'bars' },
            { label: 'cancelled', colour: '--cancelled', values: counts(points, 'cancelled'), shape: 'bars' },
          ]}
        />
      </section>
      <section class="card">
        <Chart
          title="Created and retried" unit="count" {...shared}
          series={[
            { label: 'created', colour: '--running', values: counts(points, 'created') },
            { label: 'retried', colour: '--held', values: counts(points, 'retried'), dash: [6, 3] },
            { label: 'leases lost', colour: '--failed', values: counts(points, 'lapsed'), dash: [2, 3] },
          ]}
        />
      </section>
      <section class="card">
        <Chart title="Queue latency" unit="duration" series={quantiles(points, 'wait')} {...shared} />
      </section>
      <section class="card">
        <Chart title="Run time per attempt" unit="duration" series={quantiles(points, 'run')} {...shared} />
      </section>
      <p class="faint chart-note">
        Drag over a chart to list the runs created in that period. Counting began <Time at={since} />; older figures are
        estimated from a sample.
      </p>
    </div>
  );
}

const openRuns = (from: number, to: number): void =>
  go('/runs', { search: `created:>${new Date(from).toISOString()} created:<${new Date(to).toISOString()}` });

const counts = (points: readonly Point[], name: CountName): number[] => points.map((point) => point[name]);

const quantiles = (points: readonly Point[], name: 'wait' | 'run'): ChartSeries[] => [
  { label: 'p50', colour: '--succeeded', values: points.map((point) => point[name]?.p50 ?? null) },
  { label: 'p95', colour: '--held', values: points.map((point) => point[name]?.p95 ?? null), dash: [6, 3] },
  { label: 'p99', colour: '--failed', values: points.map((point) => point[name]?.p99 ?? null), dash: [2, 3] },
];
