/** The timeline: every attempt as a bar, and the waits between attempts, from the creation to the end of the run. */
import type { JSX } from 'preact';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { Empty } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { duration } from '../../format.ts';
import { now } from '../../state/clock.ts';
import type { Status } from '../../state/run-status.ts';

type Attempt = RunDetail['attempts'][number];

/** The period that the full width of the timeline covers. */
interface Scale {
  readonly start: number;
  readonly end: number;
}

export function TimelineTab({ run }: { readonly run: RunDetail }): JSX.Element {
  const attempts = run.attempts.toReversed();
  if (attempts.length === 0) {
    return <Empty title="No attempts yet" icon="clock">The Explain tab shows what the run is waiting for.</Empty>;
  }
  const scale = { start: run.createdAt, end: run.endedAt ?? now.value };
  return (
    <section class="card timeline">
      <div class="timeline-scale">
        <Time at={scale.start} isExact /><span>{duration(lengthOf(scale))}</span><Time at={scale.end} isExact />
      </div>
      <ol>
        {attempts.map((attempt, index) => (
          <AttemptRow
            key={attempt.start} attempt={attempt} scale={scale}
            waitedFrom={attempts[index - 1]?.end ?? run.createdAt}
          />
        ))}
      </ol>
    </section>
  );
}

interface AttemptRowProps {
  readonly attempt: Attempt;
  readonly waitedFrom: number;
  readonly scale: Scale;
}

function AttemptRow({ attempt, waitedFrom, scale }: AttemptRowProps): JSX.Element {
  const { fence, start, error, worker, phase } = attempt;
  const end = attempt.end ?? scale.end;
  return (
    <li>
      <div class="timeline-lane">
        <i class="wait" style={barStyle(scale, waitedFrom, start)} />
        <i class="try" data-status={statusOf(attempt)} style={barStyle(scale, start, end)} />
      </div>
      <p>
        <b>{fence === null ? 'Not executed' : `Attempt ${fence}`}</b>
        {fence !== null && <span>{phaseTexts[phase]}</span>}
        <span>{duration(end - start)}, after waiting {duration(Math.max(0, start - waitedFrom))}</span>
        {worker !== null && <span class="mono faint">{worker}</span>}
        {attempt.end !== null && <span class="faint">{attempt.endedBy ?? 'succeeded'}</span>}
      </p>
      {error !== null && <p class="error-text">{error.code !== 'unknown' && `${error.code}: `}{error.message}</p>}
    </li>
  );
}

const lengthOf = ({ start, end }: Scale): number => Math.max(1, end - start);

function barStyle(scale: Scale, from: number, to: number): Record<string, string> {
  const length = lengthOf(scale);
  return {
    left: `${((from - scale.start) / length) * 100}%`,
    width: `max(3px, ${((to - from) / length) * 100}%)`,
  };
}

const phaseTexts: Readonly<Record<Attempt['phase'], string>> = {
  prepare: 'planned tasks', run: 'ran', gather: 'gathered results',
};

function statusOf({ end, error, endedBy }: Attempt): Status {
  if (error !== null) return 'failed';
  if (end === null) return 'running';
  return endedBy === 'cancelled' ? 'cancelled' : 'succeeded';
}
