/**
 * Newborns: a lone job that is created where a slot is free and nobody waits is taken on with its birth. That is one
 * commit instead of two, and nobody is told of a job that is gone when they come for it.
 */
import type { Created } from '../../jobs/create.ts';
import type { RunningJob } from '../../model/job.ts';
import { isRefusal } from '../../refusal.ts';
import { turn } from '../../time/clock.ts';
import type { Claimer } from './claimer.ts';
import type { Slots } from './slots.ts';

export interface NewbornsParts {
  readonly instance: string;
  readonly claimer: Claimer;
  readonly slots: Slots<RunningJob>;
  readonly isDraining: () => boolean;
  /** As the claimer has it. */
  readonly trust: () => symbol | null;
  readonly giveBack: (job: RunningJob) => Promise<void>;
}

/** Creates one job; if there is a taker, for it. */
type Create = (taker: string | null) => Promise<readonly Created[]>;

export class Newborns {
  readonly #parts: NewbornsParts;

  constructor(parts: NewbornsParts) {
    this.#parts = parts;
  }

  async create(type: string, create: Create): Promise<readonly Created[]> {
    const { instance, claimer, isDraining, trust } = this.#parts;
    const before = trust();
    if (isDraining() || !claimer.expect(type)) return create(null);
    try {
      const created = await create(instance);
      void this.#welcome(created, before);
      return created;
    } catch (error) {
      claimer.arrived(!isRefusal(error) || error.code === 'unavailable.store');
      throw error;
    }
  }

  /** Whoever created it goes on before its handler starts. */
  async #welcome(created: readonly Created[], before: symbol | null): Promise<void> {
    const { claimer, slots, isDraining, trust, giveBack } = this.#parts;
    await turn();
    const isOurs = trust() === before;
    claimer.arrived(!isOurs);
    if (!isOurs) return;
    for (const { job, outcome } of created) {
      if (outcome !== 'created' || job?.state !== 'running') continue;
      if (isDraining()) await giveBack(job);
      else slots.add([job]);
    }
  }
}
