/** One job type: its counts, limits and input, how it has fared, and what runs it. */
import type { JSX } from 'preact';
import type { RunView, SeriesView, TypeDetail } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Badge, RunBadge } from '../../components/badge.tsx';
import { Chart, type Series } from '../../components/chart.tsx';
import { Figure } from '../../components/figure.tsx';
import { Icon } from '../../components/icon.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Failure, Loading } from '../../components/notice.tsx';
import { startRun } from '../../components/start-run.tsx';
import { Lasting, Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { textOf } from '../../search.ts';
import { useAnswer } from '../../state/answer.ts';
import { useShortcuts } from '../../state/keys.ts';
import { useChanges } from '../../state/live.ts';
import { mayProduce } from '../../state/session.ts';
import { number, short, span } from '../../words.ts';
import { Traits } from './traits.tsx';

const shownMax = 8;
const noSchema = 'It has no schema that can be told: any JSON is taken, and its code checks it.';
const schemaElsewhere = 'Its code is not on this server, so its schema is not known here.';

export function TypePage({ name }: { readonly name: string }): JSX.Element {
  const type = useAnswer((abort) => call('getType', { params: { name } }, abort), [name]);
  const series = useAnswer((abort) => call('series', { query: { range: '1d', type: name } }, abort), [name]);
  const defs = useAnswer((abort) => call('listDefs', { query: { type: name } }, abort), [name]);
  const runs = useAnswer((abort) => call('listRuns', { query: { type: [name], limit: shownMax } }, abort), [name]);
  useChanges({ kind: ['run', 'task', 'bedrock', 'def'] }, (changes) => {
    if (changes !== null && !changes.some((change) => change.type === name)) return;
    for (const answer of [type, series, defs, runs]) answer.reload();
  });
  const start = (): void => startRun({ type: name });
  useShortcuts(mayProduce.value ? [{ keys: 'n', does: `Start ${name}`, run: start }] : []);
  return (
    <>
      <BackLink path="/types" title="Job types" />
      <header class="page-head">
        <h1>{name}</h1>
        {type.data !== null && <Traits type={type.data} />}
        <div class="page-acts">
          {mayProduce.value && (
            <button type="button" class="button" data-kind="primary" onClick={start}><Icon name="play" /> Start</button>
          )}
        </div>
      </header>
      {type.error !== null && <Failure error={type.error} onRetry={type.reload} />}
      {type.data === null && type.error === null && <Loading />}
      {type.data !== null && (
        <div class="stack">
          <Counts type={type.data} series={series.data} />
          <div class="grid">
            <Limits type={type.data} />
            <section class="card">
              <h2>Definitions</h2>
              {defs.data?.items.length === 0 && (
                <p class="faint">None is of this type: it is started by hand or from code.</p>
              )}
              <ul class="lines">
                {defs.data?.items.map((def) => (
                  <li key={def.name}>
                    <a href={href('/definitions', { name: def.name })}>{def.name}</a>
                    <span class="faint">{def.schedules.map(({ words }) => words).join('; ') || 'no schedule'}</span>
                    {!def.enabled && <Badge look="held" word="disabled" />}
                  </li>
                ))}
              </ul>
            </section>
          </div>
          {series.data?.types.some((one) => one.type === name) === true && <Throughput series={series.data} />}
          <div class="grid">
            <Recent name={name} runs={runs.data?.items ?? null} />
            <section class="card">
              <h2>Input</h2>
              {type.data.schema === null
                ? <p class="faint">{type.data.isLocal ? noSchema : schemaElsewhere}</p>
                : <JsonView value={withoutVersion(type.data.schema)} label="Schema of the input" openDepth={3} />}
            </section>
          </div>
        </div>
      )}
    </>
  );
}

/** Which draft of JSON Schema it is tells nobody anything here. */
const withoutVersion = (schema: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema'));

function Counts({ type, series }: { readonly type: TypeDetail; readonly series: SeriesView | null }): JSX.Element {
  const day = series?.types.find((one) => one.type === type.name);
  const search = (state: string): string =>
    href('/runs', { search: textOf([{ name: 'type', value: type.name }, { name: 'state', value: state }]) });
  return (
    <dl class="figures">
      <Figure title="Running" link={search('running')}>{short(type.counts.running ?? 0)}</Figure>
      <Figure title="Waiting" link={search('pending')}>{short(type.counts.pending ?? 0)}</Figure>
      <Figure title="Held" link={search('held')}>{short(type.counts.held ?? 0)}</Figure>
      <Figure title="Succeeded today" link={search('succeeded')}>{short(day?.succeeded ?? 0)}</Figure>
      <Figure title="Failed today" link={href('/failures', { type: type.name })}>{short(day?.failed ?? 0)}</Figure>
      <Figure title="Tried again">{short(day?.retried ?? 0)}</Figure>
    </dl>
  );
}

function Limits({ type }: { readonly type: TypeDetail }): JSX.Element {
  const any = <span class="faint">no limit</span>;
  return (
    <section class="card">
      <h2>Limits and code</h2>
      <dl class="facts">
        <dt>Runs at a time</dt>
        <dd>
          {type.onePerType ? '1, and a second is refused' : type.concurrency === null ? any : number(type.concurrency)}
        </dd>
        {type.hasTasks !== false && (
          <><dt>Tasks at a time</dt><dd>{type.taskConcurrency === null ? any : number(type.taskConcurrency)}</dd></>
        )}
        {type.keyConcurrency !== null && <><dt>With the same key</dt><dd>{number(type.keyConcurrency)}</dd></>}
        <dt>One try may take</dt><dd>{type.timeoutMs === null ? any : span(type.timeoutMs)}</dd>
        <dt>Tries</dt><dd>{type.attempts === null ? <span class="faint">the default</span> : number(type.attempts)}</dd>
        <dt>Its code is at</dt>
        <dd>
          {type.instances.length === 0
            ? <Badge look="failed" word="no living instance" />
            : type.instances.map((id) => <a key={id} class="chip" href={href('/instances')}>{id}</a>)}
        </dd>
      </dl>
    </section>
  );
}

function Throughput({ series }: { readonly series: SeriesView }): JSX.Element {
  const { points } = series;
  const bars = (label: 'succeeded' | 'failed' | 'cancelled'): Series =>
    ({ label, colour: `--${label}`, values: points.map((point) => point[label]), shape: 'bars' });
  return (
    <section class="card">
      <Chart
        title="The last day" times={points.map(({ at }) => at / 1000)} tell={number} tells="sum" isStacked
        series={[bars('succeeded'), bars('failed'), bars('cancelled')]}
      />
    </section>
  );
}

function Recent({ name, runs }: { readonly name: string; readonly runs: readonly RunView[] | null }): JSX.Element {
  return (
    <section class="card">
      <h2>Newest runs <a href={href('/runs', { search: textOf([{ name: 'type', value: name }]) })}>all</a></h2>
      {runs === null && <Loading />}
      {runs?.length === 0 && <p class="faint">There are none yet.</p>}
      <ul class="lines">
        {runs?.map((run) => (
          <li key={run.id}>
            <a class="id" href={href(`/runs/${run.id}`)}>{run.id}</a>
            <RunBadge run={run} />
            <span class="faint"><Time at={run.createdAt} /></span>
            <Lasting from={run.startedAt} to={run.endedAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}
