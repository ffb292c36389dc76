/** Follows a run: one live line with its progress on a terminal, one line per change when piped. */
import type { RunView } from '../../http/contract.ts';
import type { CommandApi } from '../api.ts';
import { bar, harmless, outputClosed, print, printLine } from '../print.ts';

const barWidth = 24;

export async function watchRun(api: CommandApi, id: number, asJson: boolean): Promise<void> {
  let last: RunView | null = null;
  for await (const run of api.watch(id, outputClosed)) {
    last = run;
    if (asJson) printLine(JSON.stringify(run));
    else show(run);
  }
  if (!asJson && process.stdout.isTTY) printLine();
  // Scripts read from the exit code whether the run succeeded.
  if (last?.state === 'ended' && last.standing !== 'succeeded') process.exitCode = 3;
}

function show(run: RunView): void {
  const text = harmless(describe(run));
  if (process.stdout.isTTY) print(`\r\u001b[2K${text.slice(0, process.stdout.columns - 1)}`);
  else printLine(text);
}

function describe({ id, standing, tasks, progress }: RunView): string {
  const start = `run ${id} ${standing}`;
  if (tasks !== null) {
    const done = tasks.succeeded + tasks.failed + tasks.cancelled;
    const failed = tasks.failed > 0 ? `, ${tasks.failed} failed` : '';
    return `${start} ${shareOf(done / tasks.total)} ${done}/${tasks.total} tasks${failed}`;
  }
  if (progress === null) return start;
  const { percent, stage } = progress;
  return `${start} ${percent === null ? '' : shareOf(percent / 100)} ${stage?.description ?? ''}`;
}

const shareOf = (share: number): string => `[${bar(share, barWidth)}] ${Math.floor(share * 100)}%`;
