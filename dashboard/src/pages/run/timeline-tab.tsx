/** The timeline: every attempt as a bar on one scale, from creation to the end, with what it waited in between. */
import type { JSX } from 'preact';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { Empty } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { now } from '../../state/clock.ts';
import type { Look } from '../../state/run-words.ts';
import { span } from '../../words.ts';

type Attempt = RunDetail['attempts'][number];

export function TimelineTab({ run }: { readonly run: RunDetail }): JSX.Element {
  const attempts = run.attempts.toReversed();
  if (attempts.length === 0) {
    return <Empty title="Nobody has begun it yet" icon="clock">The tab Explain tells what it waits for.</Empty>;
  }
  const end = run.endedAt ?? now.value;
  const length = Math.max(1, end - run.createdAt);
  const place = (from: number, to: number): Record<string, string> => ({
    left: `${((from - run.createdAt) / length) * 100}%`,
    width: `max(3px, ${((to - from) / length) * 100}%)`,
  });
  return (
    <section class="card timeline">
      <div class="timeline-scale">
        <Time at={run.createdAt} isExact /><span>{span(length)}</span><Time at={run.endedAt ?? end} isExact />
      </div>
      <ol>
        {attempts.map((attempt, index) => {
          const begun = attempts[index - 1]?.end ?? run.createdAt;
          const until = attempt.end ?? end;
          return (
            <li key={attempt.start}>
              <div class="timeline-lane">
                <i class="wait" style={place(begun, attempt.start)} />
                <i class="try" data-look={lookOf(attempt)} style={place(attempt.start, until)} />
              </div>
              <p>
                <b>Attempt {index + 1}</b>
                <span>{phaseWords[attempt.phase]}</span>
                <span>{span(until - attempt.start)} after {span(Math.max(0, attempt.start - begun))} of waiting</span>
                {attempt.worker !== null && <span class="mono faint">{attempt.worker}</span>}
                {attempt.end !== null && <span class="faint">{attempt.endedBy ?? 'succeeded'}</span>}
              </p>
              {attempt.error !== null && (
                <p class="error-text">
                  {attempt.error.code !== 'unknown' && `${attempt.error.code}: `}{attempt.error.message}
                </p>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const phaseWords: Readonly<Record<Attempt['phase'], string>> = {
  prepare: 'planned its tasks', run: 'ran', gather: 'gathered results',
};

function lookOf({ end, error, endedBy }: Attempt): Look {
  if (error !== null) return 'failed';
  if (end === null) return 'running';
  return endedBy === 'cancelled' ? 'cancelled' : 'succeeded';
}
