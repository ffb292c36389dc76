/** `stint top`: a live view of instances, types and runs; one snapshot when piped. */
import type { Command } from 'commander';
import type { Engine } from '../../open.ts';
import { storeUrl } from '../../open/store-url.ts';
import type { Snapshot } from '../../engine/run-handle.ts';
import { isRefusal } from '../../refusal.ts';
import { openStandings } from '../../store/query.ts';
import { endings } from '../../model/event.ts';
import { workKinds } from '../../model/state.ts';
import { systemClock } from '../../time/clock.ts';
import { printJson, printLine, styled } from '../print.ts';
import { addStoreFlags, withEngine, type CommonFlags } from '../session.ts';
import { shownUrl } from '../shown-url.ts';
import { frameOf, type FrameLine, type Moment } from '../top-frame.ts';

interface TopOptions extends CommonFlags {
  readonly every: string;
}

type Rates = Map<string, { succeeded: number; failed: number }>;

const runningMax = 30;

export function topCommand(program: Command): void {
  addStoreFlags(program.command('top').description('show a live view (one snapshot when piped)'))
    .option('--every <seconds>', 'refresh interval in seconds', '1')
    .action(top);
}

const top = (options: TopOptions): Promise<void> =>
  withEngine(options, async (engine) => {
    const url = shownUrl(storeUrl(options.store));
    if (options.json || !process.stdout.isTTY) return printOnce(engine, url, options.json ?? false);
    return watchScreen(engine, url, Math.max(0.2, Number(options.every) || 1) * 1000);
  });

async function printOnce(engine: Engine, store: string, asJson: boolean): Promise<void> {
  const moment = await momentOf(engine, store, new Map());
  const { rates: _none, ...printed } = moment;
  if (asJson) return printJson(printed);
  for (const line of frameOf(moment, { columns: Infinity, rows: Infinity }).slice(0, -1)) printLine(textOf(line));
}

async function watchScreen(engine: Engine, store: string, everyMs: number): Promise<void> {
  const leave = new AbortController();
  const counted: Rates = new Map();
  void count(engine, counted, leave.signal);
  const restore = takeScreen(() => leave.abort());
  try {
    for (let last = systemClock.monotonic(); !leave.signal.aborted;) {
      const now = systemClock.monotonic();
      draw(await momentOf(engine, store, perSecond(counted, (now - last) / 1000)));
      last = now;
      await systemClock.sleep(everyMs, leave.signal);
    }
  } finally {
    restore();
  }
}

/** Counts the jobs that end from now on, by type. A cancelled job counts as failed. */
async function count(engine: Engine, counted: Rates, signal: AbortSignal): Promise<void> {
  try {
    for await (const { type, kind, event } of engine.events()) {
      if (signal.aborted) return;
      if (kind === 'def' || !endings.has(event.kind)) continue;
      const rate = counted.get(type) ?? { succeeded: 0, failed: 0 };
      if (event.kind === 'succeeded') rate.succeeded += 1;
      else rate.failed += 1;
      counted.set(type, rate);
    }
  } catch (error) {
    // When the user quits, the store is closed while this loop still reads from it.
    if (!signal.aborted) throw error;
  }
}

function perSecond(counted: Rates, seconds: number): Rates {
  const span = Math.max(seconds, 0.001);
  const rates: Rates = new Map();
  for (const [type, { succeeded, failed }] of counted)
    rates.set(type, { succeeded: succeeded / span, failed: failed / span });
  for (const rate of counted.values()) rate.succeeded = rate.failed = 0;
  return rates;
}

async function momentOf(engine: Engine, store: string, rates: Moment['rates']): Promise<Moment> {
  const now = engine.now();
  const { jobs } = await engine.find(
    { kinds: ['run', 'bedrock'], standings: ['running', 'held'] },
    { limit: runningMax },
  );
  const active = jobs.filter((job) => job.state === 'running' || (job.state === 'held' && job.hold === 'children'));
  const due = await engine.find(
    { kinds: workKinds, standings: ['pending'], dueBefore: now },
    { order: 'oldest', limit: 1 },
  );
  return {
    now,
    store,
    instances: await engine.instances(),
    tallies: await engine.count({ kinds: workKinds, standings: openStandings }),
    rates,
    running: (await Promise.all(active.map(({ id }) => snapshotOf(engine, id)))).filter((each) => each !== null),
    oldestDue: due.jobs[0]?.due ?? null,
  };
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
