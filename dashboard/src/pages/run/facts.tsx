/** The facts of a run: its times, attempts, priority and worker. */
import type { ComponentChildren, JSX } from 'preact';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { Elapsed, Time } from '../../components/time.tsx';
import { duration, number } from '../../format.ts';
import { now } from '../../state/clock.ts';
import { firstStartOf, isDueWhenAnswered, isOpen, startOf } from '../../state/run-status.ts';

export function Facts({ run }: { readonly run: RunDetail }): JSX.Element {
  const { lease } = run;
  const startedAt = firstStartOf(run);
  return (
    <dl class="strip facts-strip">
      <Fact title="Created"><Time at={run.createdAt} /></Fact>
      <Fact title="Due">{isDueWhenAnswered(run) ? 'when answered' : <Time at={run.dueAt} />}</Fact>
      <Wait run={run} startedAt={startedAt} />
      {run.queuePosition !== null && run.dueAt <= now.value && (
        <Fact title="Queue position">{number(run.queuePosition + 1)}</Fact>
      )}
      {startOf(run) !== null && (
        <Fact title={isOpen(run) ? 'Running for' : 'Duration'}><Elapsed from={startOf(run)} to={run.endedAt} /></Fact>
      )}
      {run.attempt > 1 && startedAt !== null && (
        <Fact title="All attempts"><Elapsed from={startedAt} to={run.endedAt} /></Fact>
      )}
      <Fact title="Attempt">{run.attempt}{run.crashes > 0 && <small> {run.crashes} crashed</small>}</Fact>
      <Fact title="Priority">{run.priority}</Fact>
      {run.isHandedOff && <Fact title="Handed off"><span title="Another system finishes it, with a token">yes</span></Fact>}
      {lease !== null && !run.isHandedOff && (
        <Fact title="Running on"><span class="mono" title={`fence ${run.fence}`}>{lease.holder}</span></Fact>
      )}
      {lease?.until != null && <Fact title="Lease expires"><Time at={lease.until} /></Fact>}
      {run.key !== null && <Fact title="Key"><span class="mono">{run.key}</span></Fact>}
    </dl>
  );
}

interface WaitProps {
  readonly run: RunDetail;
  readonly startedAt: number | null;
}

/** How long the run waited to start, or has been waiting. Not shown before the run is due. */
function Wait({ run, startedAt }: WaitProps): JSX.Element | null {
  if (run.waitedMs !== null) return <Fact title="Waited">{duration(run.waitedMs)}</Fact>;
  if (startedAt !== null) return null;
  if (run.dueAt >= now.value) return null;
  return <Fact title={isOpen(run) ? 'Waiting for' : 'Waited'}><Elapsed from={run.dueAt} to={run.endedAt} /></Fact>;
}

const Fact = ({ title, children }: { readonly title: string; children: ComponentChildren }): JSX.Element =>
  <div><dt>{title}</dt><dd>{children}</dd></div>;
