/** Queues: the jobs of each type that wait or run, and the limits they wait at. */
import type { JSX } from 'preact';
import type { LimitView, QueueView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Menu } from '../components/menu.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { PauseButton, PauseMarks } from '../components/pause.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { Table, type Column } from '../components/table.tsx';
import { compact, duration, number, plural } from '../format.ts';
import type { Page } from '../page.ts';
import { href, queryOf, setQuery } from '../router.ts';
import { textOf } from '../search.ts';
import { useChanges, useInterval } from '../state/live.ts';
import { usePauses, type Pauses } from '../state/pauses.ts';
import { useResource } from '../state/resource.ts';
import { runAction } from '../state/run-actions.ts';
import { mayOperate } from '../state/session.ts';
import { actOnAllMatching } from './runs/bulk.ts';
import { isBuiltIn } from './types.tsx';

const reloadMs = 5_000;

function Queues(): JSX.Element {
  const queues = useResource((abort) => call('listQueues', {}, abort), []);
  const pauses = usePauses();
  useChanges({ kind: ['run', 'task', 'bedrock', 'pause'] }, (changes) => {
    queues.reload();
    pauses.apply(changes);
  });
  useInterval(queues.reload, reloadMs);
  const isAll = queryOf('all') !== '';
  const all = queues.data?.items ?? [];
  const rows = isAll ? all : all.filter((queue) => isBusy(queue) || pauses.of(queue.type).length > 0);
  return (
    <>
      <header class="page-head">
        <h1>Queues</h1>
        <SavedViews page="queues" />
        <div class="page-actions">
          <div class="segments" role="group" aria-label="Queues">
            <button type="button" aria-pressed={!isAll} onClick={() => setQuery({ all: null }, false)}>Active</button>
            <button type="button" aria-pressed={isAll} onClick={() => setQuery({ all: true }, false)}>All</button>
          </div>
        </div>
      </header>
      {queues.error !== null && <Failure error={queues.error} onRetry={queues.reload} />}
      {queues.data === null && queues.error === null && <Loading />}
      {queues.data !== null && rows.length === 0 && (
        <Empty title="No waiting or running jobs" icon="queues">
          To see empty queues and their limits,{' '}
          <button type="button" class="link" onClick={() => setQuery({ all: true }, false)}>show all queues</button>.
        </Empty>
      )}
      {rows.length > 0 && (
        <Table<QueueView>
          label="Queues" rows={rows} columns={columnsOf(pauses)} idOf={({ type }) => type}
          pathOf={({ type }) => `/runs?${new URLSearchParams({ search: searchOf(type, 'open') })}`}
        />
      )}
      <LimitCards queues={rows.filter(({ limits }) => limits.length > 0)} />
    </>
  );
}

const isBusy = ({ ready, later, held, running }: QueueView): boolean => ready + later + held + running > 0;

const searchOf = (type: string, state: string): string =>
  textOf([{ name: 'type', value: type }, { name: 'state', value: state }]);

const oldMs = 60_000;

const columnsOf = (pauses: Pauses): readonly Column<QueueView>[] => [
  {
    title: 'Type', class: 'wide',
    cell: ({ type }) => (
      <>
        <a class="strong" href={href('/types', { name: type })}>{type}</a>
        <PauseMarks type={type} pauses={pauses} />
      </>
    ),
  },
  { title: 'Ready', class: 'number', cell: ({ type, ready }) => <Count type={type} state="pending" count={ready} /> },
  {
    title: 'Longest wait', class: 'number', cell: ({ oldestReady }) => (oldestReady === null
      ? <span class="faint">–</span>
      : <Age {...oldestReady} />),
  },
  { title: 'Scheduled', class: 'number', cell: ({ later }) => <Plain count={later} /> },
  { title: 'Held', class: 'number', cell: ({ type, held }) => <Count type={type} state="held" count={held} /> },
  {
    title: 'Running', class: 'number',
    cell: ({ type, running }) => <Count type={type} state="running" count={running} />,
  },
  {
    title: 'Slots', class: 'number', cell: ({ instances, slots }) => (instances === 0
      ? <Badge status="failed" text="no worker" title="No instance can run this type" />
      : <span title={`on ${plural(instances, 'instance')}`}>{number(slots)}</span>),
  },
  {
    title: '', class: 'actions', cell: (queue) => mayOperate.value && (
      <>
        {!isBuiltIn(queue.type) && <PauseButton type={queue.type} pauses={pauses} />}{' '}
        {isBusy(queue) && <Actions type={queue.type} />}
      </>
    ),
  },
];

