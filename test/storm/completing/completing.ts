// A storm on `complete`: instances die by kill -9 in the middle of it, and lose connections at the commit or are paused
// beyond their lease. Afterwards the table of effects must equal the outcomes: none double, none missing.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Engine, type Job } from '../../../src/index.ts';
import { verify, violation, violationText, type Violation } from '../../../src/verify.ts';
import type { Entry } from '../../engine/processes/children/ledger.ts';
import { compareEffects, type Effects } from '../../sim/completing.ts';
import { RandomStreams } from '../../sim/random-streams.ts';
import { realLeaseMs, waitMs } from '../../support/patience.ts';
import { Fleet } from '../fleet.ts';
import { entriesOf } from '../ledger-file.ts';
import { bundledProgram } from '../program.ts';
import type { OpenFixture, StoreFixture } from '../store-fixture.ts';
import { ship, shipTasks } from './completing-types.ts';
import { openEffectTable } from './effect-table.ts';
import { killMoments, type KillMoment } from './kill-moment.ts';

export interface CompletingOptions {
  readonly runs: number;
  /** Whether instances are also paused, some beyond their lease. */
  readonly isPaused: boolean;
  readonly seed?: number;
  readonly progress?: (share: number, text: string) => void;
}

export interface CompletingReport {
  readonly seed: number;
  readonly runs: number;
  /** Processes that died by kill -9, and how many of these by themselves at each moment. */
  readonly kills: number;
  readonly beforeWrites: number;
  readonly betweenWrites: number;
  readonly afterWrites: number;
  readonly aroundCommit: number;
  /** Of the kills around the commit, those after which the effects were there. */
  readonly committedAndKilled: number;
  /** Attempts that wrote and left nothing. */
  readonly rolledBack: number;
  readonly longPauses: number;
  readonly cuts: number;
  readonly violations: readonly string[];
}

const leaseMs = realLeaseMs;
const everyMs = { kill: 2_000, pause: 3_000, cut: 1_500 };
const batch = 500;

export async function completing(openFixture: OpenFixture, options: CompletingOptions): Promise<CompletingReport> {
  const { runs: count, seed = Date.now() % 2 ** 31 } = options;
  const streams = new RandomStreams(seed);
  await using fixture = await openFixture(streams.stream('store'));
  const effects = openEffectTable(fixture.directUrl);
  const engine = new Engine({ store: fixture.directUrl, instance: 'observer', types: [ship, shipTasks] });
  await engine.ready();
  await effects.create();
  for (let made = 0; made < count; made += batch) await createRuns(engine, Math.min(batch, count - made));
  const ledger = join(fixture.folder, 'ledger');
  const program = await bundledProgram(fixture.folder, 'test/storm/completing/instance-process.ts');
  const fleet = new Fleet({
    size: 4, program, ledger, random: streams.stream('fleet'), url: fixture.url, slots: 4, lease: `${leaseMs}ms`,
  });
  try {
    await injectUntilEnded({ engine, fleet, fixture }, streams, options);
    const jobs = await allRuns(engine);
    const others = await Array.fromAsync(verify(engine.jobs.store, { patienceMs: 0 }));
    const written = await effects.count();
    return {
      seed, runs: jobs.length, ...figuresOf(entriesOf(ledger), written, fleet.kills), longPauses: fleet.longPauses,
      cuts: fixture.storeFaults.find(({ name }) => name === 'cuts')?.count() ?? 0,
      violations: [
        ...[...checkCompleted(jobs, count, written), ...others].map(violationText), ...fleet.faults, ...(await fixture.damage()),
      ],
    };
  } finally {
    await fleet.close();
    await engine.jobs.store.close();
  }
}

/** Every fourth run completes after its tasks. */
async function createRuns(engine: Engine, count: number): Promise<void> {
  const withTasks = Math.floor(count / 4);
  await engine.createJobRuns(ship, Array.from({ length: count - withTasks }, () => ({})));
  await engine.createJobRuns(shipTasks, Array.from({ length: withTasks }, () => ({})));
}

