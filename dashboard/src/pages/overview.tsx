/** The overview: what needs somebody first, then the figures, the charts, and what is going on. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RunView, SeriesRange, SeriesView, StatsView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { RunBadge } from '../components/badge.tsx';
import { Chart, type Series } from '../components/chart.tsx';
import { Figure } from '../components/figure.tsx';
import { Icon } from '../components/icon.tsx';
import { Failure, Loading } from '../components/notice.tsx';
import { Lasting, Time } from '../components/time.tsx';
import type { Page } from '../page.ts';
import { go, href, queryOf, setQuery } from '../router.ts';
import { useAnswer } from '../state/answer.ts';
import { isHidden, isLive, useChanges } from '../state/live.ts';
import { number, percent, short, span } from '../words.ts';
import { problemsOf, type Picture, type Problem } from './overview/problems.ts';
import { TaskBar } from './runs/columns.tsx';

const ranges: readonly SeriesRange[] = ['15m', '1h', '6h', '1d', '7d', '90d'];
const lookAgainMs = 5_000;
const shownMax = 8;

function Overview(): JSX.Element {
  const said = queryOf('range') as SeriesRange;
  const range = ranges.includes(said) ? said : '1h';
  const picture = useAnswer((abort) => readPicture(range, abort), [range]);
  const going = useAnswer((abort) => readGoing(abort), []);
  const look = (): void => {
    picture.reload();
    going.reload();
  };
  useChanges({ kind: ['run', 'bedrock', 'def'] }, look);
  useEffect(() => {
    // Ages and series go on even where nothing happens.
    const again = setInterval(() => {
      if (isLive.peek() && !isHidden.peek()) look();
    }, lookAgainMs);
    return () => clearInterval(again);
  }, [range]);
  return (
    <>
      <header class="page-head">
        <h1>Overview</h1>
        <div class="page-acts"><RangeChoice range={range} /></div>
      </header>
      {picture.error !== null && <Failure error={picture.error} onRetry={picture.reload} />}
      {picture.data === null && picture.error === null && <Loading />}
      {picture.data !== null && (
        <div class="stack">
          <Problems problems={problemsOf(picture.data)} />
          <Figures stats={picture.data.stats} series={picture.data.series} />
          <Charts series={picture.data.series} />
        </div>
      )}
      {going.data !== null && (
        <div class="grid going">
          <RunCard
            title="Running now" search="state:running,held" runs={going.data.running} none="Nothing is running."
          />
          <RunCard title="Failed lately" search="state:failed" runs={going.data.failed} none="Nothing has failed." />
        </div>
      )}
    </>
  );
}

async function readPicture(range: SeriesRange, signal: AbortSignal): Promise<Picture> {
  const [stats, series, types, instances, defs] = await Promise.all([
    call('stats', {}, signal),
    call('series', { query: { range } }, signal),
    call('listTypes', {}, signal),
    call('listInstances', {}, signal),
    call('listDefs', { query: { limit: 500 } }, signal),
  ]);
  return { stats, series, types: types.items, instances: instances.items, defs: defs.items, range };
}

async function readGoing(signal: AbortSignal): Promise<{ readonly running: RunView[]; readonly failed: RunView[] }> {
  const [running, failed] = await Promise.all([
    call('listRuns', { query: { state: ['running', 'held'], limit: shownMax, with: ['progress'] } }, signal),
    call('listRuns', { query: { state: ['failed'], limit: shownMax } }, signal),
  ]);
  return { running: running.items, failed: failed.items };
}

function RangeChoice({ range }: { readonly range: SeriesRange }): JSX.Element {
  return (
    <div class="segments" role="group" aria-label="Range of the charts">
      {ranges.map((one) => (
        <button
          key={one} type="button" aria-pressed={one === range}
          onClick={() => setQuery({ range: one === '1h' ? null : one }, false)}
        >
          {one}
        </button>
      ))}
    </div>
  );
}

function Problems({ problems }: { readonly problems: readonly Problem[] }): JSX.Element {
  if (problems.length === 0) {
    return (
      <p class="all-well">
        <Icon name="succeeded" /> <b>Nothing needs you.</b> Every type has somebody to run it, no schedule is late,
        nothing fails.
      </p>
    );
  }
  return (
    <ul class="problems" aria-label="Problems">
      {problems.map(({ id, weight, icon, title, says, link, linkText }) => (
        <li key={id} data-weight={weight}>
          <Icon name={icon} />
          <span><b>{title}</b> {says}</span>
          <a href={link}>{linkText}</a>
        </li>
      ))}
    </ul>
  );
}

function Figures({ stats, series }: { readonly stats: StatsView; readonly series: SeriesView }): JSX.Element {
  const sum = (word: 'succeeded' | 'failed' | 'cancelled'): number =>
    series.points.reduce((all, point) => all + point[word], 0);
  const [succeeded, failed, cancelled] = [sum('succeeded'), sum('failed'), sum('cancelled')];
  const minutes = (series.points.length * series.bucketMs) / 60_000;
  const { alive, slots, busy } = stats.instances;
  return (
    <dl class="figures">
      <Figure title="Running" link={href('/runs', { search: 'state:running' })}>
        {short(stats.open.running ?? 0)}
      </Figure>
      <Figure title="Waiting" link={href('/runs', { search: 'state:pending' })}>
        {short(stats.open.pending ?? 0)}
      </Figure>
      <Figure title="Held" link={href('/runs', { search: 'state:held' })}>{short(stats.open.held ?? 0)}</Figure>
      <Figure title="Oldest due">{stats.oldestReady === null ? '–' : span(stats.oldestReady.ageMs)}</Figure>
      <Figure title="Ended" note={`${perMinute((succeeded + failed + cancelled) / minutes)} per minute`}>
        {short(succeeded + failed + cancelled)}
      </Figure>
      <Figure title="Failed" note={`${number(failed)} of ${number(succeeded + failed)}`}>
        {percent(failed, succeeded + failed)}
      </Figure>
      <Figure title="Instances" note={`${number(busy)} of ${number(slots)} slots busy`}>{number(alive)}</Figure>
    </dl>
  );
}

const perMinute = (rate: number): string => (rate >= 10 ? short(Math.round(rate)) : String(Number(rate.toFixed(1))));

function Charts({ series }: { readonly series: SeriesView }): JSX.Element {
  const { points } = series;
  const times = points.map(({ at }) => at / 1_000);
  const pick = (from: number, to: number): void =>
    go('/runs', { search: `created:>${new Date(from).toISOString()} created:<${new Date(to).toISOString()}` });
  const counts = (word: 'created' | 'succeeded' | 'failed' | 'cancelled' | 'retried' | 'lapsed'): number[] =>
    points.map((point) => point[word]);
  const quantiles = (of: 'wait' | 'run'): Series[] => [
    { label: 'p50', colour: '--succeeded', values: points.map((point) => point[of]?.p50 ?? null) },
    { label: 'p95', colour: '--held', values: points.map((point) => point[of]?.p95 ?? null), dash: [6, 3] },
    { label: 'p99', colour: '--failed', values: points.map((point) => point[of]?.p99 ?? null), dash: [2, 3] },
  ];
  const count = (value: number): string => short(Math.round(value));
  return (
    <div class="charts">
      <section class="card">
        <Chart
          title="Ended" times={times} tell={count} tells="sum" onPick={pick} isStacked
          series={[
            { label: 'succeeded', colour: '--succeeded', values: counts('succeeded'), shape: 'bars' },
            { label: 'failed', colour: '--failed', values: counts('failed'), shape: 'bars' },
            { label: 'cancelled', colour: '--cancelled', values: counts('cancelled'), shape: 'bars' },
          ]}
        />
      </section>
      <section class="card">
        <Chart
          title="Created and tried again" times={times} tell={count} tells="sum" onPick={pick}
          series={[
            { label: 'created', colour: '--running', values: counts('created') },
            { label: 'retried', colour: '--held', values: counts('retried'), dash: [6, 3] },
            { label: 'leases lost', colour: '--failed', values: counts('lapsed'), dash: [2, 3] },
          ]}
        />
      </section>
      <section class="card">
        <Chart title="Wait, from due to taken" times={times} tell={span} onPick={pick} series={quantiles('wait')} />
      </section>
      <section class="card">
        <Chart title="Run time of an attempt" times={times} tell={span} onPick={pick} series={quantiles('run')} />
      </section>
      <p class="faint chart-note">
        Drag over a chart to list the runs that were created then. Counted since <Time at={series.since} />; what is
        older was read from the newest runs.
      </p>
    </div>
  );
}

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
            {run.endedAt === null && <Lasting from={run.startedAt ?? run.createdAt} to={null} />}
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
