/** The progress of a run as a tree: processes, their stages with totals, rate and time left, and the items of each. */
import type { JSX } from 'preact';
import type { ProgressView, RunDetail } from '../../../../src/http/contract.ts';
import { Badge } from '../../components/badge.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty } from '../../components/notice.tsx';
import { Lasting } from '../../components/time.tsx';
import { now } from '../../state/clock.ts';
import type { Look } from '../../state/run-words.ts';
import { number, rate, span } from '../../words.ts';

type Process = ProgressView['processes'][number];
type Stage = Process['stages'][number];
type Item = Stage['items'][number];
type Status = Process['status'];

const looks: Readonly<Record<Status, Look>> = {
  RUNNING: 'running', SUCCESS: 'succeeded', ERROR: 'failed', CANCELLED: 'cancelled',
};

interface ProgressTabProps {
  readonly run: RunDetail;
  readonly progress: ProgressView | null;
}

export function ProgressTab({ run, progress }: ProgressTabProps): JSX.Element {
  if (progress === null || progress.processes.length === 0) {
    return (
      <Empty title="It has told no progress" icon="runs">
        {run.state === 'ended' ? 'Its code uses none of' : 'It may yet: its code tells it by'}{' '}
        <code>progress.runStage</code> and the like.
      </Empty>
    );
  }
  return (
    <div class="stack">
      {progress.processesDropped > 0 && (
        <p class="faint">Processes no longer kept: {number(progress.processesDropped)}</p>
      )}
      {progress.processes.map((process, index) => <ProcessView key={index} process={process} />)}
    </div>
  );
}

function ProcessView({ process }: { readonly process: Process }): JSX.Element {
  return (
    <section class="card process">
      <header>
        <Badge look={looks[process.status]} />
        <h2>{process.description ?? 'Process'}</h2>
        <Lasting from={process.startedAt} to={process.completedAt} />
      </header>
      <Remarks node={process} />
      {process.stagesDropped > 0 && <p class="faint">Stages no longer kept: {number(process.stagesDropped)}</p>}
      <ol>{process.stages.map((stage, index) => <StageView key={index} stage={stage} />)}</ol>
    </section>
  );
}

function StageView({ stage }: { readonly stage: Stage }): JSX.Element {
  const { status, description, total, done, failed, skipped, started, startedAt, completedAt, items } = stage;
  const settled = done + failed + skipped;
  const all = total ?? Math.max(started, settled);
  const isRunning = status === 'RUNNING';
  const elapsed = Math.max(1, (completedAt ?? now.value) - startedAt);
  const perMs = settled / elapsed;
  const left = total === null || !isRunning || perMs === 0 ? null : (total - settled) / perMs;
  const part = (count: number): Record<string, string> => ({ flexGrow: String(count) });
  return (
    <li class="stage">
      <header>
        <Badge look={looks[status]} />
        <h3>{description ?? 'Stage'}</h3>
        <span class="stage-figures">
          <b>{number(settled)}{total !== null && ` of ${number(total)}`}</b>
          {failed > 0 && <span class="error-text">{number(failed)} failed</span>}
          {skipped > 0 && <span>{number(skipped)} skipped</span>}
          {settled > 0 && <span>{rate(perMs)}</span>}
          {left !== null && <span>about {span(left)} left</span>}
          <Lasting from={startedAt} to={completedAt} />
        </span>
      </header>
      <span class="bar" aria-hidden="true">
        <i data-look="succeeded" style={part(done)} />
        <i data-look="failed" style={part(failed)} />
        <i data-look="cancelled" style={part(skipped)} />
        <i data-look="pending" style={part(Math.max(0, all - settled))} />
      </span>
      <Remarks node={stage} />
      {items.length > 0 && <ol class="items">{items.map((item, index) => <ItemView key={index} item={item} />)}</ol>}
    </li>
  );
}

function ItemView({ item }: { readonly item: Item }): JSX.Element {
  return (
    <li class="item">
      <span class="item-state" data-look={looks[item.status]} title={looks[item.status]}>
        <Icon name={looks[item.status]} />
        <span class="reader-only">{looks[item.status]}</span>
      </span>
      <span>{item.description ?? `item ${item.item}`}</span>
      <Lasting from={item.startedAt} to={item.completedAt} />
      <Remarks node={item} />
    </li>
  );
}

function Remarks({ node }: { readonly node: Pick<Item, 'summary' | 'error'> }): JSX.Element {
  return (
    <>
      {node.summary !== null && <p class="faint">{node.summary}</p>}
      {node.error !== null && <p class="error-text">{node.error}</p>}
    </>
  );
}
