/** Queues and limits: what waits of each type, how long already, and which limit it waits at. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { LimitView, QueueView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Menu } from '../components/menu.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { Table, type Column } from '../components/table.tsx';
import type { Page } from '../page.ts';
import { href, queryOf, setQuery } from '../router.ts';
import { textOf } from '../search.ts';
import { useAnswer } from '../state/answer.ts';
import { isHidden, isLive, useChanges } from '../state/live.ts';
import { deeds, type Deed } from '../state/run-deeds.ts';
import { mayOperate } from '../state/session.ts';
import { number, short, span } from '../words.ts';
import { toAllMatching } from './runs/bulk.ts';

const lookAgainMs = 5_000;

function Queues(): JSX.Element {
  const queues = useAnswer((abort) => call('listQueues', {}, abort), []);
  useChanges({ kind: ['run', 'task', 'bedrock'] }, queues.reload);
  useEffect(() => {
    // What waits grows older even where nothing happens.
    const again = setInterval(() => {
      if (isLive.peek() && !isHidden.peek()) queues.reload();
    }, lookAgainMs);
    return () => clearInterval(again);
  }, []);
  const isAll = queryOf('all') !== '';
  const all = queues.data?.items ?? [];
  const rows = isAll ? all : all.filter(isBusy);
  return (
    <>
      <header class="page-head">
        <h1>Queues and limits</h1>
        <div class="page-acts">
          <div class="segments" role="group" aria-label="Which queues">
            <button type="button" aria-pressed={!isAll} onClick={() => setQuery({ all: null }, false)}>
              With something in them
            </button>
            <button type="button" aria-pressed={isAll} onClick={() => setQuery({ all: true }, false)}>All</button>
          </div>
        </div>
      </header>
      {queues.error !== null && <Failure error={queues.error} onRetry={queues.reload} />}
      {queues.data === null && queues.error === null && <Loading />}
      {queues.data !== null && rows.length === 0 && (
        <Empty title="Nothing waits and nothing runs" icon="queues">
          <button type="button" class="link" onClick={() => setQuery({ all: true }, false)}>Show empty ones</button>,
          with their limits.
        </Empty>
      )}
      {rows.length > 0 && (
        <Table<QueueView>
          label="Queues" rows={rows} columns={columns} idOf={({ type }) => type}
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

const columns: readonly Column<QueueView>[] = [
  {
    title: 'Type', class: 'wide',
    cell: ({ type }) => <a class="strong" href={href('/types', { name: type })}>{type}</a>,
  },
  { title: 'Ready', class: 'number', cell: ({ type, ready }) => <Count type={type} state="pending" count={ready} /> },
  {
    title: 'Oldest waits', class: 'number', cell: ({ oldestReady }) => (oldestReady === null
      ? <span class="faint">–</span>
      : <Age {...oldestReady} />),
  },
  { title: 'Later', class: 'number', cell: ({ later }) => <Plain count={later} /> },
  { title: 'Held', class: 'number', cell: ({ type, held }) => <Count type={type} state="held" count={held} /> },
  {
    title: 'Running', class: 'number',
    cell: ({ type, running }) => <Count type={type} state="running" count={running} />,
  },
  {
    title: 'Slots', class: 'number', cell: ({ instances, slots }) => (instances === 0
      ? <Badge look="failed" word="nobody" title="No instance takes it: what waits is not run" />
      : <span title={`on ${instances} instances`}>{number(slots)}</span>),
  },
  { title: '', class: 'acts', cell: (queue) => mayOperate.value && isBusy(queue) && <Deeds type={queue.type} /> },
];

const Age = ({ id, ageMs }: NonNullable<QueueView['oldestReady']>): JSX.Element => (
  <a href={href(`/runs/${id}`, { tab: 'explain' })} class={ageMs > oldMs ? 'strong' : ''}>{span(ageMs)}</a>
);

const Plain = ({ count }: { readonly count: number }): JSX.Element =>
  count === 0 ? <span class="faint">0</span> : <span title={number(count)}>{short(count)}</span>;

interface CountProps {
  readonly type: string;
  readonly state: string;
  readonly count: number;
}

const Count = ({ type, state, count }: CountProps): JSX.Element => (count === 0
  ? <span class="faint">0</span>
  : <a href={href('/runs', { search: searchOf(type, state) })} title={number(count)}>{short(count)}</a>);

const deedOf = (name: Deed['name']): Deed => deeds.find((deed) => deed.name === name)!;

/** To all that are open of a type now; what comes later is not touched. */
function Deeds({ type }: { readonly type: string }): JSX.Element {
  const offered = [
    ['pause', 'Pause what waits', 'pending'],
    ['resume', 'Resume what is paused', 'held'],
    ['cancel', 'Cancel all that is open', 'open'],
  ] as const;
  return (
    <Menu title="Actions" label={`Actions on all of ${type}`}>
      {offered.map(([name, says, state]) => (
        <button
          key={name} type="button" class="menu-item"
          onClick={() => void toAllMatching(deedOf(name), { type: [type], state: [state] })}
        >
          {says}
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
  type: 'runs of the type', tasks: 'tasks of the type', definition: 'definition', key: 'key',
};

function Limit({ limit: { scope, name, max, taken } }: { readonly limit: LimitView }): JSX.Element {
  const isFull = max !== null && taken >= max;
  const says = name === null ? scopes[scope] : `${scopes[scope]} ${name}`;
  return (
    <li class="limit">
      <span>
        {scope === 'definition' && name !== null
          ? <>definition <a href={href('/definitions', { name })}>{name}</a></>
          : says}
      </span>
      <span class="number">
        {number(taken)} of {max === null ? '?' : number(max)}{isFull && <> <Badge look="held" word="full" /></>}
      </span>
      {max !== null && (
        <progress
          max={max} value={Math.min(taken, max)} aria-label={`${says}: ${taken} of ${max}`} data-full={isFull}
        />
      )}
    </li>
  );
}

export const queuesPage: Page = {
  path: '/queues', title: 'Queues', view: Queues, nav: { icon: 'queues', key: 'q', group: 'Plan' },
};
