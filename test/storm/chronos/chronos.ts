// The Chronos test: definitions tick every second while leaders are killed. Then every tick is compared with what the
// handlers of the runs have recorded.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Engine, type Job } from '../../../src/index.ts';
import { violationText, verify } from '../../../src/verify.ts';
import { RandomStreams } from '../../sim/random-streams.ts';
import { realLeaseMs, testMs, waitMs } from '../../support/patience.ts';
import { Fleet } from '../fleet.ts';
import { postgresFixture } from '../store-fixture.ts';
import { entriesOf } from '../ledger-file.ts';
import { bundledProgram } from '../program.ts';
import { checkSeconds } from './check.ts';
import { defNames } from './definitions.ts';

export interface ChronosOptions {
  readonly ticks: number;
  readonly leaderKills: number;
  readonly seed?: number;
}

export interface ChronosReport {
  readonly ticks: number;
  readonly leaderKills: number;
  readonly skips: number;
  readonly lateMsMedian: number;
  readonly lateMsP99: number;
  readonly violations: readonly string[];
}

const leaseMs = realLeaseMs;

export async function chronos(options: ChronosOptions): Promise<ChronosReport> {
  const { ticks, leaderKills, seed = Date.now() % 2 ** 31 } = options;
  const streams = new RandomStreams(seed);
  const random = streams.stream('kills');
  await using fixture = await postgresFixture(streams.stream('store'));
  const engine = new Engine({ store: fixture.directUrl, instance: 'observer' });
  await engine.ready();
  const ledger = join(fixture.folder, 'ledger');
  const program = await bundledProgram(fixture.folder, 'test/storm/chronos/instance-process.ts');
  const fleet = new Fleet({
    size: 3, program, ledger, random: streams.stream('fleet'), url: fixture.directUrl, slots: 8, lease: `${leaseMs}ms`,
  });
  const observer = new pg.Client({ connectionString: fixture.directUrl });
  await observer.connect();
  try {
    await killLeaders();
    for (const name of defNames) await engine.disable(name);
    await untilAllEnded(engine);
    return await report();
  } finally {
    await observer.end();
    await fleet.close();
    await engine.jobs.store.close();
  }

  /** Kills at random times: there is a tick every second. */
  async function killLeaders(): Promise<void> {
    const lengthMs = (ticks / defNames.length) * 1_000;
    const [start, everyMs] = [performance.now(), lengthMs / leaderKills];
    const elapsed = (): number => performance.now() - start;
    const isEnough = async (): Promise<boolean> =>
      elapsed() > lengthMs && fleet.kills >= leaderKills && (await runsOf(engine)).length >= ticks;
    while (elapsed() < lengthMs + testMs && !(await isEnough())) {
      await sleep(random.between(0.2, 1.2) * everyMs);
      const { rows } = await observer.query<{ leader: string }>('select leader from stint.leader');
      await fleet.kill(({ instance }) => rows.some(({ leader }) => leader === instance));
    }
  }

  async function report(): Promise<ChronosReport> {
    const runs = Map.groupBy(await runsOf(engine), ({ def }) => def);
    const { jobs: defs } = await engine.jobs.find({ kinds: ['def'] }, { limit: 1000 });
    const entries = entriesOf(ledger);
    const found = await Promise.all(defs.map(async (def) => {
      const events = await engine.jobs.history(def.id);
      return checkSeconds({ def, events, runs: runs.get(def.def) ?? [], ledger: entries });
    }));
    const delays = found.flatMap(({ lateMs }) => lateMs).sort((a, b) => a - b);
    const others = await Array.fromAsync(verify(engine.jobs.store, { patienceMs: 0 }));
    const violations = [...found.flatMap((each) => each.violations), ...others];
    return {
      ticks: found.reduce((sum, each) => sum + each.ticks, 0),
      leaderKills: fleet.kills,
      skips: found.reduce((sum, each) => sum + each.skips, 0),
      lateMsMedian: delays[Math.floor(delays.length / 2)] ?? 0,
      lateMsP99: delays[Math.floor(delays.length * 0.99)] ?? 0,
      violations: [...violations.map(violationText), ...fleet.faults],
    };
  }
}

async function runsOf({ jobs }: Engine): Promise<Job[]> {
  const runs: Job[] = [];
  for (let after = 0; ; ) {
    const page = await jobs.store.find({ kinds: ['run'] }, { order: 'oldest', limit: 1000, after });
    runs.push(...page.jobs);
    if (page.next === null) return runs;
    after = page.next;
  }
}

async function untilAllEnded(engine: Engine): Promise<void> {
  for (const start = performance.now(); performance.now() - start < waitMs; await sleep(200)) {
    if ((await runsOf(engine)).every(({ state }) => state === 'ended')) return;
  }
  throw new Error('runs of ticks have not ended');
}
