/** A stand: one side of a workload, with its ground, its contender in this process, and its crew in others. */
import type { Contender } from './contender.ts';
import { Crew } from './crew.ts';
import type { Ground } from './engine.ts';
import { openContender } from './open-contender.ts';
import { drafts, ownName } from './payload.ts';
import { Stopwatch } from './stopwatch.ts';

const warmUpBatch = 100;

export class Stand {
  readonly ground: Ground;
  readonly contender: Contender;
  readonly crew: Crew;

  private constructor(ground: Ground, contender: Contender) {
    this.ground = ground;
    this.contender = contender;
    this.crew = new Crew(ground.place);
  }

  /** The contender has done a few jobs already, so that its code is compiled. */
  static async open(ground: Ground, warmUpJobs: number): Promise<Stand> {
    const stand = new Stand(ground, await openContender(ground.place));
    for (let done = 0; done < warmUpJobs; done += warmUpBatch) await stand.contender.create(drafts(warmUpBatch));
    await stand.drainAll();
    return stand;
  }

  stopwatch(): Stopwatch {
    return new Stopwatch(this.ground);
  }

  async drainAll(): Promise<void> {
    for (;;) {
      const jobs = await this.contender.claim(ownName, warmUpBatch);
      if (jobs.length === 0) return;
      await this.contender.finish(jobs);
    }
  }

  async close(): Promise<void> {
    await this.crew.dismiss();
    await this.contender.close();
    await this.ground.remove();
  }
}
