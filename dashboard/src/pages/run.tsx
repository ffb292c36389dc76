/** A run: how it stands, all that is known of it, and what can be done to it. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { RunDetail } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Chip, RunBadge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { startRun } from '../components/start-run.tsx';
import { Tabs, type Tab } from '../components/tabs.tsx';
import { Lasting, Time } from '../components/time.tsx';
import { attempt } from '../components/toast.tsx';
import type { Page, PageProps } from '../page.ts';
import { go, href } from '../router.ts';
import { useAnswer } from '../state/answer.ts';
import { now } from '../state/clock.ts';
import { useShortcuts } from '../state/keys.ts';
import { useChanges } from '../state/live.ts';
import { deeds, questionOf, type Deed } from '../state/run-deeds.ts';
import { useStory, type Story } from '../state/run-story.ts';
import { begunAt, isOpen } from '../state/run-words.ts';
import { mayOperate, mayProduce } from '../state/session.ts';
import { number, span } from '../words.ts';
import { EditRun } from './run/edit-run.tsx';
import { EventsTab } from './run/events-tab.tsx';
import { ExplainTab, sentence } from './run/explain-tab.tsx';
import { LogTab } from './run/log-tab.tsx';
import { PayloadTab } from './run/payload-tab.tsx';
import { ProgressTab } from './run/progress-tab.tsx';
import { RelationsTab } from './run/relations-tab.tsx';
import { TasksTab, useCells } from './run/tasks-tab.tsx';
import { TimelineTab } from './run/timeline-tab.tsx';

function Run({ params }: PageProps): JSX.Element {
  const id = Number(params['id']);
  if (!Number.isSafeInteger(id) || id < 1) {
    const all = <a href={href('/runs')}>look for it among all runs</a>;
    return <Empty title="A run has a number">This address has none: {all}.</Empty>;
  }
  return <KnownRun id={id} />;
}

function KnownRun({ id }: { readonly id: number }): JSX.Element {
  const { story, error, reload } = useStory(id);
  const live = useCells(id);
  useChanges({ run: id }, (changes) => {
    live.hear(changes);
    const isOwn = changes === null || changes.some(({ job }) => job === id);
    // While it is open its own stream tells; an ended one may have been opened again.
    if (isOwn && story?.run.state === 'ended') reload();
  });
  useEffect(() => {
    if (story !== null) document.title = `${story.run.type} ${id} · Stint`;
  }, [story?.run.type]);
  if (error !== null && story === null) return <Failure error={error} onRetry={reload} />;
  if (story === null) return <Loading />;
  const hasTasks = story.run.tasks !== null || (live.cells?.ids.length ?? 0) > 0;
  return (
    <>
      <Head run={story.run} onDone={reload} />
      <CancelNotice run={story.run} onDone={reload} />
      <WaitNotice run={story.run} />
      <ErrorCard run={story.run} />
      <Facts run={story.run} />
      <Tabs
        label="Parts of the run" first={hasTasks ? 'tasks' : story.progress === null ? 'payload' : 'progress'}
        tabs={tabsOf(story, hasTasks, () => <TasksTab run={story.run} live={live} />)}
      />
    </>
  );
}

function tabsOf({ run, progress, events, log }: Story, hasTasks: boolean, tasks: () => JSX.Element): readonly Tab[] {
  return [
    ...(hasTasks ? [{ name: 'tasks', title: counted('Tasks', run.tasks?.total ?? 0), view: tasks }] : []),
    { name: 'payload', title: 'Payload', view: () => <PayloadTab run={run} /> },
    { name: 'progress', title: 'Progress', view: () => <ProgressTab run={run} progress={progress} /> },
    { name: 'timeline', title: counted('Timeline', run.attempts.length), view: () => <TimelineTab run={run} /> },
    { name: 'log', title: counted('Log', log.length), view: () => <LogTab run={run} log={log} /> },
    { name: 'events', title: counted('Events', events.length), view: () => <EventsTab run={run} events={events} /> },
    { name: 'relations', title: 'Relations', view: () => <RelationsTab run={run} /> },
    { name: 'explain', title: 'Explain', view: () => <ExplainTab run={run} /> },
  ];
}

const counted = (title: string, count: number): JSX.Element => <>{title} <small>{number(count)}</small></>;

function Head({ run, onDone }: { readonly run: RunDetail; readonly onDone: () => void }): JSX.Element {
  const [isEditing, setEditing] = useState(false);
  const fitting = mayOperate.value ? deeds.filter((deed) => deed.fits(run)) : [];
  const perform = async (deed: Deed): Promise<void> => {
    const consent = await confirm(questionOf(deed, `run ${run.id}`));
    if (consent === null) return;
    const said = await attempt(() => deed.perform(run.id, consent), (text) => text);
    if (said === null) return;
    if (deed.name === 'delete') go('/runs');
    else onDone();
  };
  const startLike = (): void => startRun({ type: run.type, input: run.input, priority: run.priority, tags: run.tags });
  const mayEdit = mayOperate.value && isOpen(run);
  const mayStart = mayProduce.value && run.parent === null;
  useShortcuts([
    ...fitting.map((deed) => ({ keys: deed.key, does: `${deed.title} this run`, run: () => void perform(deed) })),
    ...(mayEdit ? [{ keys: 'e', does: 'Edit this run', run: () => setEditing(true) }] : []),
    ...(mayStart ? [{ keys: 'l', does: 'Start a run like this', run: startLike }] : []),
  ]);
  return (
    <header class="page-head run-head">
      <RunBadge run={run} />
      <h1>{run.type} <span class="run-id">{run.id}</span></h1>
      <span class="run-marks">
        {run.parent !== null && <span>task of <a href={href(`/runs/${run.parent}`)}>run {run.parent}</a></span>}
        {run.def !== null && <a class="chip" href={href('/definitions', { name: run.def })}>{run.def}</a>}
        {run.inMemory && <Chip title="It lives in this process alone and is gone with it">in memory</Chip>}
        {Object.entries(run.tags).map(([name, value]) => <Chip key={name}>{name}={value}</Chip>)}
      </span>
      <div class="page-acts">
        {mayStart && (
          <button type="button" class="button" onClick={startLike}><Icon name="copy" /> Start like this</button>
        )}
        {mayEdit && (
          <button type="button" class="button" onClick={() => setEditing(true)}><Icon name="edit" /> Edit</button>
        )}
        {fitting.map((deed) => (
          <button
            key={deed.name} type="button" class="button" data-kind={deed.isDanger ? 'danger' : undefined!}
            onClick={() => void perform(deed)}
          >
            <Icon name={deed.icon} /> {deed.title}
          </button>
        ))}
      </div>
      {isEditing && <EditRun run={run} onClose={() => setEditing(false)} onDone={onDone} />}
    </header>
  );
}

/** Asked and not yet acknowledged, or acknowledged and when. */
function CancelNotice({ run, onDone }: { readonly run: RunDetail; readonly onDone: () => void }): JSX.Element | null {
  const { cancel } = run;
  if (cancel === null) return null;
  const stop = deeds.find(({ name }) => name === 'stop')!;
  const stopNow = async (): Promise<void> => {
    const consent = await confirm(questionOf(stop, `run ${run.id}`));
    if (consent !== null && (await attempt(() => stop.perform(run.id, consent), (text) => text)) !== null) onDone();
  };
  const because = cancel.why !== null && <> because <q>{cancel.why}</q></>;
  const asked = <>asked by <b>{cancel.by}</b> <Time at={cancel.at} />{because}</>;
  if (run.endedAt !== null) {
    return (
      <p class="strip-notice" data-look="cancelled">
        <Icon name="cancelled" />
        <span>Cancel {asked}, acknowledged after {span(Math.max(0, run.endedAt - cancel.at))}.</span>
      </p>
    );
  }
  return (
    <p class="strip-notice" data-look="cancelling" role="status">
      <Icon name="cancelling" />
      <span>
        Cancel {asked}. It is not acknowledged yet: what runs gives up at its next step
        {run.lease !== null && <>, held by <b>{run.lease.holder}</b></>}
        {cancel.stopAt !== null && <>, and is stopped <Time at={cancel.stopAt} /></>}.
      </span>
      {mayOperate.value && (
        <button type="button" class="button" data-kind="danger" onClick={() => void stopNow()}>Stop now</button>
      )}
    </p>
  );
}

