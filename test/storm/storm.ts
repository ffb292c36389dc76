// A storm: a fleet at work on a store, clients, and faults without end; then all is healed, everything must end, and a
// judge compares what is stored with what was seen.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Engine } from '../../src/index.ts';
import { Draws, type Stream } from '../sim/draws.ts';
import { realLeaseMs, testMs, waitMs } from '../support/patience.ts';
import { clearUp, live, roles, type Desk } from './clients.ts';
import { Fleet } from './fleet.ts';
import type { Ground, GroundOf, Trouble } from './ground.ts';
import { judge, type Judgement } from './judge.ts';
import { entriesOf } from './ledger-file.ts';
import { openOwnTables } from './own-tables.ts';
import { bundledProgram } from './program.ts';
import { tradeOf } from './trade.ts';

/** How often each fault is to happen. */
export interface Faults {
  readonly kills: number;
  readonly pauses: number;
  readonly crashes: number;
  readonly cuts: number;
}

export interface StormOptions {
  readonly size: number;
  /** How long it lasts at least; it goes on until every fault has happened often enough. */
  readonly ms: number;
  readonly faults: Faults;
  readonly seed?: number;
  readonly progress?: (share: number, text: string) => void;
}

export interface StormReport extends Judgement {
  readonly store: Ground['name'];
  readonly seed: number;
  readonly seconds: number;
  readonly faults: Faults;
  readonly longPauses: number;
  readonly acknowledged: number;
  readonly healSeconds: number;
}

export const leaseMs = realLeaseMs;
const openMax = 200;
const healMsMax = 5 * waitMs;

export async function storm(groundOf: GroundOf, options: StormOptions): Promise<StormReport> {
  const { size, ms, faults, seed = Date.now() % 2 ** 31 } = options;
  const draws = new Draws(seed);
  await using ground = await groundOf(draws.stream('ground'));
  await using world = await openWorld(ground, size, draws);
  const start = performance.now();
  const elapsed = (): number => performance.now() - start;
  const counts = (): Faults => ({ ...noFaults, ...countsOf(world.fleet, ground) });
  const isReached = (): boolean => faultNames.every((name) => counts()[name] >= faults[name]);
  const stall = new Stall(testMs);
  const isOver = (): boolean => {
    const { share, happened: count } = shareOf(counts(), faults);
    options.progress?.(share, `${count} faults`);
    return stall.isStalled(count) || (elapsed() > ms && isReached());
  };
  await Promise.all([
    ...roles.map(([deeds, everyMs]) => live(deeds, world.desk, everyMs, isOver)),
    ...faultLoops(world, ground, { ms, faults, dice: draws.stream('faults'), isOver }),
  ]);
  const seconds = Math.round(elapsed() / 1000);
  const happened = counts();
  const healSeconds = await heal(world);
  const judgement = await world.judge();
  return {
    store: ground.name, seed, seconds, faults: happened, longPauses: world.fleet.longPauses,
    acknowledged: world.desk.acknowledged.size, healSeconds, ...judgement,
    violations: [...judgement.violations, ...world.fleet.faults, ...(await ground.damage())],
  };
}

/** Notices that nothing has happened for long: the only way in which a storm ends early. */
class Stall {
  readonly #maxMs: number;
  #last = -1;
  #since = 0;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  isStalled(count: number): boolean {
    const now = performance.now();
    if (count !== this.#last) [this.#last, this.#since] = [count, now];
    return now - this.#since > this.#maxMs;
  }
}

function shareOf(counts: Faults, needed: Faults): { readonly share: number; readonly happened: number } {
  const sum = (of: (name: keyof Faults) => number): number => faultNames.reduce((all, name) => all + of(name), 0);
  const happened = sum((name) => counts[name]);
  return { happened, share: sum((name) => Math.min(counts[name], needed[name])) / sum((name) => needed[name]) };
}

const noFaults: Faults = { kills: 0, pauses: 0, crashes: 0, cuts: 0 };
const faultNames = Object.keys(noFaults) as (keyof Faults)[];

const countsOf = ({ kills, pauses }: Fleet, { troubles }: Ground): Partial<Faults> =>
  ({ kills, pauses, ...Object.fromEntries(troubles.map((trouble) => [trouble.name, trouble.count()])) });

interface World extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly desk: Desk;
  judge(): Promise<Judgement>;
}

async function openWorld(ground: Ground, size: number, draws: Draws): Promise<World> {
  const program = await bundledProgram(ground.folder);
  const ledger = join(ground.folder, 'ledger');
  const tables = openOwnTables(ground.url);
  const engine = new Engine({ store: ground.url, instance: 'clients', ...tradeOf(() => ({ engine, tables })) });
  await engine.ready();
  await tables.create();
  const dice = draws.stream('fleet');
  const fleet = new Fleet({ size, program, ledger, dice, url: ground.url, slots: 4, lease: `${leaseMs}ms` });
  const desk: Desk = { engine, tables, dice: draws.stream('clients'), acknowledged: new Set(), openMax };
  return {
    fleet,
    desk,
    judge: async () => judge(engine, {
      ...desk, ledger: entriesOf(ledger), orders: await tables.rows('orders'), effects: await tables.rows('effects'),
    }),
    [Symbol.asyncDispose]: async () => {
      await fleet.close();
      await tables.close();
      await engine.jobs.store.close();
    },
  };
}

interface Weather {
  readonly ms: number;
  readonly faults: Faults;
  readonly dice: Stream;
  readonly isOver: () => boolean;
}

function faultLoops({ fleet }: World, { troubles }: Ground, { ms, faults, dice, isOver }: Weather): Promise<void>[] {
  /** A little more often than need be, so that the number is reached in time. */
  const again = async (count: number, happen: () => unknown): Promise<void> => {
    const everyMs = (0.8 * ms) / count;
    while (count > 0 && !isOver()) {
      await sleep(dice.between(0.5, 1.5) * everyMs);
      if (!isOver()) await happen();
    }
  };
  const pauseMs = (): number => (dice.isTrue(0.35) ? dice.between(2, 4) * leaseMs : dice.between(20, 500));
  return [
    again(faults.kills, () => fleet.kill()),
    again(faults.pauses, () => fleet.pause(pauseMs(), leaseMs)),
    ...troubles.map((trouble: Trouble) => again(faults[trouble.name], () => trouble.happen())),
  ];
}

/** Answers after how many seconds nothing was open any more; what is still open after long is for the judge. */
async function heal({ desk }: World): Promise<number> {
  const start = performance.now();
  const seconds = (): number => Math.round((performance.now() - start) / 1000);
  while (performance.now() - start < healMsMax) {
    await clearUp(desk);
    if ((await openRuns(desk.engine)) === 0) return seconds();
    await sleep(500);
  }
  return seconds();
}

async function openRuns(engine: Engine): Promise<number> {
  const kinds = ['run', 'task', 'bedrock'] as const;
  const tallies = await engine.jobs.count({ standings: ['pending', 'running', 'held'], kinds });
  return tallies.reduce((sum, { count }) => sum + count, 0);
}
