/** Follows a run: one live line with its progress on a terminal, one line per change when piped. */
import type { RunHandle, Snapshot } from '../../engine/run-handle.ts';
import { runView } from '../../http/views.ts';
import { outline } from '../../model/progress.ts';
import { standingOf } from '../../store/query.ts';
import { bar, harmless, isOutputClosed, print, printLine } from '../print.ts';

const barWidth = 24;

export async function watchRun(run: RunHandle, asJson: boolean): Promise<void> {
  let last: Snapshot | null = null;
  for await (const snapshot of run.watch()) {
    last = snapshot;
    if (isOutputClosed()) return;
    if (asJson) printLine(JSON.stringify(runView(snapshot.job, 'full', snapshot)));
    else show(snapshot);
  }
  if (!asJson && process.stdout.isTTY) printLine();
  // Scripts read from the exit code whether the run succeeded.
  if (last?.job.state === 'ended' && last.job.fate !== 'succeeded') process.exitCode = 3;
}

function show(snapshot: Snapshot): void {
  const text = harmless(describe(snapshot));
  if (process.stdout.isTTY) print(`\r\u001b[2K${text.slice(0, process.stdout.columns - 1)}`);
  else printLine(text);
}

function describe({ job, tasks, progress }: Snapshot): string {
  const standing = `run ${job.id} ${standingOf(job)}`;
  if (tasks.total > 0) {
    const done = tasks.succeeded + tasks.failed + tasks.cancelled;
    const failed = tasks.failed > 0 ? `, ${tasks.failed} failed` : '';
    return `${standing} ${shareOf(done / tasks.total)} ${done}/${tasks.total} tasks${failed}`;
  }
  if (progress === null) return standing;
  const { percent, stage } = outline(progress);
  return `${standing} ${percent === null ? '' : shareOf(percent / 100)} ${stage?.description ?? ''}`;
}

const shareOf = (share: number): string => `[${bar(share, barWidth)}] ${Math.floor(share * 100)}%`;
