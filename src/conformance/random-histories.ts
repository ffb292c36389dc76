/**
 * Random histories: random sequences of moves. The store under test and the memory store get the same calls and must
 * return the same answers. At the end, both must have the same content, and the events of each job must replay. Many
 * histories run concurrently on one clock, each in its own share. A history that fails is run again alone, and shrunk
 * to the moves that matter.
 */
import { deepEqual, equal, notEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { systemRandom } from '../random.ts';
import { VirtualClock } from '../time/clock.ts';
import { MemoryStore } from '../store/memory/store.ts';
import type { FeedEvent, Store } from '../store/store.ts';
import { Dice } from './dice.ts';
import { checkHistory } from './invariants.ts';
import { Share } from './share.ts';
import { moves } from './moves.ts';
import { same } from './same.ts';
import { removal, startOfTime, type Open } from './world.ts';

export interface Histories {
  readonly count: number;
  /** The same seed gives the same histories. */
  readonly seed?: number;
  /** How long to search for a simpler history that fails, too. Default: 20 seconds. */
  readonly shrinkMs?: number;
}

/** One move of a history: its index in `moves`, the number that selects a job, and the seed of the move's `Dice`. */
type Choice = readonly [move: number, who: number, dice: number];

const stepsPerHistory = 40;
const sharesAtOnce = 40;
const idsPerShare = 1000;

const choice: fc.Arbitrary<Choice> = fc.tuple(fc.nat(moves.length - 1), fc.nat(999), fc.nat(2 ** 31 - 1));
const history = fc.noBias(fc.array(choice, { minLength: stepsPerHistory, maxLength: stepsPerHistory }));

/**
 * Runs random histories. Throws at the first difference between the store under test and the memory store, with the
 * moves that lead to it. Returns how often each situation occurred (see `Share.counts`).
 */
export async function checkHistories(open: Open, asked: Histories): Promise<Map<string, number>> {
  const { count, seed = anySeed(), shrinkMs = 20_000 } = asked;
  const player = await HistoryPlayer.open(open);
  try {
    for (let done = 0; done < count; done += sharesAtOnce) {
      const batchSeed = seed + done;
      const histories = fc.sample(history, { seed: batchSeed, numRuns: Math.min(sharesAtOnce, count - done) });
      const failure = await player.play(histories, batchSeed);
      if (failure) throw await explained(open, failure, batchSeed, shrinkMs);
    }
    return player.counts;
  } finally {
    await player.close();
  }
}

const anySeed = (): number => Math.floor(systemRandom.next() * 2 ** 31);

interface HistoryFailure {
  readonly share: number;
  readonly log: readonly string[];
  readonly error: unknown;
}

/** Runs batches of histories, one batch after the other, on one store and one clock. */
class HistoryPlayer {
  readonly #clock: VirtualClock;
  readonly #store: Store;
  readonly #close: () => Promise<void>;
  /** The sum of `Share.counts` over all histories. */
  readonly counts = new Map<string, number>();
  #plays = 0;

  private constructor(clock: VirtualClock, store: Store, close: () => Promise<void>) {
    this.#clock = clock;
    this.#store = store;
    this.#close = close;
  }

  static async open(open: Open): Promise<HistoryPlayer> {
    const clock = new VirtualClock(startOfTime);
    const { store, close } = await open(clock);
    return new HistoryPlayer(clock, store, close);
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Runs histories concurrently; returns the first failure; null: no history failed. */
  async play(histories: readonly (readonly Choice[])[], seed: number): Promise<HistoryFailure | null> {
    const firstId = await this.#store.reserveIds(histories.length * idsPerShare);
    const play = (this.#plays += 1);
    const shares = histories.map((_, index) => {
      const stage = { subject: this.#store, oracle: new MemoryStore(this.#clock), clock: this.#clock };
      return new Share(`h${play}.${index}`, stage, firstId + index * idsPerShare);
    });
    const reader = new FeedReader(this.#store, await this.#store.feedEnd());
    const attempt = async (work: (share: Share, index: number) => Promise<void>): Promise<HistoryFailure | null> => {
      const failures = await Promise.all(shares.map((share, index) =>
        failureOf(share, index, () => work(share, index))));
      return failures.find((failure) => failure !== null) ?? null;
    };
    let failure: HistoryFailure | null = null;
    for (let step = 0; step < stepsPerHistory && !failure; step += 1) {
      const ms = waitBefore(step, seed);
      await this.#clock.advance(ms);
      failure = await attempt((share, index) => makeMove(share, histories[index]![step]!, ms));
      if (isPurgeStep(step)) failure ??= await this.#purge(shares, reader);
    }
    await reader.readOn();
    failure ??= await attempt((share) => compareEnds(share, reader));
    await this.#clear(shares);
    for (const [what, times] of shares.flatMap(({ counts }) => [...counts])) {
      this.counts.set(what, times + (this.counts.get(what) ?? 0));
    }
    return failure;
  }

  /**
   * Purges the store under test and the oracle of each share, and compares how many jobs were deleted. The store under
   * test is purged once for all shares, because a purge cannot be limited to the types of one share.
   */
  async #purge(shares: readonly Share[], reader: FeedReader): Promise<HistoryFailure | null> {
    await reader.readOn();
    const options = { limit: 100_000, feedKeptMs: 0, retentionMs: 2000 };
    const expected = await Promise.all(shares.map((share) => share.oracle.purge({ ...options, feedKeptMs: Infinity })));
    const gone = await this.#store.purge(options);
    for (const share of shares) share.record('purge');
    const sum = expected.reduce((all, each) => all + each, 0);
    return failureOf(shares[0]!, 0, async () => equal(gone, sum, 'purged jobs'));
  }

  /**
   * Deletes all jobs of the histories. Then advances the clock by two hours, so that a purge deletes their instances.
   */
  async #clear(shares: readonly Share[]): Promise<void> {
    const pages = shares.map((share) => this.#store.find({ types: share.types() }, { limit: 1000 }));
    await this.#store.commit({ changes: (await Promise.all(pages)).flatMap(({ jobs }) => jobs.map(removal)) });
    await this.#clock.advance(7_200_000);
    await this.#store.purge({ limit: 100_000, feedKeptMs: 0, retentionMs: 0 });
  }
}

async function makeMove(share: Share, [move, who, dice]: Choice, waitedMs: number): Promise<void> {
  if (waitedMs > 0) share.record(`${waitedMs} ms pass`);
  await moves[move]!(share, who, new Dice(dice));
}

async function compareEnds(share: Share, reader: FeedReader): Promise<void> {
  const jobs = await share.compareAll();
  const oracleFeed = await share.oracle.eventsAfter(null, 100_000);
  for (const job of jobs) {
    const [actual, expected] = [reader.eventsOf(job.id), oracleFeed.events.filter(({ job: id }) => id === job.id)];
    same(actual, expected, `the feed's events of job ${job.id}`);
    checkHistory(job, actual.map(({ event }) => event));
  }
  for (const id of share.ids) {
    const numbers = reader.eventsOf(id).map(({ event }) => event.n);
    deepEqual(
      numbers, [...new Set(numbers)].sort((a, b) => a - b), `the feed has the events of job ${id} in order and once`,
    );
  }
}

/** Reads the feed and groups its events by job. */
class FeedReader {
  readonly #store: Store;
  readonly #events = new Map<number, FeedEvent[]>();
  #cursor: string;

  constructor(store: Store, cursor: string) {
    this.#store = store;
    this.#cursor = cursor;
  }

  async readOn(): Promise<void> {
    for (;;) {
      const { events, cursor } = await this.#store.eventsAfter(this.#cursor, 1000);
      if (events.length === 0) return;
      notEqual(cursor, this.#cursor, 'a page of the feed with entries advances the cursor');
      this.#cursor = cursor;
      for (const event of events) this.#events.set(event.job, [...this.eventsOf(event.job), event]);
    }
  }

  eventsOf(job: number): readonly FeedEvent[] {
    return this.#events.get(job) ?? [];
  }
}

/**
 * Returns by how many ms the clock advances before a step. Some waits are so long that leases, back-offs, periods of
 * unique keys and retentions end.
 */
function waitBefore(step: number, seed: number): number {
  const waits = [0, 0, 1, 0, 10, 0, 0, 50, 0, 0, 0, 1000, 0, 0, 3, 0, 5000, 0, 0, 40, 0, 0, 61_000];
  return waits[(step + seed) % waits.length]!;
}

const isPurgeStep = (step: number): boolean => step % 13 === 12;

async function failureOf(share: Share, index: number, work: () => Promise<void>): Promise<HistoryFailure | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return { share: index, log: [...share.log], error };
  }
}

/**
 * Runs the failed history alone, and simplifies it while it still fails. Returns an error with the simplest history
 * that fails; if the history does not fail alone, an error with the original failure.
 */
async function explained(open: Open, found: HistoryFailure, seed: number, shrinkMs: number): Promise<Error> {
  const player = await HistoryPlayer.open(open);
  let smallest: HistoryFailure | null = null;
  const property = fc.asyncProperty(history, async (choices) => {
    const failure = await player.play([choices], seed);
    if (failure) smallest = failure;
    return failure === null;
  });
  try {
    await fc.check(property, { seed, path: String(found.share), numRuns: 1, interruptAfterTimeLimit: shrinkMs });
  } finally {
    await player.close();
  }
  return asError({ ...(smallest ?? found), share: found.share }, seed, smallest === null ? 'only beside others' : 'alone');
}

function asError({ log, error, share }: HistoryFailure, seed: number, how: string): Error {
  const why = error instanceof Error ? error.message : String(error);
  const title = `a random history differs from the memory store (${how}; seed ${seed}, share ${share})`;
  return new Error(`${title}\n${log.map((line) => `  ${line}`).join('\n')}\n${why}`, { cause: error });
}