interface Setup {
  readonly engine: Engine;
  readonly fleet: Fleet;
  readonly fixture: StoreFixture;
}

/** Injects faults until every run has ended, or none has ended for long. */
async function injectUntilEnded(
  { engine, fleet, fixture }: Setup,
  streams: RandomStreams,
  { runs, isPaused, progress }: CompletingOptions,
): Promise<void> {
  let isOver = false;
  const repeat = async (name: keyof typeof everyMs, inject: () => unknown): Promise<void> => {
    for (const random = streams.stream(name); !isOver; ) {
      await sleep(random.between(0.5, 1.5) * everyMs[name]);
      if (!isOver) await inject();
    }
  };
  const cuts = fixture.storeFaults.filter(({ name }) => name === 'cuts');
  const random = streams.stream('pauses');
  const pauseMs = (): number => (random.isTrue(0.5) ? random.between(1.2, 2) * leaseMs : random.between(20, 500));
  const faults = Promise.all([
    repeat('kill', () => fleet.kill()),
    ...(isPaused ? [repeat('pause', () => fleet.pause(pauseMs(), leaseMs))] : []),
    ...cuts.map((cut) => repeat('cut', () => cut.inject())),
  ]);
  for (let open = runs, since = performance.now(); open > 0 && performance.now() - since < waitMs; await sleep(250)) {
    const left = await openRuns(engine);
    if (left !== open) [open, since] = [left, performance.now()];
    progress?.(1 - open / runs, `${runs - open} runs`);
  }
  isOver = true;
  await faults;
}

async function openRuns({ jobs }: Engine): Promise<number> {
  const tallies = await jobs.count({ standings: ['pending', 'running', 'held'], kinds: ['run'] });
  return tallies.reduce((sum, tally) => sum + tally.count, 0);
}

async function allRuns({ jobs }: Engine): Promise<Job[]> {
  const runs: Job[] = [];
  for (let after = 0; ; ) {
    const page = await jobs.store.find({ kinds: ['run'] }, { order: 'oldest', limit: 1_000, after });
    runs.push(...page.jobs);
    if (page.next === null) return runs;
    after = page.next;
  }
}

/** Every run has succeeded under the fence that is its result, with the effects of that fence and no others. */
export function checkCompleted(jobs: readonly Job[], count: number, effects: readonly Effects[]): Violation[] {
  const succeeded = jobs.filter((job) => job.state === 'ended' && job.fate === 'succeeded');
  const completed = succeeded.map((job) => ({ job: job.id, fence: Number(job.state === 'ended' && job.result) }));
  const missing = succeeded.length === count ? [] : [
    violation('L2', 0, `of ${count} runs, ${succeeded.length} have succeeded`),
  ];
  return [...missing, ...compareEffects(effects, completed)];
}

function figuresOf(ledger: readonly Entry[], effects: readonly Effects[], killsFromOutside: number) {
  const nameOf = ({ job, fence }: Pick<Entry, 'job' | 'fence'>): string => `${job} ${fence}`;
  const effective = new Set(effects.map(nameOf));
  const killed = ledger.filter(({ what }) => what === 'killed');
  const at = (wanted: KillMoment): Entry[] => killed.filter(({ moment }) => moment === wanted);
  const [beforeWrites, betweenWrites, afterWrites, aroundCommit] = killMoments.map((moment) => at(moment).length) as
    [number, number, number, number];
  return {
    kills: killed.length + killsFromOutside,
    beforeWrites, betweenWrites, afterWrites, aroundCommit,
    committedAndKilled: at('around the commit').filter((entry) => effective.has(nameOf(entry))).length,
    rolledBack: ledger.filter((entry) => entry.what === 'wrote' && !effective.has(nameOf(entry))).length,
  };
}
