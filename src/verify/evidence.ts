/**
 * Evidence: which new jobs the store acknowledged, and what handlers did. It is recorded outside the store and compared
 * with the store's content. Calls with an unknown outcome are not part of it.
 */
import type { Event, EventKind } from '../model/event.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Invariant, type Violation } from './violation.ts';

export interface Evidence {
  /**
   * The ids of jobs whose creation was acknowledged. Leave out jobs that were deleted since, here and in the other
   * fields.
   */
  readonly acknowledged: Iterable<number>;
  /** Every call of a handler. */
  readonly starts: readonly Start[];
  /** Effects of handlers in the store's own database, made in the transaction that completes the job. */
  readonly effects?: readonly Start[];
}

/** One call of a handler, or one effect: the job, and the fence under which it happened. */
export interface Start {
  readonly job: number;
  readonly fence: number;
}

/** The evidence, grouped by job, so that each job is checked together with its history. */
export class EvidenceIndex {
  readonly #acknowledged: Set<number>;
  readonly #starts: ReadonlyMap<number, number[]>;
  readonly #effects: ReadonlyMap<number, number[]>;
  /** The ids of the jobs in `starts` and `effects` for which `check` has not been called yet. */
  readonly #unseen: Set<number>;

  constructor({ acknowledged, starts, effects = [] }: Evidence) {
    this.#acknowledged = new Set(acknowledged);
    this.#starts = fencesByJob(starts);
    this.#effects = fencesByJob(effects);
    this.#unseen = new Set([...this.#starts.keys(), ...this.#effects.keys()]);
  }

  check(stored: JobWithHistory): Violation[] {
    const { id } = stored.job;
    this.#acknowledged.delete(id);
    this.#unseen.delete(id);
    const fences = this.#starts.get(id) ?? [];
    return [...checkStarts(stored, fences), ...checkEffects(stored, this.#effects.get(id) ?? [])];
  }

  /** Returns a violation for each job in the evidence that is not stored. Call it after `check` of all stored jobs. */
  checkMissing(): Violation[] {
    return [
      ...[...this.#acknowledged].map((id) => violation('S8', id, `job ${id} was acknowledged and is not stored`)),
      ...[...this.#unseen].map((id) => this.#unstored(id)),
    ];
  }

  #unstored(id: number): Violation {
    return this.#starts.has(id)
      ? violation('S9', id, `job ${id} was run and is not stored`)
      : violation('P4', id, `job ${id} took effect and is not stored`);
  }
}

/** The events after which a job can be claimed and started again. */
const again: ReadonlySet<EventKind> = new Set<EventKind>([
  'lapsed', 'retried', 'released', 'slept', 'planned', 'repeated', 'reopened',
]);

/**
 * S3, S9, P5: every start has its own claim, and there are no more starts than causes. A cause is the creation of the
 * job, or an event of `again`.
 */
function checkStarts({ job, events }: JobWithHistory, fences: readonly number[]): Violation[] {
  const { id } = job;
  const starts = fences.length;
  const claims = events.filter(({ kind }) => kind === 'claimed').length;
  const causes = events.filter(({ kind }) => again.has(kind)).length;
  const wrong: (readonly [Invariant, string])[] = [];
  if (new Set(fences).size < starts) wrong.push(['S3', 'twice under one fence']);
  if (fences.some((fence) => fence > claims)) wrong.push(['S9', 'without a claim']);
  if (starts > 1 + causes) wrong.push(['P5', `${starts} times for ${causes + 1} causes`]);
  return wrong.map(([invariant, how]) => violation(invariant, id, `job ${id} was started ${how}`));
}

/** P4: an effect in the transaction that completes a job happens once per success. */
function checkEffects({ job, events }: JobWithHistory, fences: readonly number[]): Violation[] {
  const successes = events.filter(isSuccess).length;
  if (fences.length === 0 || fences.length === successes) return [];
  return [violation('P4', job.id, `job ${job.id} succeeded ${successes} times and took effect ${fences.length} times`)];
}

const isSuccess = ({ kind }: Event): boolean => kind === 'succeeded' || kind === 'repeated';

function fencesByJob(starts: readonly Start[]): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const { job, fence } of starts) found.set(job, [...(found.get(job) ?? []), fence]);
  return found;
}
