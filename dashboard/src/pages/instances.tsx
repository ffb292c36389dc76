/** Instances: who is there to work, whether each still beats, what it knows, and how busy it is. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { InstanceView, RunView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge, Chip, RunBadge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { Lasting, Time } from '../components/time.tsx';
import { attempt } from '../components/toast.tsx';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { useAnswer } from '../state/answer.ts';
import { now } from '../state/clock.ts';
import { isHidden, isLive, useChanges } from '../state/live.ts';
import { mayOperate } from '../state/session.ts';
import { number, span } from '../words.ts';

const lookAgainMs = 3_000;
const heldMax = 200;

interface Picture {
  readonly instances: readonly InstanceView[];
  /** The jobs that somebody holds now. */
  readonly held: readonly RunView[];
  readonly isCut: boolean;
}

function Instances(): JSX.Element {
  const picture = useAnswer(read, []);
  useChanges({ kind: ['run', 'task', 'bedrock'] }, picture.reload);
  useEffect(() => {
    // A beat is no event.
    const again = setInterval(() => {
      if (isLive.peek() && !isHidden.peek()) picture.reload();
    }, lookAgainMs);
    return () => clearInterval(again);
  }, []);
  const { instances = [], held = [], isCut = false } = picture.data ?? {};
  return (
    <>
      <header class="page-head"><h1>Instances</h1></header>
      {picture.error !== null && <Failure error={picture.error} onRetry={picture.reload} />}
      {picture.data === null && picture.error === null && <Loading />}
      {picture.data !== null && instances.length === 0 && (
        <Empty title="Nobody is there to work" icon="instances">
          Start one with <code>stint work</code>, or a worker that asks over HTTP.
        </Empty>
      )}
      <div class="stack">
        {instances.toSorted(byLife).map((instance) => (
          <Instance
            key={instance.id} instance={instance} held={held.filter(({ lease }) => lease?.holder === instance.id)}
          />
        ))}
        <Orphans held={held.filter(({ lease }) => !instances.some(({ id }) => id === lease?.holder))} />
      </div>
      {isCut && <p class="filter-note">Only the {number(heldMax)} newest jobs that are held are shown.</p>}
    </>
  );
}

async function read(signal: AbortSignal): Promise<Picture> {
  const [instances, held] = await Promise.all([
    call('listInstances', {}, signal),
    call('listRuns', { query: { state: ['running'], kind: ['run', 'task', 'bedrock'], limit: heldMax } }, signal),
  ]);
  return { instances: instances.items, held: held.items, isCut: held.next !== null };
}

const byLife = (a: InstanceView, b: InstanceView): number =>
  Number(b.isAlive) - Number(a.isAlive) || b.startedAt - a.startedAt;

interface InstanceProps {
  readonly instance: InstanceView;
  readonly held: readonly RunView[];
}

function Instance({ instance, held }: InstanceProps): JSX.Element {
  const { id, isAlive, isSelf, isDraining, host, pid, version, types, slots, busy } = instance;
  const { startedAt, beatAt, leaseUntil } = instance;
  const isRemote = pid === 0;
  return (
    <section class="card instance" data-alive={isAlive} aria-label={`Instance ${id}`}>
      <div class="instance-head">
        <h2>{id}</h2>
        <Badge {...lifeOf(instance)} />
        {isSelf && <Chip title="The one that answers you">this server</Chip>}
        {isRemote && <Chip title="A worker that asks over HTTP">remote worker</Chip>}
        {mayOperate.value && isAlive && !isRemote && <Drain instance={instance} />}
      </div>
      <dl class="facts">
        <dt>Last beat</dt><dd><BeatAge at={beatAt} /></dd>
        <dt>Lease</dt>
        <dd>
          {isAlive
            ? <>ends in <Countdown until={leaseUntil} /> unless it beats</>
            : <>ended <Time at={leaseUntil} />: what it held is taken over</>}
        </dd>
        <dt>Slots</dt>
        <dd class="slots">
          <progress
            max={Math.max(1, slots)} value={Math.min(busy, slots)} aria-label={`${busy} of ${slots} slots are busy`}
          />
          {number(busy)} of {number(slots)} busy{isDraining && ', takes no more'}
        </dd>
        <dt>Runs on</dt>
        <dd>{host}{!isRemote && <>, process {pid}</>}, version {version}, since <Time at={startedAt} /></dd>
        <dt>Knows</dt>
        <dd class="chips-row">
          {types.map((type) => <a key={type} class="chip" href={href('/types', { name: type })}>{type}</a>)}
        </dd>
      </dl>
      {held.length > 0 && <Held held={held} />}
    </section>
  );
}

function Drain({ instance: { id, isDraining } }: { readonly instance: InstanceView }): JSX.Element {
  const drain = async (): Promise<void> => {
    const says = 'It takes no more work. What it runs goes on to its end, and its schedules are left to others.';
    const body = await confirm({ title: `Drain ${id}?`, says, verb: 'Drain', isDanger: true });
    if (body !== null) {
      await attempt(() => call('drainInstance', { params: { id }, body }), () => `${id} was asked to drain`);
    }
  };
  const resume = async (): Promise<void> => {
    const body = await confirm({ title: `Resume ${id}?`, says: 'It takes work again.', verb: 'Resume' });
    if (body !== null) {
      await attempt(() => call('resumeInstance', { params: { id }, body }), () => `${id} was asked to go on`);
    }
  };
  return isDraining
    ? <button type="button" class="button" onClick={() => void resume()}><Icon name="play" /> Resume</button>
    : (
      <button type="button" class="button" data-kind="danger" onClick={() => void drain()}>
        <Icon name="pause" /> Drain
      </button>
    );
}

function lifeOf({ isAlive, isDraining }: InstanceView): { look: 'failed' | 'held' | 'succeeded'; word: string } {
  if (!isAlive) return { look: 'failed', word: 'gone' };
  return isDraining ? { look: 'held', word: 'drains' } : { look: 'succeeded', word: 'alive' };
}

const BeatAge = ({ at }: { readonly at: number }): JSX.Element =>
  <span title={new Date(at).toISOString()}>{span(Math.max(0, now.value - at))} ago</span>;

const Countdown = ({ until }: { readonly until: number }): JSX.Element => <>{span(Math.max(0, until - now.value))}</>;

function Held({ held }: { readonly held: readonly RunView[] }): JSX.Element {
  return (
    <details class="held" open={held.length <= 8}>
      <summary>Holds {number(held.length)}</summary>
      <ul class="lines">
        {held.map((run) => (
          <li key={run.id}>
            <a class="id" href={href(`/runs/${run.id}`)}>{run.id}</a>
            <span>{run.type}</span>
            <RunBadge run={run} />
            <span class="faint" title="Who lost its lease writes nothing under an old fence">
              fence {run.fence}, {run.lease?.doing}
            </span>
            {run.lease?.until != null && <span class="faint">lease ends in <Countdown until={run.lease.until} /></span>}
            <Lasting from={run.startedAt} to={null} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Held by whoever is not on the list any more: repair will judge what it left behind. */
function Orphans({ held }: { readonly held: readonly RunView[] }): JSX.Element | null {
  if (held.length === 0) return null;
  return (
    <section class="card" aria-label="Held by others">
      <h2>Held by others</h2>
      <p class="faint">
        Workers of their own lease, or instances that are not listed any more: their jobs are repaired when the lease
        ends.
      </p>
      <Held held={held} />
    </section>
  );
}

export const instancesPage: Page = {
  path: '/instances', title: 'Instances', view: Instances, nav: { icon: 'instances', key: 'i', group: 'Machine' },
};
