/**
 * Verifies a store: checks the invariants that its rows, histories and feed can show, page by page, while other
 * processes may write. No transaction stays open from one page to the next. A finding about a job that can be read is
 * checked again later, since two reads of a live store are not one snapshot.
 */
import { never } from '../model/definition.ts';
import { isRefusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { checkFeed } from './feed.ts';
import { messageOf, StoreInspection, type Suspicion, type InspectionOptions, type VerifyProgress } from './inspection.ts';
import { readStored } from './paging.ts';
import { violation, type Violation } from './violation.ts';

export interface VerifyOptions extends Omit<InspectionOptions, 'isLive'> {
  /**
   * How long a finding must persist before it is reported. 0: findings are reported at once, for a store to which no
   * other process writes.
   */
  readonly patienceMs?: number;
  readonly clock?: Pick<Clock, 'sleep'>;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

const patienceDefaultMs = 3_000;
/** A finding is reported if it appears in this many checks, the first included. Does not apply if `patienceMs` is 0. */
const confirmations = 3;

/**
 * Yields violations when they are found; findings about jobs are confirmed first. Checks the jobs that exist at the begin.
 * Returns the number of jobs and events checked.
 */
export async function* verify(store: Store, options: VerifyOptions = {}): AsyncGenerator<Violation, VerifyProgress> {
  const { patienceMs = patienceDefaultMs, clock = systemClock, onProgress } = options;
  const isLive = patienceMs > 0;
  const begun = store.now();
  const inspection = new StoreInspection(store, { ...options, isLive });
  const confirmed = (findings: readonly Suspicion[]): Promise<readonly Violation[]> =>
    confirm(inspection, findings, isLive ? patienceMs : 0, clock);
  try {
    for await (const { jobs, unreadable } of readStored(store)) {
      for (const { id, why } of unreadable) yield violation('S36', id, `job ${id} cannot be read: ${why}`);
      yield* await confirmed(await inspection.inspect(jobs));
      if (jobs.length > 0) onProgress?.(inspection.progress);
    }
    for await (const findings of inspection.unfinished()) yield* await confirmed(findings);
  } catch (error) {
    if (isRefusal(error)) throw error;
    const { jobs } = inspection.progress;
    yield violation('S36', null, `no more than ${jobs} jobs can be read and checked: ${messageOf(error)}`);
  }
  for (const { job, sentence } of (await store.contradictions?.()) ?? []) yield violation('S38', job, sentence);
  yield* inspection.missing();
  yield* await inspection.exceededLimits(isLive ? begun : never);
  yield* checkFeed(store, isLive ? { upTo: store.now() } : {});
  return inspection.progress;
}

/** Checks the jobs of findings again, and returns the findings that appear in every check. */
async function confirm(
  inspection: StoreInspection,
  findings: readonly Suspicion[],
  patienceMs: number,
  clock: Pick<Clock, 'sleep'>,
): Promise<readonly Violation[]> {
  let standing = findings;
  for (let round = 1; patienceMs > 0 && round < confirmations && standing.length > 0; round++) {
    await clock.sleep(patienceMs / (confirmations - 1));
    const again = new Set((await inspection.again(standing.map(({ by }) => by))).map(nameOf));
    standing = standing.filter((finding) => again.has(nameOf(finding)));
  }
  return standing.map(({ found }) => found);
}

const nameOf = ({ by, found }: Suspicion): string => `${by} ${found.job} ${found.invariant}`;
