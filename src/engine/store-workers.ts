/** The workers of an engine: one for its database and, as soon as there are in-memory jobs, one for memory. */
import type { Jobs } from '../jobs.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import type { Holding } from '../store/store.ts';
import { Loop } from '../time/loop.ts';
import { noBackupHeartbeat } from './loops/backup-heartbeat.ts';
import type { EndedJobs } from './attempt/attempt-counts.ts';
import type { ClaimOnCreate } from './loops/claim-on-create.ts';
import type { InstanceCommand } from './declare/instance-command.ts';
import { InstanceCommands } from './loops/instance-commands.ts';
import { Worker, type WorkerParts } from './worker.ts';

export interface StoreWorkersParts extends Omit<WorkerParts, 'takeInboxPage'> {
  readonly memory: Jobs;
}

/** The default retention of in-memory runs is at most this long. Without a limit, ended runs would fill the memory. */
const memoryRetentionMax: Duration = '1h';

export class StoreWorkers {
  readonly #parts: StoreWorkersParts;
  readonly #database: Worker;
  readonly #commandLoop: Loop;
  #memory: Worker | null = null;
  #isResumed = false;

  /**
   * `apply` executes a command that an operator has sent to this instance; `takeInboxPage` creates runs of the inbox.
   */
  constructor(
    parts: StoreWorkersParts,
    apply: (command: InstanceCommand) => Promise<void>,
    takeInboxPage: () => Promise<boolean>,
  ) {
    this.#parts = parts;
    const commands = new InstanceCommands({ ...parts, apply });
    this.#database = new Worker({ ...parts, instanceCommands: commands, takeInboxPage });
    this.#commandLoop = new Loop('instance commands', parts, () => commands.turn(this.#isClaiming));
  }

  get claimOnCreate(): ClaimOnCreate {
    return this.#database.claimOnCreate;
  }

  get running(): readonly number[] {
    return this.#all.flatMap(({ running }) => running);
  }

  async resume(): Promise<void> {
    this.#isResumed = true;
    await Promise.all(this.#all.map((worker) => worker.start()));
    this.#commandLoop.start();
  }

  /** A job of one store may create jobs in the other one: both are asked again until neither has started anything. */
  async whenIdle(): Promise<EndedJobs> {
    const started = (): number => this.#all.reduce((all, worker) => all + worker.started, 0);
    let [ended, before] = [await this.#whenEachIdle(), 0];
    while (this.#all.length > 1 && started() !== before) {
      before = started();
      ended = await this.#whenEachIdle();
    }
    const sum = (of: (jobs: EndedJobs) => number): number => ended.reduce((all, jobs) => all + of(jobs), 0);
    return { succeeded: sum(({ succeeded }) => succeeded), failed: sum(({ failed }) => failed) };
  }

  #whenEachIdle(): Promise<readonly EndedJobs[]> {
    return Promise.all(this.#all.map((worker) => worker.whenIdle()));
  }

  async suspend(): Promise<void> {
    this.#isResumed = false;
    await Promise.all(this.#all.map((worker) => worker.suspend()));
  }

  async close(patienceMs: number): Promise<void> {
    for (const worker of this.#all) worker.drain();
    await this.#commandLoop.stop();
    await Promise.all(this.#all.map((worker) => worker.close(patienceMs)));
  }

  /** Creates the worker for in-memory jobs, unless it exists. Call before the first in-memory job is created. */
  async startMemory(): Promise<void> {
    if (this.#memory) return;
    const { retention, memory: jobs, boot } = this.#parts;
    const jobsMs = Math.min(retention.jobsMs ?? Infinity, durationMs(memoryRetentionMax));
    const memoryRetention = { ...retention, jobsMs };
    const { timeLimits } = this.#parts.backupHeartbeat;
    // No other instance can take over in-memory jobs, so their lease needs no backup heartbeat.
    const backupHeartbeat = { ...noBackupHeartbeat, timeLimits };
    const keyPrefix = `${boot}.`;
    this.#memory = new Worker({ ...this.#parts, jobs, retention: memoryRetention, backupHeartbeat, keyPrefix });
    if (this.#isResumed) await this.#memory.start();
  }

  hasIssuedToken(token: string, holding: Holding): boolean {
    return this.#all.some((worker) => worker.hasIssuedToken(token, holding));
  }

  wake(): void {
    for (const worker of this.#all) worker.wake();
  }

  reschedule(): void {
    for (const worker of this.#all) worker.reschedule();
  }

  watchAlerts(): void {
    this.#database.watchAlerts();
  }

  checkCancels(): void {
    for (const worker of this.#all) worker.checkCancels();
  }

  /** Call when a command was sent to an instance, which may be this one. */
  checkCommands(): void {
    this.#commandLoop.wake();
  }

  get #all(): readonly Worker[] {
    return this.#memory ? [this.#database, this.#memory] : [this.#database];
  }

  get #isClaiming(): boolean {
    return this.#isResumed && !this.#database.isFull;
  }
}
