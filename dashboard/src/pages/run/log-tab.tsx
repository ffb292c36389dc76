/** The log of a run; new lines appear as they are written. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LogLineView, RunDetail } from '../../../../src/http/contract.ts';
import { CheckField } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { queryOf, setQuery } from '../../router.ts';
import { plural } from '../../format.ts';
import { download } from '../../download.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;
const shownMax = 5_000;

interface LogTabProps {
  readonly run: RunDetail;
  readonly log: readonly LogLineView[];
}

export function LogTab({ run, log }: LogTabProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const level = queryOf('level') || 'debug';
  const minLevel = levels.indexOf(level as LogLineView['level']);
  const shown = log.filter((line) => levels.indexOf(line.level) >= minLevel).slice(-shownMax);
  const setLevel = (next: string): void => setQuery({ level: next === 'debug' ? null : next }, false);
  useEffect(() => {
    if (isFollowing && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [shown.length, isFollowing]);
  if (log.length === 0) {
    return (
      <Empty title="No log lines" icon="runs">
        A handler writes them with <code>log.info(…)</code>. New lines appear here at once.
      </Empty>
    );
  }
  const labelOf = run.attempts.length > 1 ? attemptLabel : () => null;
  const textOf = (line: LogLineView): string =>
    `${[new Date(line.at).toISOString(), line.level, labelOf(line), line.text].filter(Boolean).join(' ')}\n`;
  const save = (): void => download(`run-${run.id}.log`, log.map(textOf).join(''), 'text/plain');
  return (
    <section>
      <div class="tab-head">
        <span class="faint">{plural(log.length, 'line')}</span>
        <span class="filters-right">
          <select
            class="control" aria-label="Level" value={level}
            onChange={({ currentTarget }) => setLevel(currentTarget.value)}
          >
            {levels.map((one) => (
              <option key={one} value={one}>{one === 'debug' ? 'All levels' : `${one} and above`}</option>
            ))}
          </select>
          <CheckField label="Follow" isOn={isFollowing} onChange={setFollowing} />
          <button type="button" class="button" onClick={save}><Icon name="export" /> Download</button>
        </span>
      </div>
      <div class="log" ref={box} role="log" aria-label="Log" tabIndex={0}>
        {shown.map((line) => (
          <div key={line.n} class="log-line" data-level={line.level}>
            <Time at={line.at} isExact />
            <b>{line.level}</b>
            <span>{line.text}</span>
            <small class="faint">{labelOf(line)}</small>
          </div>
        ))}
      </div>
    </section>
  );
}

/** Names the attempt that wrote a line; null: a version that stored no attempt wrote it. */
const attemptLabel = ({ fence }: LogLineView): string | null => (fence === null ? null : `attempt ${fence}`);
