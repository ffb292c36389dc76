/**
 * Claim on create: a single job that is created where a slot is free and nothing waits is claimed in the creating commit.
 * That is one commit instead of two, and no hint goes out for a job that is no longer claimable.
 */
import type { Created } from '../../jobs/create.ts';
import type { RunningJob } from '../../model/job.ts';
import { isRefusal } from '../../refusal.ts';
import { turn } from '../../time/clock.ts';
import type { Claimer } from './claimer.ts';
import type { Slots } from './slots.ts';

export interface ClaimOnCreateParts {
  readonly instance: string;
  readonly claimer: Claimer;
  readonly slots: Slots<RunningJob>;
  readonly isDraining: () => boolean;
  /** As the claimer has it. */
  readonly leaseEpoch: () => symbol | null;
  readonly release: (job: RunningJob) => Promise<void>;
}

/** Creates one job; with a holder, claimed for it. */
type CreateOne = (holder: string | null) => Promise<readonly Created[]>;

export class ClaimOnCreate {
  readonly #parts: ClaimOnCreateParts;

  constructor(parts: ClaimOnCreateParts) {
    this.#parts = parts;
  }

  async create(type: string, create: CreateOne): Promise<readonly Created[]> {
    const { instance, claimer, isDraining, leaseEpoch } = this.#parts;
    const epochBefore = leaseEpoch();
    if (isDraining() || !claimer.reserveSlot(type)) return create(null);
    try {
      const created = await create(instance);
      void this.#start(created, epochBefore);
      return created;
    } catch (error) {
      claimer.releaseSlot(!isRefusal(error) || error.code === 'unavailable.store');
      throw error;
    }
  }

  /** Whoever created it goes on before its handler starts. */
  async #start(created: readonly Created[], epochBefore: symbol | null): Promise<void> {
    const { claimer, slots, isDraining, leaseEpoch, release } = this.#parts;
    await turn();
    const isLeaseUnbroken = leaseEpoch() === epochBefore;
    claimer.releaseSlot(!isLeaseUnbroken);
    if (!isLeaseUnbroken) return;
    for (const { job, outcome } of created) {
      if (outcome !== 'created' || job?.state !== 'running') continue;
      if (isDraining()) await release(job);
      else slots.add([job]);
    }
  }
}
