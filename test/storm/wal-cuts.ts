// Power loss on SQLite: the WAL is cut at a random byte. The rest must open, pass the integrity check and `verify`, and
// contain a prefix of the feed with every event that was acknowledged before the cut.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Jobs } from '../../src/jobs.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { FeedEvent } from '../../src/store/store.ts';
import { violationText, verify } from '../../src/verify.ts';
import { RandomStreams, type RandomStream } from '../sim/random-streams.ts';
import { damageOf } from './store-fixture.ts';

export interface WalCutOptions {
  readonly cuts: number;
  readonly seed?: number;
}

export interface WalCutReport {
  readonly cuts: number;
  readonly seed: number;
  readonly commits: number;
  /** Cuts in the middle of a commit. */
  readonly torn: number;
  readonly violations: readonly string[];
}

/** The size of the WAL after a number of acknowledged events. */
interface Mark {
  readonly bytes: number;
  readonly events: number;
}

const actionCount = 120;

export async function walCuts({ cuts, seed = Date.now() % 2 ** 31 }: WalCutOptions): Promise<WalCutReport> {
  const random = new RandomStreams(seed).stream('cuts');
  const folder = mkdtempSync(join(tmpdir(), 'stint-cuts-'));
  const path = join(folder, 'jobs.db');
  const store = new SqliteStore(path);
  try {
    await store.migrate();
    const marks = [mark(path, [])];
    const jobs = new Jobs(store);
    for (let action = 0; action < actionCount; action += 1) {
      await act(jobs, random);
      marks.push(mark(path, await feedOf(store)));
    }
    const isCheckpointed = marks.some(({ bytes }, index) => bytes < (marks[index - 1]?.bytes ?? 0));
    if (isCheckpointed) throw new Error('cannot cut: the WAL was checkpointed meanwhile');
    const whole = await feedOf(store);
    const violations: string[] = [];
    let torn = 0;
    for (let cut = 0; cut < cuts; cut += 1) {
      // One in five cuts is exactly between two commits.
      const bytes = random.isTrue(0.2)
        ? random.pick(marks).bytes
        : random.integer(marks[0]!.bytes, marks.at(-1)!.bytes);
      if (!marks.some((each) => each.bytes === bytes)) torn += 1;
      const found = await afterCut(path, join(folder, `cut-${cut}.db`), bytes, { whole, marks });
      violations.push(...found.map((what) => `cut at byte ${bytes} of seed ${seed}: ${what}`));
    }
    return { cuts, seed, commits: marks.length, torn, violations };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const mark = (path: string, events: readonly FeedEvent[]): Mark =>
  ({ bytes: statSync(`${path}-wal`).size, events: events.length });

const feedOf = async (store: SqliteStore): Promise<readonly FeedEvent[]> =>
  (await store.eventsAfter(null, 1_000_000)).events;

/** Writes something: creates jobs, claims, or ends jobs. */
async function act(jobs: Jobs, random: RandomStream): Promise<void> {
  const by = 'client';
  const action = random.integer(0, 3);
  if (action === 0) {
    const draft = () => ({ type: 'plain', input: { padding: random.hex(300) } });
    await jobs.createMany(Array.from({ length: random.integer(1, 5) }, draft), by);
    return;
  }
  const ask = { kinds: ['run'], names: { glob: '*' }, limit: 2, holder: by, leaseMs: 60_000 } as const;
  for (const { id, fence } of await jobs.claim(ask)) {
    if (action === 1) await jobs.succeed(id, fence, { by }, '{"done":true}');
    if (action === 2) await jobs.fail(id, fence, { code: 'unknown', message: 'it did not work' }, { by });
  }
}

interface ExpectedFeed {
  readonly whole: readonly FeedEvent[];
  readonly marks: readonly Mark[];
}

async function afterCut(path: string, copy: string, bytes: number, { whole, marks }: ExpectedFeed): Promise<string[]> {
  copyFileSync(path, copy);
  writeFileSync(`${copy}-wal`, readFileSync(`${path}-wal`).subarray(0, bytes));
  const damage = damageOf(copy);
  const store = new SqliteStore(copy);
  try {
    const left = await feedOf(store);
    const acknowledged = marks.findLast((each) => each.bytes <= bytes)!.events;
    const isPrefix = JSON.stringify(left) === JSON.stringify(whole.slice(0, left.length));
    return [
      ...damage,
      ...(isPrefix ? [] : ['the rest is no prefix of the feed']),
      ...(left.length >= acknowledged ? [] : [`S8: ${acknowledged} events were acknowledged, ${left.length} are left`]),
      ...(await Array.fromAsync(verify(store, { patienceMs: 0 }))).map(violationText),
    ];
  } finally {
    await store.close();
  }
}
