/** The fixture of one side of a workload: a scratch database, a target in this process, and worker processes. */
import type { ScratchDatabase } from './database.ts';
import { openTarget } from './open-target.ts';
import { drafts, ownName } from './payload.ts';
import { Stopwatch } from './stopwatch.ts';
import type { Target } from './target.ts';
import { WorkerPool } from './worker-pool.ts';

const warmUpBatch = 100;

export class Fixture {
  readonly scratch: ScratchDatabase;
  readonly target: Target;
  readonly workerPool: WorkerPool;

  private constructor(scratch: ScratchDatabase, target: Target) {
    this.scratch = scratch;
    this.target = target;
    this.workerPool = new WorkerPool(scratch.address);
  }

  /** Runs some jobs through the target first, so that V8 has compiled its code. */
  static async open(scratch: ScratchDatabase, warmUpJobs: number): Promise<Fixture> {
    const fixture = new Fixture(scratch, await openTarget(scratch.address));
    for (let done = 0; done < warmUpJobs; done += warmUpBatch) await fixture.target.create(drafts(warmUpBatch));
    await fixture.drainAll();
    return fixture;
  }

  stopwatch(): Stopwatch {
    return new Stopwatch(this.scratch);
  }

  async drainAll(): Promise<void> {
    for (;;) {
      const jobs = await this.target.claim(ownName, warmUpBatch);
      if (jobs.length === 0) return;
      await this.target.finish(jobs);
    }
  }

  async close(): Promise<void> {
    await this.workerPool.close();
    await this.target.close();
    await this.scratch.remove();
  }
}
