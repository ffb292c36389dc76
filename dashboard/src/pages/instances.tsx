/** Instances: whether each is alive, its lease, slots and job types, and the jobs it is running. */
import type { JSX } from 'preact';
import type { InstanceView, RunView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge, Chip, RunBadge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { Elapsed, Time } from '../components/time.tsx';
import { withToast } from '../components/toast.tsx';
import { duration, number, plural } from '../format.ts';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { now } from '../state/clock.ts';
import { useChanges, useInterval } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import type { StatusLabel } from '../state/run-status.ts';
import { mayOperate } from '../state/session.ts';

const reloadMs = 3_000;
const runningMax = 200;

interface InstancesData {
  readonly instances: readonly InstanceView[];
  readonly running: readonly RunView[];
  /** Whether there are more running jobs than were read. */
  readonly isCut: boolean;
}

function Instances(): JSX.Element {
  const loaded = useResource(read, []);
  useChanges({ kind: ['run', 'task', 'bedrock'] }, loaded.reload);
  useInterval(loaded.reload, reloadMs);
  const { instances = [], running = [], isCut = false } = loaded.data ?? {};
  const runningOn = (id: string): readonly RunView[] => running.filter(({ lease }) => lease?.holder === id);
  return (
    <>
      <header class="page-head"><h1>Instances</h1></header>
      {loaded.error !== null && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {loaded.data === null && loaded.error === null && <Loading />}
      {loaded.data !== null && instances.length === 0 && (
        <Empty title="No instances" icon="instances">
          Start one with <code>stint work</code>, or connect a worker over HTTP.
        </Empty>
      )}
      <div class="stack">
        {instances.toSorted(byLife).map((instance) => (
          <Instance key={instance.id} instance={instance} running={runningOn(instance.id)} isCut={isCut} />
        ))}
        <ExternalWorkers
          running={running.filter(({ lease }) => !instances.some(({ id }) => id === lease?.holder))} isCut={isCut}
        />
      </div>
      {isCut && <p class="filter-note">Only the newest {number(runningMax)} running jobs are listed.</p>}
    </>
  );
}

async function read(signal: AbortSignal): Promise<InstancesData> {
  const [instances, running] = await Promise.all([
    call('listInstances', {}, signal),
    call('listRuns', { query: { state: ['running'], kind: ['run', 'task', 'bedrock'], limit: runningMax } }, signal),
  ]);
  return { instances: instances.items, running: running.items, isCut: running.next !== null };
}

/** Sorts live instances before dead ones, then the last started first. */
const byLife = (a: InstanceView, b: InstanceView): number =>
  Number(b.isAlive) - Number(a.isAlive) || b.startedAt - a.startedAt;

interface InstanceProps {
  readonly instance: InstanceView;
  readonly running: readonly RunView[];
  /** Whether it may run more jobs than are listed. */
  readonly isCut: boolean;
}

function Instance({ instance, running, isCut }: InstanceProps): JSX.Element {
  const { id, isAlive, isSelf, isLeader, pid } = instance;
  const isRemote = pid === 0;
  return (
    <section class="card instance" data-alive={isAlive} aria-label={`Instance ${id}`}>
      <div class="instance-head">
        <h2>{id}</h2>
        <Badge {...lifeOf(instance)} />
        {isSelf && <Chip title="The server that this dashboard is connected to">this server</Chip>}
        {isLeader && <Chip title="Does the maintenance: schedules, repair, retention">leader</Chip>}
        {isRemote && <Chip title="A worker that is connected over HTTP">remote worker</Chip>}
        {mayOperate.value && isAlive && !isRemote && <Drain instance={instance} />}
      </div>
      <InstanceFacts instance={instance} isRemote={isRemote} />
      {running.length > 0 && <RunningJobs running={running} isCut={isCut} />}
    </section>
  );
}

interface InstanceFactsProps {
  readonly instance: InstanceView;
  readonly isRemote: boolean;
}

function InstanceFacts({ instance, isRemote }: InstanceFactsProps): JSX.Element {
  const { isAlive, isDraining, canary, host, pid, version, types, slots, busy, startedAt, beatAt, leaseUntil } = instance;
  return (
    <dl class="facts">
      <dt>Heartbeat</dt><dd><Age at={beatAt} /></dd>
      <dt>Lease</dt>
      <dd>
        {isAlive
          ? <>expires in <Countdown until={leaseUntil} /></>
          : <>expired <Time at={leaseUntil} />; its jobs are reassigned</>}
      </dd>
      <dt>Slots</dt>
      <dd class="slots">
        {isRemote ? <>claims up to {plural(slots, 'job')} at a time</> : <Busy {...{ slots, busy, isDraining, canary }} />}
      </dd>
      <dt>Host</dt>
      <dd>{host}{!isRemote && <>, process {pid}</>}, version {version}, started <Time at={startedAt} /></dd>
      <dt>Job types</dt>
      <dd class="chips-row">
        {types.map((type) => <a key={type} class="chip" href={href('/types', { name: type })}>{type}</a>)}
      </dd>
    </dl>
  );
}

type BusyProps = Pick<InstanceView, 'slots' | 'busy' | 'isDraining' | 'canary'>;

const Busy = ({ slots, busy, isDraining, canary }: BusyProps): JSX.Element => (
  <>
    <progress max={Math.max(1, slots)} value={Math.min(busy, slots)} aria-label={`${busy} of ${slots} slots busy`} />
    {number(busy)} of {number(slots)} busy{isDraining && '; starts no new jobs'}
    {canary !== null && `; starts at most ${number(canary * 100)} % of shared jobs`}
  </>
);

function Drain({ instance: { id, isDraining } }: { readonly instance: InstanceView }): JSX.Element {
  const params = { id };
  const drain = async (): Promise<void> => {
    const text = 'It starts no new jobs and leaves schedules to other instances. Running jobs continue to their end.';
    const body = await confirm({ title: `Drain ${id}?`, text, action: 'Drain instance', isDanger: true });
    if (body !== null) await withToast(() => call('drainInstance', { params, body }), () => `Draining ${id}`);
  };
  const resume = async (): Promise<void> => {
    const body = await confirm({ title: `Resume ${id}?`, text: 'It starts jobs again.', action: 'Resume instance' });
    if (body !== null) await withToast(() => call('resumeInstance', { params, body }), () => `Resuming ${id}`);
  };
  return isDraining
    ? <button type="button" class="button" onClick={() => void resume()}><Icon name="play" /> Resume</button>
    : (
      <button type="button" class="button" data-kind="danger" onClick={() => void drain()}>
        <Icon name="pause" /> Drain
      </button>
    );
}

function lifeOf({ isAlive, isDraining }: InstanceView): StatusLabel {
  if (!isAlive) return { status: 'failed', text: 'lost' };
  return isDraining ? { status: 'held', text: 'draining' } : { status: 'succeeded', text: 'alive' };
}

const Age = ({ at }: { readonly at: number }): JSX.Element =>
  <span title={new Date(at).toISOString()}>{duration(Math.max(0, now.value - at))} ago</span>;

const Countdown = ({ until }: { readonly until: number }): JSX.Element =>
  <>{duration(Math.max(0, until - now.value))}</>;

function RunningJobs({ running, isCut }: Pick<InstanceProps, 'running' | 'isCut'>): JSX.Element {
  return (
    <details class="held" open={running.length <= 8}>
      <summary>Running {number(running.length)}{isCut && ' or more'}</summary>
      <ul class="lines">
        {running.map((run) => (
          <li key={run.id}>
            <a class="id" href={href(`/runs/${run.id}`)}>{run.id}</a>
            <span>{run.type}</span>
            <RunBadge run={run} />
            <span class="faint" title="Rises with every claim. A write with an older fence is refused.">
              fence {run.fence}
            </span>
            {run.lease?.until != null && (
              <span class="faint">lease expires in <Countdown until={run.lease.until} /></span>
            )}
            <Elapsed from={run.startedAt} to={null} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Shows the jobs whose holder is not in the list of instances. */
function ExternalWorkers({ running, isCut }: Pick<InstanceProps, 'running' | 'isCut'>): JSX.Element | null {
  if (running.length === 0) return null;
  return (
    <section class="card" aria-label="External workers">
      <h2>External workers</h2>
      <p class="faint">
        Workers with their own lease, and instances that are no longer listed. Their jobs are repaired when the lease
        expires.
      </p>
      <RunningJobs running={running} isCut={isCut} />
    </section>
  );
}

export const instancesPage: Page = {
  path: '/instances', title: 'Instances', view: Instances, nav: { icon: 'instances', key: 'i', group: 'Machine' },
};
