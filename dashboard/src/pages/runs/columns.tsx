/** The columns of the list of runs, and which of them are shown. */
import type { JSX } from 'preact';
import type { RunView } from '../../../../src/http/contract.ts';
import { Chip, RunBadge } from '../../components/badge.tsx';
import type { Column } from '../../components/table.tsx';
import { Lasting, Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { number } from '../../words.ts';

export const runColumns: readonly Column<RunView>[] = [
  { title: 'State', cell: (run) => <RunBadge run={run} /> },
  { title: 'Run', class: 'id', cell: ({ id }) => <a href={href(`/runs/${id}`)}>{id}</a> },
  { title: 'Type', class: 'type', cell: ({ type }) => <strong class="type-name">{type}</strong> },
  { title: 'About', class: 'wide', cell: (run) => <About run={run} /> },
  { title: 'Attempts', class: 'number minor', cell: ({ attempt }) => <Plain value={attempt} usual={1} /> },
  { title: 'Priority', class: 'number minor', cell: ({ priority }) => <Plain value={priority} usual={0} /> },
  { title: 'Created', class: 'number', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Due', class: 'number minor', cell: ({ dueAt }) => <Time at={dueAt} /> },
  { title: 'Lasted', class: 'number', cell: (run) => <Lasting from={lastsFrom(run)} to={run.endedAt} /> },
];

/** Of a run with tasks, `startedAt` tells only when it began to gather their results. */
const lastsFrom = ({ state, phase, createdAt, startedAt }: RunView): number | null =>
  phase === 'gather' ? createdAt : state === 'pending' ? null : startedAt;

/** Those that begin hidden. */
export const minorColumns: readonly string[] = ['Priority', 'Due'];

/** A number that stands out only if it is not the usual one. */
const Plain = ({ value, usual }: { readonly value: number; readonly usual: number }): JSX.Element =>
  <span class={value === usual ? 'faint' : ''}>{value}</span>;

/** What is most telling: the error, else how far it is, else where it comes from. */
function About({ run }: { readonly run: RunView }): JSX.Element {
  const { error, state, tasks, progress, def, tags, inMemory, cancel } = run;
  const outline = state === 'ended' ? null : progressText(run);
  return (
    <span class="about">
      {tasks !== null && <TaskBar tasks={tasks} />}
      {error !== null && run.standing !== 'succeeded' && (
        <span class="error-text" title={error.message}>{error.message}</span>
      )}
      {cancel !== null && cancel.why !== null && <span class="faint">{cancel.why}</span>}
      {outline !== null && progress !== null && <span>{outline}</span>}
      {def !== null && <Chip title="Definition">{def}</Chip>}
      {inMemory && <Chip title="It lives in this process alone and is gone with it">in memory</Chip>}
      {Object.entries(tags).map(([name, value]) => <Chip key={name}>{name}={value}</Chip>)}
    </span>
  );
}

function progressText({ progress }: RunView): string | null {
  const stage = progress?.stage;
  if (!stage) return progress?.process ?? null;
  const far = stage.total === null ? number(stage.settled) : `${number(stage.settled)} of ${number(stage.total)}`;
  return `${stage.description ?? 'Stage'}: ${far}`;
}

/** How many of its tasks are through, as a small bar with figures beside it. */
export function TaskBar({ tasks }: { readonly tasks: NonNullable<RunView['tasks']> }): JSX.Element {
  const { total, succeeded, failed, cancelled } = tasks;
  const part = (count: number): Record<string, string> => ({ flexGrow: String(count) });
  const open = Math.max(0, total - succeeded - failed - cancelled);
  return (
    <span class="task-bar" title={`${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled, ${open} open`}>
      <span class="bar" aria-hidden="true">
        <i data-look="succeeded" style={part(succeeded)} />
        <i data-look="failed" style={part(failed)} />
        <i data-look="cancelled" style={part(cancelled)} />
        <i data-look="pending" style={part(open)} />
      </span>
      {number(total - open)} of {number(total)}{failed > 0 && <b class="error-text">{number(failed)} failed</b>}
    </span>
  );
}
