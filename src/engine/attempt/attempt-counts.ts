/**
 * Counts the attempts and batches of this instance per job type since it started. Heartbeats publish the counts, so that the
 * failures of two builds can be compared during a deploy.
 */
import type { EventKind } from '../../model/event.ts';
import type { TypeAttempts, TypeBatches } from '../../store/store.ts';

/** Heartbeats are written often, so they contain only the types with the most attempts. */
const typesMax = 100;

export interface EndedJobs {
  readonly succeeded: number;
  readonly failed: number;
}

export class AttemptCounts {
  #succeeded = 0;
  #failed = 0;
  readonly #ofTypes = new Map<string, { succeeded: number; failed: number }>();
  readonly #batches = new Map<string, { readonly batches: number; readonly jobs: number }>();

  /** Counts an attempt by the event that ended it. Released, snoozed and cancelled attempts do not count. */
  note(type: string, kind: EventKind | undefined): void {
    const outcome = kind === 'succeeded' ? 'succeeded' : kind === 'failed' || kind === 'retried' ? 'failed' : null;
    if (outcome === null) return;
    if (kind === 'succeeded') this.#succeeded += 1;
    if (kind === 'failed') this.#failed += 1;
    const counts = this.#ofTypes.get(type) ?? { succeeded: 0, failed: 0 };
    counts[outcome] += 1;
    this.#ofTypes.set(type, counts);
  }

  noteBatch(type: string, jobs: number): void {
    const counts = this.#batches.get(type) ?? { batches: 0, jobs: 0 };
    this.#batches.set(type, { batches: counts.batches + 1, jobs: counts.jobs + jobs });
  }

  /** How many jobs have ended here: with success, and for good without. */
  get ended(): EndedJobs {
    return { succeeded: this.#succeeded, failed: this.#failed };
  }

  get batches(): readonly TypeBatches[] {
    return Array.from(this.#batches, ([type, counts]) => ({ type, ...counts })).slice(0, typesMax);
  }

  get mostFrequent(): readonly TypeAttempts[] {
    const all = Array.from(this.#ofTypes, ([type, counts]) => ({ type, ...counts }));
    if (all.length <= typesMax) return all;
    const attempts = ({ succeeded, failed }: TypeAttempts): number => succeeded + failed;
    return all.sort((a, b) => attempts(b) - attempts(a)).slice(0, typesMax);
  }
}
