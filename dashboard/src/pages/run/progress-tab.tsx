/** The progress of a run as a tree: processes, their stages with counts, rate and time left, and the items of each. */
import type { JSX } from 'preact';
import type { ProgressView, RunDetail } from '../../../../src/http/contract.ts';
import { Badge } from '../../components/badge.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty } from '../../components/notice.tsx';
import { Elapsed } from '../../components/time.tsx';
import { duration, number, rate } from '../../format.ts';
import { now } from '../../state/clock.ts';
import type { Status } from '../../state/run-status.ts';

type Process = ProgressView['processes'][number];
type Stage = Process['stages'][number];
type Item = Stage['items'][number];

const statuses: Readonly<Record<Process['status'], Status>> = {
  RUNNING: 'running', SUCCESS: 'succeeded', ERROR: 'failed', CANCELLED: 'cancelled',
};

interface ProgressTabProps {
  readonly run: RunDetail;
  readonly progress: ProgressView | null;
}

export function ProgressTab({ run, progress }: ProgressTabProps): JSX.Element {
  if (progress === null || progress.processes.length === 0) return <NoProgress isEnded={run.state === 'ended'} />;
  return (
    <div class="stack">
      {progress.fence !== null && progress.fence < run.fence && (
        <p class="faint">Reported by attempt {progress.fence} of {run.fence}.</p>
      )}
      {progress.processesDropped > 0 && (
        <p class="faint">{number(progress.processesDropped)} earlier ones are no longer stored.</p>
      )}
      {progress.processes.map((process, index) => <ProcessView key={index} process={process} />)}
    </div>
  );
}

const NoProgress = ({ isEnded }: { readonly isEnded: boolean }): JSX.Element => (
  <Empty title={isEnded ? 'No progress reported' : 'No progress reported yet'} icon="runs">
    {isEnded
      ? <>This job does not call <code>progress.runStage()</code>.</>
      : <>A handler reports progress with <code>progress.runStage()</code>.</>}
  </Empty>
);

function ProcessView({ process }: { readonly process: Process }): JSX.Element {
  const { status, description, startedAt, completedAt, stages, stagesDropped } = process;
  return (
    <section class="card process">
      <header>
        <Badge status={statuses[status]} />
        <h2>{description ?? 'Run'}</h2>
        <Elapsed from={startedAt} to={completedAt} />
      </header>
      <Remarks node={process} />
      {stagesDropped > 0 && <p class="faint">{number(stagesDropped)} earlier stages are no longer stored.</p>}
      <ol>
        {stages.map((stage, index) => (
          <StageView key={index} stage={stage} position={stagesDropped + index + 1} />
        ))}
      </ol>
    </section>
  );
}

interface StageViewProps {
  readonly stage: Stage;
  /** The number of the stage, counted from 1. */
  readonly position: number;
}

function StageView({ stage, position }: StageViewProps): JSX.Element {
  const { status, description, total, done, failed, skipped, started, items } = stage;
  const settled = done + failed + skipped;
  const all = total ?? Math.max(started, settled);
  const part = (count: number): Record<string, string> => ({ flexGrow: String(count) });
  return (
    <li class="stage">
      <header>
        <Badge status={statuses[status]} />
        <h3>{description ?? `Stage ${position}`}</h3>
        <StageFigures stage={stage} />
      </header>
      <span class="bar" aria-hidden="true">
        <i data-status="succeeded" style={part(done)} />
        <i data-status="failed" style={part(failed)} />
        <i data-status="cancelled" style={part(skipped)} />
        <i data-status="pending" style={part(Math.max(0, all - settled))} />
      </span>
      <Remarks node={stage} />
      {items.length > 0 && <ol class="items">{items.map((item, index) => <ItemView key={index} item={item} />)}</ol>}
    </li>
  );
}

/**
 * Shows the counts of a stage. Skipped items are separate: when a stage is cancelled, every remaining item is counted
 * as skipped.
 */
function StageFigures({ stage }: Pick<StageViewProps, 'stage'>): JSX.Element {
  const { status, total, done, failed, skipped, startedAt, completedAt } = stage;
  const processed = done + failed;
  const perMs = (processed + skipped) / Math.max(1, (completedAt ?? now.value) - startedAt);
  const leftMs = total === null || status !== 'RUNNING' || perMs === 0 ? null : (total - processed - skipped) / perMs;
  return (
    <span class="stage-figures">
      <b>{number(processed)}{total !== null && ` of ${number(total)}`}</b>
      {failed > 0 && <span class="error-text">{number(failed)} failed</span>}
      {skipped > 0 && <span>{number(skipped)} skipped</span>}
      {processed > 0 && <span>{rate(perMs)}</span>}
      {leftMs !== null && <span>about {duration(leftMs)} remaining</span>}
      <Elapsed from={startedAt} to={completedAt} />
    </span>
  );
}

function ItemView({ item }: { readonly item: Item }): JSX.Element {
  const status = statuses[item.status];
  return (
    <li class="item">
      <span class="item-state" data-status={status} title={status}>
        <Icon name={status} />
        <span class="reader-only">{status}</span>
      </span>
      <span class="item-name">{item.description ?? `item ${item.item}`}</span>
      <Elapsed from={item.startedAt} to={item.completedAt} />
      <Remarks node={item} />
    </li>
  );
}

/**
 * Matches the summary that the engine writes if the handler has not completed a process, stage or item itself. It is
 * not shown.
 */
const implicitSummary = /^\(\w+ completed implicitly\)$/;

function Remarks({ node: { summary, error } }: { readonly node: Pick<Item, 'summary' | 'error'> }): JSX.Element {
  return (
    <>
      {summary !== null && !implicitSummary.test(summary) && <p class="faint">{summary}</p>}
      {error !== null && <p class="error-text">{error}</p>}
    </>
  );
}
