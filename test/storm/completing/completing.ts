// A storm on `complete`: instances die by kill -9 in the middle of it, and lose connections at the commit or are paused
// beyond their lease. Afterwards the table of effects must equal the outcomes: none double, none missing. Faults follow
// the runs that have ended, so that their number does not depend on the speed of the machine.
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
import { killMomentOf, killMoments, type KillMoment } from './kill-moment.ts';

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
  readonly afterCommit: number;
  /** Of the kills around and after the commit, those after which the effects were there. */
  readonly committedAndKilled: number;
  /** Attempts that wrote and left nothing. */
  readonly rolledBack: number;
  readonly longPauses: number;
  readonly cuts: number;
  readonly violations: readonly string[];
}

const leaseMs = realLeaseMs;
/** A fault comes after every so many ended runs. */
const every = { kill: 40, pause: 50, cut: 25 };
/** Few, so that no two faults of a kind are due at once. */
const openMax = 20;
const lookMs = 20;

export async function completing(openFixture: OpenFixture, options: CompletingOptions): Promise<CompletingReport> {
  const { runs: count, seed = Date.now() % 2 ** 31 } = options;
  const streams = new RandomStreams(seed);
  await using fixture = await openFixture(streams.stream('store'));
  const effects = openEffectTable(fixture.directUrl);
  const engine = new Engine({ store: fixture.directUrl, instance: 'observer', types: [ship, shipTasks] });
  await engine.ready();
  await effects.create();
  const ledger = join(fixture.folder, 'ledger');
  const program = await bundledProgram(fixture.folder, 'test/storm/completing/instance-process.ts');
  const fleet = new Fleet({
    size: 4, program, ledger, random: streams.stream('fleet'), url: fixture.url, slots: 4, lease: `${leaseMs}ms`,
  });
  try {
    await runAll({ engine, fleet, fixture }, streams, options);
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

interface Setup {
  readonly engine: Engine;
  readonly fleet: Fleet;
  readonly fixture: StoreFixture;
}

/** Creates runs, a few at a time, and injects the faults that are due, until all have ended or none has for long. */
async function runAll(
  { engine, fleet, fixture }: Setup,
  streams: RandomStreams,
  { runs, isPaused, progress }: CompletingOptions,
): Promise<void> {
  const random = streams.stream('pauses');
  let pauses = 0;
  const pauseMs = (): number => (pauses++ % 2 === 0 ? random.between(1.2, 2) * leaseMs : random.between(20, 500));
  const faults = [
    new Fault(every.kill, () => fleet.kill()),
    ...(isPaused ? [new Fault(every.pause, async () => fleet.pause(pauseMs(), leaseMs))] : []),
    ...fixture.storeFaults.filter(({ name }) => name === 'cuts').map((cut) => new Fault(every.cut, async () => {
      await cut.inject();
      return true;
    })),
  ];
  for (let made = 0, ended = 0, since = performance.now(); ended < runs && performance.now() - since < waitMs; ) {
    const open = await openRuns(engine);
    if (made - open !== ended) [ended, since] = [made - open, performance.now()];
    for (const fault of faults) await fault.injectIfDue(ended);
    for (const most = Math.min(runs, ended + openMax); made < most; ) await createRun(engine, (made += 1));
    await sleep(lookMs);
    progress?.(ended / runs, `${ended} runs`);
  }
}

/** A fault that is due after every so many ended runs. If it cannot be injected at once, it stays due. */
class Fault {
  readonly #every: number;
  readonly #inject: () => Promise<boolean>;
  #dueAt: number;

  constructor(everyRuns: number, inject: () => Promise<boolean>) {
    this.#every = everyRuns;
    this.#dueAt = everyRuns;
    this.#inject = inject;
  }

  async injectIfDue(ended: number): Promise<void> {
    if (ended >= this.#dueAt && (await this.#inject())) this.#dueAt += this.#every;
  }
}

/** Every fourth run completes after its tasks. */
async function createRun(engine: Engine, number: number): Promise<void> {
  await engine.createJobRun(number % 4 === 0 ? shipTasks : ship, { input: { kill: killMomentOf(number) } });
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

/** Every run has succeeded, with the effects of the fence under which it did, and no others. */
export function checkCompleted(jobs: readonly Job[], count: number, effects: readonly Effects[]): Violation[] {
  const succeeded = jobs.filter((job) => job.state === 'ended' && job.fate === 'succeeded');
  const completed = succeeded.map(({ id, fence }) => ({ job: id, fence }));
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
  const [beforeWrites, betweenWrites, afterWrites, aroundCommit, afterCommit] =
    killMoments.map((moment) => at(moment).length) as [number, number, number, number, number];
  return {
    kills: killed.length + killsFromOutside,
    beforeWrites, betweenWrites, afterWrites, aroundCommit, afterCommit,
    committedAndKilled: [...at('around the commit'), ...at('after the commit')].filter((entry) => effective.has(nameOf(entry))).length,
    rolledBack: ledger.filter((entry) => entry.what === 'wrote' && !effective.has(nameOf(entry))).length,
  };
}
