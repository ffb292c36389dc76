/** A run: its status, facts and tabs, and the actions on it. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { Tabs, type Tab } from '../components/tabs.tsx';
import { number } from '../format.ts';
import type { Page, PageProps } from '../page.ts';
import { href } from '../router.ts';
import { useChanges } from '../state/live.ts';
import { useRunData, type RunData } from '../state/run-data.ts';
import { EventsTab } from './run/events-tab.tsx';
import { ExplainTab } from './run/explain-tab.tsx';
import { Facts } from './run/facts.tsx';
import { Head } from './run/head.tsx';
import { LogTab } from './run/log-tab.tsx';
import { OutputTab } from './run/output-tab.tsx';
import { CancelNotice, ErrorNotice, WaitNotice } from './run/notices.tsx';
import { PayloadTab } from './run/payload-tab.tsx';
import { ProgressTab } from './run/progress-tab.tsx';
import { RelationsTab } from './run/relations-tab.tsx';
import { StepsTab } from './run/steps-tab.tsx';
import { TasksTab, useCells } from './run/tasks-tab.tsx';
import { TimelineTab } from './run/timeline-tab.tsx';

function Run({ params }: PageProps): JSX.Element {
  const id = Number(params['id']);
  if (!Number.isSafeInteger(id) || id < 1) {
    return <Empty title="Not a run number"><a href={href('/runs')}>Search all runs</a>.</Empty>;
  }
  return <RunById id={id} />;
}

function RunById({ id }: { readonly id: number }): JSX.Element {
  const { data, error, reload } = useRunData(id);
  const cells = useCells(id);
  useChanges({ run: id }, (changes) => {
    cells.apply(changes);
    const isOwn = changes === null || changes.some(({ job }) => job === id);
    // An open run is updated by its own stream. An ended run has no stream; if it changes, it may have been retried.
    if (isOwn && data?.run.state === 'ended') reload();
  });
  useEffect(() => {
    if (data !== null) document.title = `${data.run.type} ${id} · Stint`;
  }, [data?.run.type]);
  if (error !== null && data === null) return <Failure error={error} onRetry={reload} />;
  if (data === null) return <Loading />;
  const hasTasks = data.run.tasks !== null || (cells.cells?.ids.length ?? 0) > 0;
  return (
    <>
      <Head run={data.run} onDone={reload} />
      <CancelNotice run={data.run} onDone={reload} />
      <WaitNotice run={data.run} />
      <ErrorNotice run={data.run} />
      <Facts run={data.run} />
      <Tabs
        label="Run" first={hasTasks ? 'tasks' : data.progress === null ? 'payload' : 'progress'}
        tabs={tabsOf(data, hasTasks, () => <TasksTab run={data.run} live={cells} />)}
      />
    </>
  );
}

function tabsOf({ run, progress, events, log }: RunData, hasTasks: boolean, tasks: () => JSX.Element): readonly Tab[] {
  return [
    ...(hasTasks ? [{ name: 'tasks', title: counted('Tasks', run.tasks?.total ?? 0), view: tasks }] : []),
    { name: 'payload', title: 'Payload', view: () => <PayloadTab run={run} /> },
    { name: 'progress', title: 'Progress', view: () => <ProgressTab run={run} progress={progress} /> },
    { name: 'steps', title: 'Steps', view: () => <StepsTab run={run} /> },
    { name: 'timeline', title: counted('Timeline', run.attempts.length), view: () => <TimelineTab run={run} /> },
    { name: 'log', title: counted('Log', log.length), view: () => <LogTab run={run} log={log} /> },
    { name: 'output', title: 'Output', view: () => <OutputTab run={run} /> },
    { name: 'events', title: counted('Events', events.length), view: () => <EventsTab run={run} events={events} /> },
    { name: 'relations', title: 'Relations', view: () => <RelationsTab run={run} /> },
    { name: 'explain', title: 'Explain', view: () => <ExplainTab run={run} /> },
  ];
}

const counted = (title: string, count: number): JSX.Element => <>{title} <small>{number(count)}</small></>;

export const runPage: Page = { path: '/runs/:id', title: 'Run', view: Run };
