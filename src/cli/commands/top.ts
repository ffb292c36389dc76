/** `stint top`: a live view of instances, types and runs; one snapshot when piped. */
import type { Command } from 'commander';
import type { RunView } from '../../http/contract.ts';
import { systemClock } from '../../time/clock.ts';
import type { CommandApi } from '../api.ts';
import { countEnding, takePerSecond, type EndingCounts } from '../ending-rates.ts';
import { secondsMs } from '../number-flag.ts';
import { printJson, printLine, styled } from '../print.ts';
import { addApiFlags, type CommonFlags } from '../session.ts';
import { frameOf, type FrameLine, type Moment } from '../top-frame.ts';
import { withApi } from '../with-api.ts';

interface TopOptions extends CommonFlags {
  readonly every: string;
}

const runningMax = 30;
/** How many pages of held runs are read to find those that wait for tasks, if most of them are paused. */
const heldPagesMax = 10;
const heldPage = 100;

export function topCommand(program: Command): void {
  const description = 'show a live view; when piped, one snapshot with the rates of one interval';
  addApiFlags(program.command('top').description(description))
    .option('--every <seconds>', 'refresh interval in seconds', '1')
    .action(top);
}

const top = (options: TopOptions): Promise<void> =>
  withApi(options, async (api) => {
    const everyMs = secondsMs('--every', options.every, 0.2);
    if (options.json) {
      const { rates: _rates, ...moment } = await momentOf(api, new Map());
      return printJson(moment);
    }
    return process.stdout.isTTY ? watchScreen(api, everyMs) : printOnce(api, everyMs);
  });

/** Prints one snapshot. The rates are those of one interval, for which it waits. */
async function printOnce(api: CommandApi, everyMs: number): Promise<void> {
  const leave = new AbortController();
  const counted: EndingCounts = new Map();
  void count(api, counted, leave.signal);
  const start = systemClock.monotonic();
  await systemClock.sleep(everyMs, leave.signal);
  const moment = await momentOf(api, takePerSecond(counted, (systemClock.monotonic() - start) / 1000));
  leave.abort();
  for (const line of frameOf(moment, { columns: Infinity, rows: Infinity }).slice(0, -1)) printLine(textOf(line));
}

async function watchScreen(api: CommandApi, everyMs: number): Promise<void> {
  const leave = new AbortController();
  const counted: EndingCounts = new Map();
  void count(api, counted, leave.signal);
  const restore = takeScreen(() => leave.abort());
  try {
    for (let last = systemClock.monotonic(); !leave.signal.aborted;) {
      const now = systemClock.monotonic();
      draw(await momentOf(api, takePerSecond(counted, (now - last) / 1000)));
      last = now;
      await systemClock.sleep(everyMs, leave.signal);
    }
  } finally {
    restore();
  }
}

/** Counts the jobs that end from now on, by type and fate. */
async function count(api: CommandApi, counted: EndingCounts, signal: AbortSignal): Promise<void> {
  for await (const change of api.changes(signal)) countEnding(counted, change);
}

async function momentOf(api: CommandApi, rates: Moment['rates']): Promise<Moment> {
  // Held and running jobs are listed separately, so that many paused jobs do not hide the running jobs.
  const { items: running } = await api.call('listRuns', { query: { state: ['running'], with: ['progress'], limit: runningMax } });
  const { now, types: tallies, oldestReady } = await api.call('stats');
  return {
    now,
    store: api.address,
    instances: (await api.call('listInstances')).items,
    tallies,
    rates,
    running: [...running, ...(await waitingForTasks(api))].sort((a, b) => b.id - a.id).slice(0, runningMax),
    oldestDue: oldestReady?.dueAt ?? null,
  };
}

/** Returns the newest runs that wait for their tasks. Paused runs are held, too, and may be newer. */
async function waitingForTasks(api: CommandApi): Promise<readonly RunView[]> {
  const waiting: RunView[] = [];
  let after: { readonly after?: number } = {};
  for (let pages = 0; pages < heldPagesMax && waiting.length < runningMax; pages++) {
    const query = { state: ['held' as const], with: ['progress' as const], limit: heldPage, ...after };
    const { items, next } = await api.call('listRuns', { query });
    waiting.push(...items.filter(({ hold }) => hold === 'children'));
    if (next === null) break;
    after = { after: next };
  }
  return waiting;
}

/**
 * Switches to the terminal's alternate screen and hides the cursor; returns the function that switches back. Calls
 * `onQuit` at q, Esc, Ctrl+C or SIGTERM.
 */
function takeScreen(onQuit: () => void): () => void {
  const { stdin, stdout } = process;
  const onKey = (key: Buffer): void => {
    if (['q', 'Q', '\u0003', '\u001b'].includes(key.toString())) onQuit();
  };
  stdout.write('\u001b[?1049h\u001b[?25l');
  if (stdin.isTTY) stdin.setRawMode(true).resume().on('data', onKey);
  process.once('SIGTERM', onQuit);
  return () => {
    if (stdin.isTTY) stdin.off('data', onKey).setRawMode(false).pause();
    stdout.write('\u001b[?25h\u001b[?1049l');
  };
}

/** Overwrites each line instead of clearing the screen, which would flicker. */
function draw(moment: Moment): void {
  const { columns, rows } = process.stdout;
  const lines = frameOf(moment, { columns, rows }).map((line) => `${textOf(line)}\u001b[K`);
  process.stdout.write(`\u001b[H${lines.join('\n')}\u001b[J`);
}

const textOf = (line: FrameLine): string =>
  line.map(({ text, style }) => (style ? styled(style, text) : text)).join('');
