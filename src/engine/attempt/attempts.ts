/** The attempts that this process is executing, by job. */
import type { RunningJob } from '../../model/job.ts';
import type { Random } from '../../random.ts';
import type { Holding } from '../../store/store.ts';
import { Attempt } from './attempt.ts';
import { NumberMap } from './number-map.ts';

export class Attempts {
  readonly #random: Random;
  /** By job: the index of its attempt in `#attempts`. */
  readonly #indexOf = new NumberMap();
  readonly #attempts: (Attempt | undefined)[] = [];
  readonly #free: number[] = [];
  #started = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get size(): number {
    return this.#indexOf.size;
  }

  /** How many attempts have started so far. */
  get started(): number {
    return this.#started;
  }

  *values(): Iterable<Attempt> {
    for (const attempt of this.#attempts) if (attempt !== undefined) yield attempt;
  }

  has(id: number): boolean {
    return this.#indexOf.has(id);
  }

  get(id: number): Attempt | undefined {
    const index = this.#indexOf.get(id);
    return index === undefined ? undefined : this.#attempts[index];
  }

  /**
   * Returns the attempt of the job under this fence. Undefined: the job has no attempt here, or its attempt has another
   * fence and so belongs to another claim.
   */
  under({ id, fence }: Holding): Attempt | undefined {
    const attempt = this.get(id);
    return attempt?.holding.fence === fence ? attempt : undefined;
  }

  start(job: RunningJob): Attempt {
    const attempt = new Attempt(job, this.#random);
    this.#attempts[this.#indexFor(job.id)] = attempt;
    this.#started += 1;
    return attempt;
  }

  /** Removes this attempt; a newer attempt of the same job stays. */
  remove(attempt: Attempt): void {
    const { id } = attempt.job;
    if (this.get(id) !== attempt) return;
    const index = this.#indexOf.get(id)!;
    this.#indexOf.delete(id);
    this.#attempts[index] = undefined;
    this.#free.push(index);
  }

  /** Returns the index of the older attempt of this job, which the new one replaces, or a free one. */
  #indexFor(id: number): number {
    const known = this.#indexOf.get(id);
    if (known !== undefined) return known;
    const index = this.#free.pop() ?? this.#attempts.length;
    this.#indexOf.set(id, index);
    return index;
  }
}
