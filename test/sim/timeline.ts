// The timeline: what happens when, in virtual time. It alone decides what comes next; idle hours cost nothing.
import { turn } from '../../src/time/clock.ts';

type Happening = () => void | Promise<void>;

interface Entry {
  readonly at: number;
  readonly order: number;
  happening: Happening | null;
}

export class Timeline {
  #now: number;
  #order = 0;
  #isOver = false;
  /** A heap: no entry comes before its parent. */
  readonly #entries: Entry[] = [];

  constructor(start: number) {
    this.#now = start;
  }

  get now(): number {
    return this.#now;
  }

  /** The answer takes it back. */
  after(ms: number, happening: Happening): () => void {
    const entry: Entry = { at: this.#now + Math.max(0, Math.ceil(ms)), order: (this.#order += 1), happening };
    this.#push(entry);
    return () => {
      entry.happening = null;
    };
  }

  /** Ends `run` after what happens now. */
  stop(): void {
    this.#isOver = true;
  }

  /** Lets everything happen up to a time, one thing after the other, each with all that follows from it at once. */
  async run(until: number): Promise<void> {
    this.#isOver = false;
    await turn();
    for (let entry = this.#peek(); entry && entry.at <= until && !this.#isOver; entry = this.#peek()) {
      this.#pop();
      const { happening } = entry;
      if (happening === null) continue;
      this.#now = entry.at;
      await happening();
      await turn();
    }
    if (!this.#isOver) this.#now = Math.max(this.#now, until);
  }

  #peek(): Entry | undefined {
    return this.#entries[0];
  }

  #push(entry: Entry): void {
    const heap = this.#entries;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#entries;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
