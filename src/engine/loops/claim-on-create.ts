/**
 * Claim on create: a single new job is claimed in the commit that creates it.
 *
 * Saves: one commit and one notification. Pick-up in the same process: PostgreSQL 3.3 → 1.7 ms, SQLite 1.8 → 1.0 ms
 * (bench/LEDGER.md, c70a5d2).
 * Applies: to one job of a type that this instance executes, if the job is due now and has no gate, a slot is free and
 * the last claim returned fewer jobs than requested. Without it: the new job wakes the claimers, and one of them claims
 * it in a second commit.
 */
import type { Jobs } from '../../jobs.ts';
import type { Created, Holder } from '../../jobs/create.ts';
import type { Draft } from '../../jobs/draft.ts';
import { isRefusal } from '../../refusal.ts';
import { turn } from '../../time/clock.ts';
import type { SlotWork } from '../attempt/job-batch.ts';
import type { Finisher } from '../attempt/finisher.ts';
import type { Claimer } from './claimer.ts';
import type { InstanceLease } from './lease.ts';
import type { Slots } from './slots.ts';

export interface ClaimOnCreateParts {
  readonly jobs: Jobs;
  readonly holder: Holder;
  readonly lease: InstanceLease;
  readonly claimer: Claimer;
  readonly slots: Slots<SlotWork>;
  readonly finisher: Finisher;
  readonly isDraining: () => boolean;
}

export class ClaimOnCreate {
  readonly #parts: ClaimOnCreateParts;

  constructor(parts: ClaimOnCreateParts) {
    this.#parts = parts;
  }

  applies(type: string): boolean {
    const { claimer, slots, isDraining } = this.#parts;
    return !isDraining() && slots.unreserved > 0 && claimer.isCaughtUp(type);
  }

  /** Creates and claims a job, and reserves a slot meanwhile. Call only when `applies` returns true. */
  async create(draft: Draft, by: string): Promise<readonly Created[]> {
    const { jobs, holder, slots, lease } = this.#parts;
    const epochBefore = lease.epoch;
    slots.reserve();
    try {
      const created = await jobs.createMany([draft], by, holder);
      void this.#start(created, epochBefore);
      return created;
    } catch (error) {
      this.#endReservation(isRefused(error));
      throw error;
    }
  }

  /**
   * Starts the handler in a later turn of the event loop, so that the code that awaits the creation continues first. If
   * the lease may have lapsed meanwhile, the handler is not started, and the claimer repairs the job.
   */
  async #start(created: readonly Created[], epochBefore: symbol | null): Promise<void> {
    const { lease, slots, finisher, isDraining } = this.#parts;
    await turn();
    const isLeaseUnbroken = lease.epoch === epochBefore;
    this.#endReservation(isLeaseUnbroken);
    if (!isLeaseUnbroken) return;
    for (const { job, outcome } of created) {
      if (outcome !== 'created' || job?.state !== 'running') continue;
      if (isDraining()) await finisher.release(job);
      else slots.add([job]);
    }
  }

  /** Frees the reserved slot. If the job may have been claimed without being started, the claimer must repair it. */
  #endReservation(isOutcomeKnown: boolean): void {
    const { slots, claimer } = this.#parts;
    slots.unreserve();
    if (!isOutcomeKnown) claimer.noteUnknownClaims();
  }
}

/** Whether the error proves that nothing was written: it is a refusal, but not that of an unavailable store. */
const isRefused = (error: unknown): boolean => isRefusal(error) && !error.code.startsWith('unavailable.');
