// The Chronos test: definitions tick every second while the leader is killed again and again; then every tick is
// accounted for, by the word of the runs themselves.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Engine, type Job } from '../../../src/index.ts';
import { violationText, verify } from '../../../src/verify.ts';
import { Draws } from '../../sim/draws.ts';
import { Fleet } from '../fleet.ts';
import { postgresGround } from '../ground.ts';
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

const leaseMs = 2_000;
/** So many times its length it may last until it has done what it is to do. */
const hopeless = 20;

export async function chronos(options: ChronosOptions): Promise<ChronosReport> {
  const { ticks, leaderKills, seed = Date.now() % 2 ** 31 } = options;
  const draws = new Draws(seed);
  const dice = draws.stream('kills');
  await using ground = await postgresGround(draws.stream('ground'));
  const engine = new Engine({ store: ground.directUrl, instance: 'onlooker' });
  await engine.ready();
  const ledger = join(ground.folder, 'ledger');
  const program = await bundledProgram(ground.folder, 'test/storm/chronos/member.ts');
  const fleet = new Fleet({
    size: 3, program, ledger, dice: draws.stream('fleet'), url: ground.directUrl, slots: 8, lease: `${leaseMs}ms`,
  });
  const observer = new pg.Client({ connectionString: ground.directUrl });
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

  /** Somewhere around a tick, before or after it: there is one every second. */
  async function killLeaders(): Promise<void> {
    const lengthMs = (ticks / defNames.length) * 1_000;
    const [start, everyMs] = [performance.now(), lengthMs / leaderKills];
    const elapsed = (): number => performance.now() - start;
    const isEnough = async (): Promise<boolean> =>
      elapsed() > lengthMs && fleet.kills >= leaderKills && (await runsOf(engine)).length >= ticks;
    while (elapsed() < lengthMs * hopeless && !(await isEnough())) {
      await sleep(dice.between(0.2, 1.2) * everyMs);
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
    const late = found.flatMap(({ lateMs }) => lateMs).sort((a, b) => a - b);
    const others = await Array.fromAsync(verify(engine.jobs.store, { patienceMs: 0 }));
    const violations = [...found.flatMap((each) => each.violations), ...others];
    return {
      ticks: found.reduce((sum, each) => sum + each.ticks, 0),
      leaderKills: fleet.kills,
      skips: found.reduce((sum, each) => sum + each.skips, 0),
      lateMsMedian: late[Math.floor(late.length / 2)] ?? 0,
      lateMsP99: late[Math.floor(late.length * 0.99)] ?? 0,
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
  for (const start = performance.now(); performance.now() - start < 120_000; await sleep(200)) {
    if ((await runsOf(engine)).every(({ state }) => state === 'ended')) return;
  }
  throw new Error('runs of ticks do not end');
}
