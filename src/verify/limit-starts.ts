/** The starts of the jobs of a limit, in arrays of numbers: there may be a million, and each takes 24 bytes. */

export interface LimitStart {
  readonly job: number;
  readonly cost: number;
  readonly at: number;
}

const fields = 3;
const roomFirst = 4;

export class LimitStarts {
  #numbers = new Float64Array(fields * roomFirst);
  #count = 0;

  add({ job, cost, at }: LimitStart): void {
    if (this.#count * fields === this.#numbers.length) this.#grow();
    this.#numbers.set([job, cost, at], this.#count * fields);
    this.#count += 1;
  }

  /** Yields the starts in the order of time; those at the same time in the order in which they were added. */
  * inOrder(): Generator<LimitStart> {
    const order = Uint32Array.from({ length: this.#count }, (_, index) => index);
    order.sort((a, b) => this.#number(a, 2) - this.#number(b, 2) || a - b);
    for (const index of order) {
      yield { job: this.#number(index, 0), cost: this.#number(index, 1), at: this.#number(index, 2) };
    }
  }

  #number(index: number, field: number): number {
    return this.#numbers[index * fields + field]!;
  }

  #grow(): void {
    const larger = new Float64Array(this.#numbers.length * 2);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
