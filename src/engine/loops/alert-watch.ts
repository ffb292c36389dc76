/**
 * The loop of alerts: the leader watches the runs. Another instance watches if nobody has moved the cursor since its last
 * look. While there are no alerts, the loop sleeps, and `hasNew` is asked now and then whether that has changed.
 */
import { cursorName, isInUse } from '../../jobs/alerts.ts';
import { watchRuns } from '../../jobs/alert-watch.ts';
import type { Jobs } from '../../jobs.ts';
import { isRefusal } from '../../refusal.ts';

const watchMs = 5_000;
const followerWatchMs = 10_000;
/** How long the loop sleeps while there is nothing to watch. */
const idleMs = 3_600_000;

export class AlertWatch {
  readonly #jobs: Jobs;
  readonly #by: string;
  readonly #isLeader: () => boolean;
  /** The version of the cursor at the last look; null: there were no alerts. */
  #seen: number | null = null;

  constructor(jobs: Jobs, by: string, isLeader: () => boolean) {
    this.#jobs = jobs;
    this.#by = by;
    this.#isLeader = isLeader;
  }

  /** Reads one page of events; returns the ms until the next turn. */
  async turn(): Promise<number> {
    const mayAct = (version: number): boolean => this.#isLeader() || version === this.#seen;
    try {
      const { cursorVersion, hasMore } = await watchRuns(this.#jobs, this.#by, mayAct);
      this.#seen = cursorVersion;
      if (cursorVersion === null) return idleMs;
      return hasMore ? 0 : this.#isLeader() ? watchMs : followerWatchMs;
    } catch (error) {
      // An instance without the key of encoded alerts leaves them to the others.
      if (isRefusal(error) && error.code === 'encoded.payload') return idleMs;
      throw error;
    }
  }

  /** Whether there are alerts, although there were none at the last turn. */
  async hasNew(): Promise<boolean> {
    if (this.#seen !== null) return false;
    return (await this.#jobs.store.memos(cursorName)).some(isInUse);
  }
}
