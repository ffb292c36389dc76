// A planted bug: a memory store that does one thing wrong.
import type { Job } from '../../../src/model/job.ts';
import { MemoryStore } from '../../../src/store/memory/store.ts';
import type { Holding, Store } from '../../../src/store/store.ts';
import type { Clock } from '../../../src/time/clock.ts';

/** A memory store whose clock can be put wrong for a moment. */
export class Sound extends MemoryStore {
  readonly #skew: { ms: number };

  constructor(clock: Clock) {
    const skew = { ms: 0 };
    super({ ...clock, now: () => clock.now() + skew.ms });
    this.#skew = skew;
  }

  async wronglyTimed<T>(ms: number, work: () => Promise<T>): Promise<T> {
    this.#skew.ms = ms;
    const answer = work();
    this.#skew.ms = 0;
    return answer;
  }

  /** The job as it is now, whatever the caller saw. */
  async current(id: number): Promise<Job | undefined> {
    return (await this.load([id]))[0];
  }

  /** The holding with the fence that is current. */
  async trueHolding<T extends Holding>(holding: T): Promise<T> {
    return { ...holding, fence: (await this.current(holding.id))?.fence ?? holding.fence };
  }
}

/** A bug that the conformance suite must find. */
export interface Bug {
  readonly title: string;
  readonly plant: new (clock: Clock) => Store;
  /** The topic whose examples must find it. */
  readonly topic: string;
  /** What else must find it. */
  readonly alsoBy?: readonly ('histories' | 'races')[];
}
