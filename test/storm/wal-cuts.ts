// Power loss on SQLite: the log of commits is cut at a random byte after what was synced. Whatever is left opens, is
// sound, keeps every promise, and is a prefix of what was done; what was acknowledged before the cut is there.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Jobs } from '../../src/jobs.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { FeedEvent } from '../../src/store/store.ts';
import { violationText, verify } from '../../src/verify.ts';
import { Draws, type Stream } from '../sim/draws.ts';
import { damageOf } from './ground.ts';

export interface WalCutOptions {
  readonly cuts: number;
  readonly seed?: number;
}

export interface WalCutReport {
  readonly cuts: number;
  readonly seed: number;
  readonly commits: number;
  /** Cuts that fell into the middle of a commit. */
  readonly torn: number;
  readonly violations: readonly string[];
}

/** How long the log was when how many events had been acknowledged. */
interface Mark {
  readonly bytes: number;
  readonly events: number;
}

const deedCount = 120;

export async function walCuts({ cuts, seed = Date.now() % 2 ** 31 }: WalCutOptions): Promise<WalCutReport> {
  const dice = new Draws(seed).stream('cuts');
  const folder = mkdtempSync(join(tmpdir(), 'stint-cuts-'));
  const path = join(folder, 'jobs.db');
  const store = new SqliteStore(path);
  try {
    await store.migrate();
    const marks = [mark(path, [])];
    const jobs = new Jobs(store);
    for (let deed = 0; deed < deedCount; deed += 1) {
      await act(jobs, dice);
      marks.push(mark(path, await feedOf(store)));
    }
    const isEmptied = marks.some(({ bytes }, index) => bytes < (marks[index - 1]?.bytes ?? 0));
    if (isEmptied) throw new Error('the log was emptied in between');
    const whole = await feedOf(store);
    const violations: string[] = [];
    let torn = 0;
    for (let cut = 0; cut < cuts; cut += 1) {
      // Some fall exactly between two commits.
      const bytes = dice.isTrue(0.2) ? dice.pick(marks).bytes : dice.whole(marks[0]!.bytes, marks.at(-1)!.bytes);
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

/** Something that is written: a few jobs, a claim, an end. */
async function act(jobs: Jobs, dice: Stream): Promise<void> {
  const by = 'someone';
  const deed = dice.whole(0, 3);
  if (deed === 0) {
    const draft = () => ({ type: 'plain', input: { padding: dice.hex(300) } });
    await jobs.createMany(Array.from({ length: dice.whole(1, 5) }, draft), by);
    return;
  }
  const ask = { kinds: ['run'], names: { glob: '*' }, limit: 2, holder: by, leaseMs: 60_000 } as const;
  for (const { id, fence } of await jobs.claim(ask)) {
    if (deed === 1) await jobs.succeed(id, fence, { by }, '{"done":true}');
    if (deed === 2) await jobs.fail(id, fence, { code: 'unknown', message: 'it did not work' }, { by });
  }
}

interface Truth {
  readonly whole: readonly FeedEvent[];
  readonly marks: readonly Mark[];
}

async function afterCut(path: string, copy: string, bytes: number, { whole, marks }: Truth): Promise<string[]> {
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
      ...(isPrefix ? [] : ['what is left is no prefix of what was done']),
      ...(left.length >= acknowledged ? [] : [`S8: ${acknowledged} events were acknowledged, ${left.length} are left`]),
      ...(await Array.fromAsync(verify(store, { patienceMs: 0 }))).map(violationText),
    ];
  } finally {
    await store.close();
  }
}
