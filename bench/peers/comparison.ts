/** The comparison: takes a measure of all peers, one after the other, in each round. */
import { setTimeout as sleep } from 'node:timers/promises';
import { measureSteadily, type MachineSpeed } from '../machine-speed.ts';
import { median, medianCpu } from '../median.ts';
import type { CpuPerJob } from '../stopwatch.ts';
import type { Peer, PeerDatabaseName } from './peer.ts';
import type { PeerDatabases } from './peer-databases.ts';
import type { Measure } from './measure.ts';
import { isOurs } from './ours.ts';
import type { FigureName, Reading, Unit } from './reading.ts';
import { withPeerFixture, type PeerFixture } from './peer-fixture.ts';
import type { PeerSizes } from './sizes.ts';

/** One figure of one peer: the median over the rounds. */
export interface Figure {
  readonly peer: string;
  readonly database: PeerDatabaseName;
  readonly isOurs: boolean;
  readonly figure: FigureName;
  readonly unit: Unit;
  readonly median: number;
  readonly rounds: readonly number[];
  readonly cpu: CpuPerJob | null;
  /** The number of jobs, where it depends on the peer. */
  readonly jobs: number | null;
  /** How many of the rounds were measured on a machine that others slowed down. */
  readonly disturbed: number;
}

/** A measure that a peer failed. */
export interface Failure {
  readonly peer: string;
  readonly measure: string;
  readonly why: string;
}

/** `isDisturbed`: others slowed the machine down each time that this was measured. */
type Taken = Reading & { readonly isDisturbed: boolean };

const timeoutMs = 300_000;

export async function* compare(
  measure: Measure,
  peers: readonly Peer[],
  databases: PeerDatabases,
  sizes: PeerSizes,
  speed: MachineSpeed,
): AsyncGenerator<Figure | Failure> {
  const readings = new Map<Peer, Taken[]>(peers.map((peer) => [peer, []]));
  for (let round = 0; round < sizes.rounds; round += 1) {
    for (const peer of rotate([...readings.keys()], round)) {
      try {
        const { value, isDisturbed } = await measureSteadily(() => measureOnce(measure, peer, databases, sizes), sizes, speed);
        readings.get(peer)!.push(...value.map((reading) => ({ ...reading, isDisturbed })));
      } catch (error) {
        if (isOurs(peer)) throw error;
        readings.delete(peer);
        yield { peer: peer.name, measure: measure.name, why: (error as Error).message };
      }
    }
  }
  for (const [peer, all] of readings) yield* figuresOf(peer, all);
}

async function measureOnce(
  measure: Measure,
  peer: Peer,
  databases: PeerDatabases,
  sizes: PeerSizes,
): Promise<readonly Reading[]> {
  const scratch = await databases.createScratch(peer.database);
  const timeout = new AbortController();
  try {
    const run = (fixture: PeerFixture) => Promise.race([measure.run(fixture, sizes), failAfterTimeout(timeout.signal)]);
    return await withPeerFixture(peer, scratch, run);
  } finally {
    timeout.abort();
    await scratch.remove();
  }
}

async function failAfterTimeout(signal: AbortSignal): Promise<never> {
  await sleep(timeoutMs, undefined, { signal });
  throw new Error(`not done after ${timeoutMs / 1_000} s`);
}

/** Rotates the order by one each round: a peer competes with disk writes that the one before it has caused. */
const rotate = <Item>(all: readonly Item[], by: number): Item[] =>
  all.map((_, index) => all[(index + by) % all.length]!);

function figuresOf(peer: Peer, readings: readonly Taken[]): Figure[] {
  const names = [...new Set(readings.map(({ figure }) => figure))];
  return names.map((name) => {
    const own = readings.filter(({ figure }) => figure === name);
    const rounds = own.map(({ value }) => value);
    return {
      peer: peer.name,
      database: peer.database,
      isOurs: isOurs(peer),
      figure: name,
      unit: own[0]!.unit,
      median: median(rounds),
      rounds,
      cpu: medianCpu(own.map(({ cpu }) => cpu)),
      jobs: own[0]!.jobs ?? null,
      disturbed: own.filter(({ isDisturbed }) => isDisturbed).length,
    };
  });
}
