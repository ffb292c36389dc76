/** One job type: its counts, settings, definitions, throughput, newest runs and input schema. */
import type { ComponentChildren, JSX } from 'preact';
import type { Answer, RunView, SeriesView, TypeDetail } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Badge, RunBadge } from '../../components/badge.tsx';
import { Chart, type ChartSeries } from '../../components/chart.tsx';
import { Figure } from '../../components/figure.tsx';
import { Icon } from '../../components/icon.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Failure, Loading } from '../../components/notice.tsx';
import { PauseBanners, resumeType } from '../../components/pause.tsx';
import { pauseType } from '../../components/pause-type.tsx';
import { startRun } from '../../components/start-run.tsx';
import { Elapsed, Time } from '../../components/time.tsx';
import { compact, duration, number } from '../../format.ts';
import { href } from '../../router.ts';
import { textOf } from '../../search.ts';
import { useShortcuts, type Shortcut } from '../../state/keys.ts';
import { useChanges } from '../../state/live.ts';
import { isOfType, usePauses, type Pauses } from '../../state/pauses.ts';
import { useResource } from '../../state/resource.ts';
import { mayOperate, mayProduce } from '../../state/session.ts';
import { Shares } from './shares.tsx';
import { Traits } from './traits.tsx';

const shownMax = 8;

export function TypePage({ name }: { readonly name: string }): JSX.Element {
  const type = useResource((abort) => call('getType', { params: { name } }, abort), [name]);
  const series = useResource((abort) => call('series', { query: { range: '1d', type: name } }, abort), [name]);
  const defs = useResource((abort) => call('listDefs', { query: { type: name } }, abort), [name]);
  const runs = useResource((abort) => call('listRuns', { query: { type: [name], limit: shownMax } }, abort), [name]);
  const pauses = usePauses();
  useChanges({ kind: ['run', 'task', 'bedrock', 'def', 'pause'] }, (changes) => {
    if (changes !== null && !changes.some((change) => change.type === name)) return;
    for (const resource of [type, series, defs, runs]) resource.reload();
    pauses.apply(changes);
  });
  const start = (): void => startRun({ type: name });
  const pause = (): void => pauseType(name, pauses.reload);
  useShortcuts([
    ...(mayProduce.value ? [{ keys: 'n', label: `Start ${name}`, run: start }] : []),
    ...(mayOperate.value ? [pauseShortcut(name, pauses)] : []),
  ]);
  return (
    <>
      <BackLink path="/types" title="Job types" />
      <header class="page-head">
        <h1>{name}</h1>
        {type.data !== null && <Traits type={type.data} />}
        <div class="page-actions">
          {mayOperate.value && (
            <button type="button" class="button" onClick={pause}>
              <Icon name="pause" /> {pauses.of(name).some((pause) => isOfType(pause) && !pause.spread) ? 'Change pause' : 'Pause'}
            </button>
          )}
          {mayProduce.value && (
            <button type="button" class="button" data-kind="primary" onClick={start}>
              <Icon name="play" /> Start a run
            </button>
          )}
        </div>
      </header>
      <PauseBanners pauses={pauses.of(name)} onDone={pauses.reload} />
      {type.error !== null && <Failure error={type.error} onRetry={type.reload} />}
      {type.data === null && type.error === null && <Loading />}
      {type.data !== null && (
        <Details type={type.data} series={series.data} defs={defs.data} runs={runs.data?.items ?? null} />
      )}
    </>
  );
}

function pauseShortcut(name: string, pauses: Pauses): Shortcut {
  const inForce = pauses.of(name).find(isOfType);
  return inForce === undefined
    ? { keys: 'h', label: `Pause ${name}`, run: () => pauseType(name, pauses.reload) }
    : { keys: 'h', label: inForce.spread ? `Let go of all of ${name}` : `Resume ${name}`, run: () => void resumeType(inForce, pauses.reload) };
}

interface DetailsProps {
  readonly type: TypeDetail;
  readonly series: SeriesView | null;
  readonly defs: Answer<'listDefs'> | null;
  readonly runs: readonly RunView[] | null;
}

function Details({ type, series, defs, runs }: DetailsProps): JSX.Element {
  return (
    <div class="stack">
      <Counts type={type} series={series} />
      <div class="grid">
        <Settings type={type} />
        <Shares type={type} />
        {type.versions.some(({ version }) => version > 1) && <Versions type={type} />}
        {type.builds.length > 1 && <Builds builds={type.builds} />}
        <Definitions defs={defs} />
      </div>
      {series?.types.some((one) => one.type === type.name) === true && <Throughput series={series} />}
      <div class="grid">
        <NewestRuns name={type.name} runs={runs} />
        <InputSchema type={type} />
      </div>
    </div>
  );
}

function Versions({ type }: { readonly type: TypeDetail }): JSX.Element {
  return (
    <section class="card">
      <h2>Versions</h2>
      <ul class="lines">
        {type.versions.map(({ version, waiting, instances }) => (
          <li key={version}>
            <span>Version {version}</span>
            <span class="faint">{number(waiting)} waiting</span>
            <span class="faint">{instances.length === 0 ? 'no instance knows it' : instances.join(', ')}</span>
          </li>
        ))}
      </ul>
      {type.oldInstances.length > 0 && (
        <p class="faint">
          {type.isSafeToStopOld
            ? `Safe to stop the old instances: ${type.oldInstances.join(', ')}.`
            : `Open runs of old versions still need ${type.oldInstances.join(', ')}.`}
        </p>
      )}
    </section>
  );
}

