/** The overview: problems first, then figures, charts, running runs and recent failures. */
import type { JSX } from 'preact';
import type { RunView, SeriesRange, SeriesView, StatsView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { RunBadge } from '../components/badge.tsx';
import { Figure } from '../components/figure.tsx';
import { Icon } from '../components/icon.tsx';
import { Failure, Loading } from '../components/notice.tsx';
import { RangeButtons } from '../components/range-buttons.tsx';
import { Elapsed, Time } from '../components/time.tsx';
import { compact, duration, number, percent } from '../format.ts';
import type { Page } from '../page.ts';
import { href, queryOf } from '../router.ts';
import { useChanges, useInterval } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { Charts } from './overview/charts.tsx';
import { lateShownMax, problemsOf, type OverviewData, type OverviewProblem } from './overview/problems.ts';
import { TaskBar } from './runs/columns.tsx';

const ranges: readonly SeriesRange[] = ['15m', '1h', '6h', '1d', '7d', '90d'];
const reloadMs = 5_000;
const shownMax = 8;

function Overview(): JSX.Element {
  const chosen = queryOf('range') as SeriesRange;
  const range = ranges.includes(chosen) ? chosen : '1h';
  const overview = useResource((abort) => readOverview(range, abort), [range]);
  const recent = useResource((abort) => readRecent(abort), []);
  const reload = (): void => {
    overview.reload();
    recent.reload();
  };
  useChanges({ kind: ['run', 'bedrock', 'def'] }, reload);
  useInterval(reload, reloadMs, [range]);
  return (
    <>
      <header class="page-head">
        <h1>Overview</h1>
        <div class="page-actions"><RangeButtons label="Period" ranges={ranges} range={range} first="1h" /></div>
      </header>
      {overview.error !== null && <Failure error={overview.error} onRetry={overview.reload} />}
      {overview.data === null && overview.error === null && <Loading />}
      {overview.data !== null && (
        <div class="stack">
          <Problems problems={problemsOf(overview.data)} />
          <Figures stats={overview.data.stats} series={overview.data.series} />
          <Charts series={overview.data.series} range={overview.data.range} />
        </div>
      )}
      {recent.data !== null && (
        <div class="grid recent">
          <RunCard
            title="Running and held" search="state:running,held" runs={recent.data.running}
            none="Nothing is running or held."
          />
          <RunCard title="Recent failures" search="state:failed" runs={recent.data.failed} none="No failed runs." />
        </div>
      )}
    </>
  );
}

async function readOverview(range: SeriesRange, signal: AbortSignal): Promise<OverviewData> {
  const [stats, series, types, instances, defs] = await Promise.all([
    call('stats', {}, signal),
    call('series', { query: { range } }, signal),
    call('listTypes', {}, signal),
    call('listInstances', {}, signal),
    call('listDefs', { query: { status: 'late', limit: lateShownMax } }, signal),
  ]);
  return { stats, series, types: types.items, instances: instances.items, late: defs, range };
}

async function readRecent(signal: AbortSignal): Promise<{ readonly running: RunView[]; readonly failed: RunView[] }> {
  const [running, failed] = await Promise.all([
    call('listRuns', { query: { state: ['running', 'held'], limit: shownMax, with: ['progress'] } }, signal),
    call('listRuns', { query: { state: ['failed'], limit: shownMax } }, signal),
  ]);
  return { running: running.items, failed: failed.items };
}

function Problems({ problems }: { readonly problems: readonly OverviewProblem[] }): JSX.Element {
  if (problems.length === 0) {
    return (
      <p class="all-well">
        <Icon name="succeeded" /> <b>No problems.</b> Every job type has a worker, no schedule is late, and nothing is
        failing.
      </p>
    );
  }
  return (
    <ul class="problems" aria-label="Problems">
      {problems.map(({ id, weight, icon, title, text, link, linkText }) => (
        <li key={id} data-weight={weight}>
          <Icon name={icon} />
          <span><b>{title}</b> {text}</span>
          <a href={link}>{linkText}</a>
        </li>
      ))}
    </ul>
  );
}

function Figures({ stats, series }: { readonly stats: StatsView; readonly series: SeriesView }): JSX.Element {
  const sum = (fate: 'succeeded' | 'failed' | 'cancelled'): number =>
    series.points.reduce((all, point) => all + point[fate], 0);
  const [succeeded, failed, cancelled] = [sum('succeeded'), sum('failed'), sum('cancelled')];
  const minutes = (series.points.length * series.bucketMs) / 60_000;
  const { alive, slots, busy } = stats.instances;
  return (
    <dl class="figures">
      <Figure title="Running" link={href('/runs', { search: 'state:running' })}>
        {compact(stats.open.running ?? 0)}
      </Figure>
      <Figure title="Waiting" link={href('/runs', { search: 'state:pending' })}>
        {compact(stats.open.pending ?? 0)}
      </Figure>
      <Figure title="Held" link={href('/runs', { search: 'state:held' })}>{compact(stats.open.held ?? 0)}</Figure>
      <Figure title="Longest wait">{stats.oldestReady === null ? '–' : duration(stats.oldestReady.ageMs)}</Figure>
      <Figure title="Ended" note={`${perMinute((succeeded + failed + cancelled) / minutes)} per minute`}>
        {compact(succeeded + failed + cancelled)}
      </Figure>
      <Figure title="Failed" note={`${number(failed)} of ${number(succeeded + failed)}`}>
        {percent(failed, succeeded + failed)}
      </Figure>
      <Figure title="Instances" note={`${number(busy)} of ${number(slots)} slots busy`}>{number(alive)}</Figure>
    </dl>
  );
}

const perMinute = (rate: number): string => (rate >= 10 ? compact(Math.round(rate)) : String(Number(rate.toFixed(1))));

interface RunCardProps {
  readonly title: string;
  readonly search: string;
  readonly runs: readonly RunView[];
  readonly none: string;
}

function RunCard({ title, search, runs, none }: RunCardProps): JSX.Element {
  return (
    <section class="card">
      <h2><a href={href('/runs', { search })}>{title}</a></h2>
      {runs.length === 0 && <p class="faint">{none}</p>}
      <ul class="run-lines">
        {runs.map((run) => (
          <li key={run.id}>
            <RunBadge run={run} />
            <a href={href(`/runs/${run.id}`)}>{run.type} <span class="mono">{run.id}</span></a>
            <span class="run-line-about">
              {run.tasks !== null && <TaskBar tasks={run.tasks} />}
              {run.standing === 'failed' && <span class="error-text">{run.error?.message}</span>}
            </span>
            {run.endedAt === null && <Elapsed from={run.startedAt ?? run.createdAt} to={null} />}
            {run.endedAt !== null && <Time at={run.endedAt} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

export const overviewPage: Page = {
  path: '/', title: 'Overview', view: Overview, nav: { icon: 'overview', key: 'o', group: 'Work' },
};
