/** The columns of the list of runs. */
import type { JSX } from 'preact';
import type { RunView } from '../../../../src/http/contract.ts';
import { Chip, RunBadge } from '../../components/badge.tsx';
import type { Column } from '../../components/table.tsx';
import { Elapsed, Time } from '../../components/time.tsx';
import { href, queryOf } from '../../router.ts';
import { number } from '../../format.ts';
import { isDueWhenAnswered, startOf } from '../../state/run-status.ts';

export const runColumns: readonly Column<RunView>[] = [
  { title: 'State', cell: (run) => <RunBadge run={run} /> },
  { title: 'Run', class: 'id', cell: ({ id }) => <a href={href(`/runs/${id}`)}>{id}</a> },
  { title: 'Type', class: 'type', cell: ({ type }) => <strong class="type-name">{type}</strong> },
  { title: 'Details', class: 'wide', cell: (run) => <Details run={run} /> },
  { title: 'Attempts', class: 'number minor', cell: ({ attempt }) => <Plain value={attempt} usual={1} /> },
  { title: 'Priority', class: 'number minor', cell: ({ priority }) => <Plain value={priority} usual={0} /> },
  { title: 'Created', class: 'number', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Due', class: 'number minor', cell: (run) => (isDueWhenAnswered(run) ? 'when answered' : <Time at={run.dueAt} />) },
  { title: 'Duration', class: 'number', cell: (run) => <Elapsed from={startOf(run)} to={run.endedAt} /> },
];

const hiddenByDefault: readonly string[] = ['Priority', 'Due'];

/** The titles of the hidden columns, from the URL. */
export function hiddenColumns(): readonly string[] {
  const chosen = queryOf('hide');
  return chosen === '' ? hiddenByDefault : chosen.split(',');
}

/** Shows a number, pale if it has the usual value. */
const Plain = ({ value, usual }: { readonly value: number; readonly usual: number }): JSX.Element =>
  <span class={value === usual ? 'faint' : ''}>{value}</span>;

/** The column with tasks, error, progress, definition and tags of a run. */
function Details({ run }: { readonly run: RunView }): JSX.Element {
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
      {def !== null && <Chip title={`Definition: ${def}`}>{def}</Chip>}
      {inMemory && <Chip title="Stored in this process only; lost when it stops">in memory</Chip>}
      {Object.entries(tags).map(([name, value]) => <Chip key={name} title={`${name}=${value}`}>{name}={value}</Chip>)}
    </span>
  );
}

function progressText({ progress }: RunView): string | null {
  const stage = progress?.stage;
  if (!stage) return progress?.process ?? null;
  const processed = number(stage.done + stage.failed);
  const far = stage.total === null ? processed : `${processed} of ${number(stage.total)}`;
  return `${stage.description ?? 'Stage'}: ${far}`;
}

/** The succeeded, failed and cancelled tasks of a run, as a small bar with counts. */
export function TaskBar({ tasks }: { readonly tasks: NonNullable<RunView['tasks']> }): JSX.Element {
  const { total, succeeded, failed, cancelled } = tasks;
  const part = (count: number): Record<string, string> => ({ flexGrow: String(count) });
  const open = Math.max(0, total - succeeded - failed - cancelled);
  return (
    <span class="task-bar" title={`${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled, ${open} open`}>
      <span class="bar" aria-hidden="true">
        <i data-status="succeeded" style={part(succeeded)} />
        <i data-status="failed" style={part(failed)} />
        <i data-status="cancelled" style={part(cancelled)} />
        <i data-status="pending" style={part(open)} />
      </span>
      {number(succeeded)} of {number(total)} done{failed > 0 && <b class="error-text">{number(failed)} failed</b>}
    </span>
  );
}