function Builds({ builds }: Pick<TypeDetail, 'builds'>): JSX.Element {
  return (
    <section class="card">
      <h2>Builds</h2>
      <ul class="lines">
        {builds.map(({ id, firstSeen, instances, succeeded, failed }) => (
          <li key={id}>
            <span title={instances.join(', ')}>{id}</span>
            <span class="faint">
              {number(failed)} of {number(succeeded + failed)} attempts failed
            </span>
            <span class="faint">first seen <Time at={firstSeen} /></span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Definitions({ defs }: Pick<DetailsProps, 'defs'>): JSX.Element {
  return (
    <section class="card">
      <h2>Definitions</h2>
      {defs?.items.length === 0 && (
        <p class="faint">No definitions. Runs are started here, from the command line or from code.</p>
      )}
      <ul class="lines">
        {defs?.items.map((def) => (
          <li key={def.name}>
            <a href={href('/definitions', { name: def.name })}>{def.name}</a>
            <span class="faint">{def.schedules.map(({ words }) => words).join('; ') || 'no schedule'}</span>
            {!def.enabled && <Badge status="held" text="disabled" />}
          </li>
        ))}
      </ul>
    </section>
  );
}

const noSchema = 'No schema. Any JSON is accepted; the handler checks it.';
const schemaElsewhere = 'Not known: this server does not have the code of this type.';

function InputSchema({ type }: { readonly type: TypeDetail }): JSX.Element {
  return (
    <section class="card">
      <h2>Input schema</h2>
      {type.schema === null
        ? <p class="faint">{type.isLocal ? noSchema : schemaElsewhere}</p>
        : <JsonView value={withoutVersion(type.schema)} label="Input schema" openDepth={3} />}
    </section>
  );
}

/** Removes `$schema`, which only names the version of JSON Schema. */
const withoutVersion = (schema: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema'));

function Counts({ type, series }: { readonly type: TypeDetail; readonly series: SeriesView | null }): JSX.Element {
  const day = series?.types.find((one) => one.type === type.name);
  const search = (state: string): string =>
    href('/runs', { search: textOf([{ name: 'type', value: type.name }, { name: 'state', value: state }]) });
  return (
    <dl class="figures">
      <Figure title="Running" link={search('running')}>{compact(type.counts.running ?? 0)}</Figure>
      <Figure title="Waiting" link={search('pending')}>{compact(type.counts.pending ?? 0)}</Figure>
      <Figure title="Held" link={search('held')}>{compact(type.counts.held ?? 0)}</Figure>
      <Figure title="Succeeded today" link={search('succeeded')}>{compact(day?.succeeded ?? 0)}</Figure>
      <Figure title="Failed today" link={href('/failures', { type: type.name })}>{compact(day?.failed ?? 0)}</Figure>
      <Figure title="Retries today">{compact(day?.retried ?? 0)}</Figure>
    </dl>
  );
}

function Settings({ type }: { readonly type: TypeDetail }): JSX.Element {
  const byDefault = <span class="faint">(default)</span>;
  const limit = (max: number | null): ComponentChildren =>
    max === null ? <span class="faint">no limit</span> : number(max);
  return (
    <section class="card">
      <h2>Settings</h2>
      <dl class="facts">
        <dt>Concurrent runs</dt>
        <dd>
          {type.onePerType ? '1; a second run is refused' : limit(type.concurrency)}
        </dd>
        {type.hasTasks !== false && (
          <><dt>Concurrent tasks</dt><dd>{limit(type.taskConcurrency)}</dd></>
        )}
        {type.keyConcurrency !== null && <><dt>Concurrent runs per key</dt><dd>{number(type.keyConcurrency)}</dd></>}
        {type.fairness !== null && <><dt>Takes turns by</dt><dd>{type.fairness.key}, weight {type.fairness.weight}</dd></>}
        {type.taskFairness !== null && <><dt>Tasks take turns by</dt><dd>{type.taskFairness}</dd></>}
        <dt>Timeout</dt><dd>{type.timeoutMs === null ? byDefault : duration(type.timeoutMs)}</dd>
        <dt>Attempts</dt>
        <dd>{type.attempts === null ? byDefault : number(type.attempts)}</dd>
        <dt>Available on</dt>
        <dd>
          {type.instances.length === 0
            ? <Badge status="failed" text="no instance" />
            : type.instances.map((id) => <a key={id} class="chip" href={href('/instances')}>{id}</a>)}
        </dd>
      </dl>
    </section>
  );
}

function Throughput({ series }: { readonly series: SeriesView }): JSX.Element {
  const { points } = series;
  const bars = (label: 'succeeded' | 'failed' | 'cancelled'): ChartSeries =>
    ({ label, colour: `--${label}`, values: points.map((point) => point[label]), shape: 'bars' });
  return (
    <section class="card">
      <Chart
        title="Ended" unit="count" period="last day" times={points.map(({ at }) => at / 1000)} isStacked
        series={[bars('succeeded'), bars('failed'), bars('cancelled')]}
      />
    </section>
  );
}

function NewestRuns({ name, runs }: { readonly name: string; readonly runs: readonly RunView[] | null }): JSX.Element {
  return (
    <section class="card">
      <h2>Newest runs <a href={href('/runs', { search: textOf([{ name: 'type', value: name }]) })}>View all</a></h2>
      {runs === null && <Loading />}
      {runs?.length === 0 && <p class="faint">No runs yet.</p>}
      <ul class="lines">
        {runs?.map((run) => (
          <li key={run.id}>
            <a class="id" href={href(`/runs/${run.id}`)}>{run.id}</a>
            <RunBadge run={run} />
            <span class="faint"><Time at={run.createdAt} /></span>
            <Elapsed from={run.startedAt} to={run.endedAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}
