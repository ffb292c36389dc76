/** `stint top`: a live view of instances, types and runs; one snapshot when piped. */
import type { Command } from 'commander';
import type { Engine } from '../../open.ts';
import { storeUrl } from '../../open/store-url.ts';
import type { Snapshot } from '../../engine/run-handle.ts';
import type { Job } from '../../model/job.ts';
import { longestDue } from '../../http/longest-due.ts';
import { instanceView, runView } from '../../http/views.ts';
import { isRefusal } from '../../refusal.ts';
import { openStandings } from '../../store/query.ts';
import { workKinds } from '../../model/state.ts';
import { systemClock } from '../../time/clock.ts';
import { countEnding, takePerSecond, type EndingCounts } from '../ending-rates.ts';
import { secondsMs } from '../number-flag.ts';
import { printJson, printLine, styled } from '../print.ts';
import { addStoreFlags, withEngine, type CommonFlags } from '../session.ts';
import { shownUrl } from '../shown-url.ts';
import { frameOf, type FrameLine, type Moment } from '../top-frame.ts';

interface TopOptions extends CommonFlags {
  readonly every: string;
}

const runningMax = 30;
/** How many pages of held runs are read to find those that wait for tasks, if most of them are paused. */
const heldPagesMax = 10;
const heldPage = 100;

export function topCommand(program: Command): void {
  const description = 'show a live view; when piped, one snapshot with the rates of one interval';
  addStoreFlags(program.command('top').description(description))
    .option('--every <seconds>', 'refresh interval in seconds', '1')
    .action(top);
}

const top = (options: TopOptions): Promise<void> =>
  withEngine(options, async (engine) => {
    const url = shownUrl(storeUrl(options.store));
    const everyMs = secondsMs('--every', options.every, 0.2);
    if (options.json) return printJson(momentView(engine, await momentOf(engine, url, new Map())));
    return process.stdout.isTTY ? watchScreen(engine, url, everyMs) : printOnce(engine, url, everyMs);
  });

/** Prints one snapshot. The rates are those of one interval, for which it waits. */
async function printOnce(engine: Engine, store: string, everyMs: number): Promise<void> {
  const leave = new AbortController();
  const counted: EndingCounts = new Map();
  void count(engine, counted, leave.signal);
  const start = systemClock.monotonic();
  await systemClock.sleep(everyMs, leave.signal);
  const moment = await momentOf(engine, store, takePerSecond(counted, (systemClock.monotonic() - start) / 1000));
  leave.abort();
  for (const line of frameOf(moment, { columns: Infinity, rows: Infinity }).slice(0, -1)) printLine(textOf(line));
}

/** The snapshot as JSON, with runs and instances as in the HTTP API. */
const momentView = (engine: Engine, { now, store, instances, tallies, running, oldestDue }: Moment) => ({
  now,
  store,
  instances: instances.map((instance) => instanceView(instance, now, engine.instance)),
  tallies,
  running: running.map((snapshot) => runView(snapshot.job, 'full', snapshot)),
  oldestDue,
});

async function watchScreen(engine: Engine, store: string, everyMs: number): Promise<void> {
  const leave = new AbortController();
  const counted: EndingCounts = new Map();
  void count(engine, counted, leave.signal);
  const restore = takeScreen(() => leave.abort());
  try {
    for (let last = systemClock.monotonic(); !leave.signal.aborted;) {
      const now = systemClock.monotonic();
      draw(await momentOf(engine, store, takePerSecond(counted, (now - last) / 1000)));
      last = now;
      await systemClock.sleep(everyMs, leave.signal);
    }
  } finally {
    restore();
  }
}

/** Counts the jobs that end from now on, by type and fate. */
async function count(engine: Engine, counted: EndingCounts, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of engine.events()) {
      if (signal.aborted) return;
      countEnding(counted, event);
    }
  } catch (error) {
    // When the user quits, the store is closed while this loop still reads from it.
    if (!signal.aborted) throw error;
  }
}

async function momentOf(engine: Engine, store: string, rates: Moment['rates']): Promise<Moment> {
  const now = engine.now();
  // Held and running jobs are listed separately, so that many paused jobs do not hide the running jobs.
  const running = await engine.find({ kinds: ['run', 'bedrock'], standings: ['running'] }, { limit: runningMax });
  const active = [...running.jobs, ...(await waitingForTasks(engine))].sort((a, b) => b.id - a.id).slice(0, runningMax);
  const tallies = await engine.count({ kinds: workKinds, standings: openStandings }, now);
  return {
    now,
    store,
    instances: await engine.instances(),
    tallies,
    rates,
    running: (await Promise.all(active.map(({ id }) => snapshotOf(engine, id)))).filter((each) => each !== null),
    oldestDue: (await longestDue(engine, tallies))?.due ?? null,
  };
}

/** Returns the newest runs that wait for their tasks. Paused runs are held, too, and may be newer. */
async function waitingForTasks(engine: Engine): Promise<readonly Job[]> {
  const waiting: Job[] = [];
  const held = { kinds: ['run', 'bedrock'], standings: ['held'] } as const;
  let after: { readonly after?: number } = {};
  for (let pages = 0; pages < heldPagesMax && waiting.length < runningMax; pages++) {
    const { jobs, next } = await engine.find(held, { limit: heldPage, ...after });
    waiting.push(...jobs.filter((job) => job.state === 'held' && job.hold === 'children'));
    if (next === null) break;
    after = { after: next };
  }
  return waiting;
}

/** Returns the snapshot of a run; null: the run was deleted after it was listed. */
const snapshotOf = (engine: Engine, id: number): Promise<Snapshot | null> =>
  engine.snapshot(id).catch((error: unknown) => {
    if (isRefusal(error) && error.code === 'unknown.job') return null;
    throw error;
  });

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