const Age = ({ id, ageMs }: NonNullable<QueueView['oldestReady']>): JSX.Element => (
  <a href={href(`/runs/${id}`, { tab: 'explain' })} class={ageMs > oldMs ? 'strong' : ''}>{duration(ageMs)}</a>
);

const Plain = ({ count }: { readonly count: number }): JSX.Element =>
  count === 0 ? <span class="faint">0</span> : <span title={number(count)}>{compact(count)}</span>;

interface CountProps {
  readonly type: string;
  readonly state: string;
  readonly count: number;
}

const Count = ({ type, state, count }: CountProps): JSX.Element => (count === 0
  ? <span class="faint">0</span>
  : <a href={href('/runs', { search: searchOf(type, state) })} title={number(count)}>{compact(count)}</a>);

/** The menu of actions on all open jobs of a type. Jobs that are created later are not affected. */
function Actions({ type }: { readonly type: string }): JSX.Element {
  const offered = [
    ['pause', 'Pause waiting jobs', 'pending'],
    ['resume', 'Resume paused jobs', 'held'],
    ['cancel', 'Cancel open jobs', 'open'],
  ] as const;
  return (
    <Menu title="Actions" label={`Actions on the jobs of ${type}`}>
      {offered.map(([name, label, state]) => (
        <button
          key={name} type="button" class="menu-item"
          onClick={() => void actOnAllMatching(runAction(name), { type: [type], state: [state] })}
        >
          {label}
        </button>
      ))}
    </Menu>
  );
}

function LimitCards({ queues }: { readonly queues: readonly QueueView[] }): JSX.Element | null {
  if (queues.length === 0) return null;
  return (
    <section class="limits" aria-label="Limits">
      <h2>Limits</h2>
      <div class="grid">
        {queues.map(({ type, ready, limits }) => (
          <div class="card" key={type}>
            <h3>
              <a href={href('/types', { name: type })}>{type}</a>{' '}
              {ready > 0 && <span class="faint">{number(ready)} ready</span>}
            </h3>
            <ul>{limits.map((limit) => <Limit key={`${limit.scope} ${limit.name}`} limit={limit} />)}</ul>
          </div>
        ))}
      </div>
    </section>
  );
}

const scopes: Readonly<Record<LimitView['scope'], string>> = {
  type: 'runs of this type', tasks: 'tasks of this type', definition: 'definition', key: 'key',
};

function Limit({ limit: { scope, name, max, taken } }: { readonly limit: LimitView }): JSX.Element {
  const isFull = max !== null && taken >= max;
  const label = name === null ? scopes[scope] : `${scopes[scope]} ${name}`;
  return (
    <li class="limit">
      <span>
        {scope === 'definition' && name !== null
          ? <>definition <a href={href('/definitions', { name })}>{name}</a></>
          : label}
      </span>
      <span class="number">
        {max === null ? `${number(taken)} in use` : `${number(taken)} of ${number(max)}`}
        {isFull && <> <Badge status="held" text="full" /></>}
      </span>
      {max !== null && (
        <progress
          max={max} value={Math.min(taken, max)} aria-label={`${label}: ${taken} of ${max} in use`} data-full={isFull}
        />
      )}
    </li>
  );
}

export const queuesPage: Page = {
  path: '/queues', title: 'Queues', view: Queues, nav: { icon: 'queues', key: 'q', group: 'Plan' },
};
