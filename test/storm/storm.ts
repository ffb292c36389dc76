// A storm: a fleet of instances, clients and repeated faults on one store. Then the faults stop, all jobs must end, and
// the store is compared with what clients and handlers saw.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Engine } from '../../src/index.ts';
import { RandomStreams, type RandomStream } from '../sim/random-streams.ts';
import { realLeaseMs, testMs, waitMs } from '../support/patience.ts';
import { actUntil, finishRemaining, roles, type Client } from './clients.ts';
import { Fleet } from './fleet.ts';
import type { StoreFixture, OpenFixture, StoreFault } from './store-fixture.ts';
import { checkOutcome, type OutcomeReport } from './outcome.ts';
import { entriesOf } from './ledger-file.ts';
import { openOwnTables } from './own-tables.ts';
import { bundledProgram } from './program.ts';
import { createWorkload } from './workload.ts';

/** How often each fault happens. */
export interface Faults {
  readonly kills: number;
  readonly pauses: number;
  readonly crashes: number;
  readonly cuts: number;
}

export interface StormOptions {
  readonly size: number;
  /** The minimum length; the storm continues until every fault has reached its number. */
  readonly ms: number;
  readonly faults: Faults;
  readonly seed?: number;
  readonly progress?: (share: number, text: string) => void;
}

export interface StormReport extends OutcomeReport {
  readonly store: StoreFixture['name'];
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

export async function storm(openFixture: OpenFixture, options: StormOptions): Promise<StormReport> {
  const { size, ms, faults, seed = Date.now() % 2 ** 31 } = options;
  const streams = new RandomStreams(seed);
  await using fixture = await openFixture(streams.stream('store'));
  await using setup = await openSetup(fixture, size, streams);
  const start = performance.now();
  const elapsed = (): number => performance.now() - start;
  const counts = (): Faults => ({ ...noFaults, ...countsOf(setup.fleet, fixture) });
  const isReached = (): boolean => faultNames.every((name) => counts()[name] >= faults[name]);
  const stall = new Stall(testMs);
  const isOver = (): boolean => {
    const { share, happened: count } = shareOf(counts(), faults);
    options.progress?.(share, `${count} faults`);
    return stall.isStalled(count) || (elapsed() > ms && isReached());
  };
  await Promise.all([
    ...roles.map(([actions, everyMs]) => actUntil(actions, setup.client, everyMs, isOver)),
    ...faultLoops(setup, fixture, { ms, faults, random: streams.stream('faults'), isOver }),
  ]);
  const seconds = Math.round(elapsed() / 1000);
  const happened = counts();
  const healSeconds = await heal(setup);
  const outcome = await setup.checkOutcome();
  return {
    store: fixture.name, seed, seconds, faults: happened, longPauses: setup.fleet.longPauses,
    acknowledged: setup.client.acknowledged.size, healSeconds, ...outcome,
    violations: [...outcome.violations, ...setup.fleet.faults, ...(await fixture.damage())],
  };
}

/** Detects that no fault has happened for long: only then does a storm end early. */
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

const countsOf = ({ kills, pauses }: Fleet, { storeFaults }: StoreFixture): Partial<Faults> =>
  ({ kills, pauses, ...Object.fromEntries(storeFaults.map((fault) => [fault.name, fault.count()])) });

interface StormSetup extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly client: Client;
  checkOutcome(): Promise<OutcomeReport>;
}

async function openSetup(fixture: StoreFixture, size: number, streams: RandomStreams): Promise<StormSetup> {
  const program = await bundledProgram(fixture.folder);
  const ledger = join(fixture.folder, 'ledger');
  const tables = openOwnTables(fixture.url);
  const engine = new Engine({ store: fixture.url, instance: 'clients', ...createWorkload(() => ({ engine, tables })) });
  await engine.ready();
  await tables.create();
  const random = streams.stream('fleet');
  const fleet = new Fleet({ size, program, ledger, random, url: fixture.url, slots: 4, lease: `${leaseMs}ms` });
  const client: Client = { engine, tables, random: streams.stream('clients'), acknowledged: new Set(), openMax };
  return {
    fleet,
    client,
    checkOutcome: async () => checkOutcome(engine, {
      ...client, ledger: entriesOf(ledger), orders: await tables.rows('orders'), effects: await tables.rows('effects'),
    }),
    [Symbol.asyncDispose]: async () => {
      await fleet.close();
      await tables.close();
      await engine.jobs.store.close();
    },
  };
}

interface FaultPlan {
  readonly ms: number;
  readonly faults: Faults;
  readonly random: RandomStream;
  readonly isOver: () => boolean;
}

function faultLoops({ fleet }: StormSetup, { storeFaults }: StoreFixture, plan: FaultPlan): Promise<void>[] {
  const { ms, faults, random, isOver } = plan;
  /** Repeats at 0.8 of the average interval, so that the number is reached in time. */
  const repeat = async (count: number, inject: () => unknown): Promise<void> => {
    const everyMs = (0.8 * ms) / count;
    while (count > 0 && !isOver()) {
      await sleep(random.between(0.5, 1.5) * everyMs);
      if (!isOver()) await inject();
    }
  };
  const pauseMs = (): number => (random.isTrue(0.35) ? random.between(2, 4) * leaseMs : random.between(20, 500));
  return [
    repeat(faults.kills, () => fleet.kill()),
    repeat(faults.pauses, () => fleet.pause(pauseMs(), leaseMs)),
    ...storeFaults.map((fault: StoreFault) => repeat(faults[fault.name], () => fault.inject())),
  ];
}

/** Returns the seconds until no job was open. `checkOutcome` reports jobs that stay open. */
async function heal({ client }: StormSetup): Promise<number> {
  const start = performance.now();
  const seconds = (): number => Math.round((performance.now() - start) / 1000);
  while (performance.now() - start < healMsMax) {
    await finishRemaining(client);
    if ((await openRuns(client.engine)) === 0) return seconds();
    await sleep(500);
  }
  return seconds();
}

async function openRuns(engine: Engine): Promise<number> {
  const kinds = ['run', 'task', 'bedrock'] as const;
  const tallies = await engine.jobs.count({ standings: ['pending', 'running', 'held'], kinds });
  return tallies.reduce((sum, { count }) => sum + count, 0);
}