/** What keeps a waiting run from running, in a sentence. */
function WaitNotice({ run }: { readonly run: RunDetail }): JSX.Element | null {
  const isWaiting = run.state === 'pending' || (run.state === 'held' && run.hold !== 'children');
  const reasons = useAnswer(
    async (abort) => (isWaiting ? call('explainRun', { params: { id: run.id } }, abort) : null),
    [run.id, run.version, isWaiting],
  );
  const [first, ...rest] = reasons.data?.items ?? [];
  if (!isWaiting || first === undefined) return null;
  return (
    <p class="strip-notice" data-look="held">
      <Icon name="question" />
      <span>
        Why is it not running?{' '}
        {first.code === 'not.due' ? <>It is due <Time at={run.dueAt} />.</> : sentence(first.says)}
        {rest.length > 0 && ` And ${number(rest.length)} more: see Explain.`}
      </span>
    </p>
  );
}

function ErrorCard({ run }: { readonly run: RunDetail }): JSX.Element | null {
  const { error } = run;
  if (error === null || run.standing === 'succeeded') return null;
  return (
    <section class="error-card" aria-label="Error">
      <p><Icon name="failures" /> {error.code !== 'unknown' && <b>{error.code}: </b>}<span>{error.message}</span></p>
      {error.stack !== undefined && <details><summary>Stack</summary><pre>{error.stack}</pre></details>}
    </section>
  );
}

function Facts({ run }: { readonly run: RunDetail }): JSX.Element {
  const { lease } = run;
  const begun = begunAt(run);
  return (
    <dl class="strip facts-strip">
      <Fact title="Created"><Time at={run.createdAt} /></Fact>
      <Fact title="Due"><Time at={run.dueAt} /></Fact>
      <Fact title="Waited">
        {begun === null && <Lasting from={run.dueAt < now.value ? run.dueAt : null} to={null} />}
        {begun !== null && span(Math.max(0, begun - run.createdAt))}
      </Fact>
      <Fact title="Lasted"><Lasting from={begun} to={run.endedAt} /></Fact>
      <Fact title="Attempt">{run.attempt}{run.crashes > 0 && <small> {run.crashes} crashed</small>}</Fact>
      <Fact title="Priority">{run.priority}</Fact>
      {lease !== null && (
        <Fact title="Held by">
          <span class="mono">{lease.holder}</span> <small>{lease.doing}, fence {run.fence}</small>
        </Fact>
      )}
      {lease?.until != null && <Fact title="Lease until"><Time at={lease.until} /></Fact>}
      {run.key !== null && <Fact title="Key"><span class="mono">{run.key}</span></Fact>}
    </dl>
  );
}

const Fact = ({ title, children }: { readonly title: string; children: ComponentChildren }): JSX.Element =>
  <div><dt>{title}</dt><dd>{children}</dd></div>;

export const runPage: Page = { path: '/runs/:id', title: 'Run', view: Run };
