/**
 * The time limits of the attempts that run now, in shared memory: the heartbeat thread reads and enforces them while a
 * handler blocks the event loop, where no timer fires. A row costs about 50 ns per attempt; a message would cost 5 µs.
 */
import type { Holding } from '../../store/store.ts';

export interface LimitedAttempt extends Holding {
  readonly timeoutMs: number;
  /** Differs for each attempt. */
  readonly name: string;
  /** Whether the event loop is inside the synchronous part of its handler. */
  readonly isInHandler: boolean;
}

const fields = 3;
const none = -1;

export class TimeLimits {
  readonly shared: SharedArrayBuffer;
  /** Of each row: id, fence, timeout. Written only while the row is free. */
  readonly #values: Float64Array;
  /** Of each row: odd while an attempt runs; the last element is the row of the handler that is being called. */
  readonly #marks: Int32Array;
  readonly #rows: number;
  readonly #free: number[];

  constructor(rows: number, shared = new SharedArrayBuffer(rows * (fields * 8 + 4) + 4)) {
    this.shared = shared;
    this.#rows = rows;
    this.#values = new Float64Array(shared, 0, rows * fields);
    this.#marks = new Int32Array(shared, rows * fields * 8, rows + 1);
    this.#free = Array.from({ length: rows }, (_, row) => row);
  }

  /** Returns the row to pass to the other methods. Without a free row the attempt has only its timer. */
  start({ id, fence }: Holding, timeoutMs: number): number {
    const row = this.#free.pop() ?? none;
    if (row === none) return none;
    this.#values.set([id, fence, timeoutMs], row * fields);
    Atomics.add(this.#marks, row, 1);
    return row;
  }

  end(row: number): void {
    if (row === none) return;
    Atomics.add(this.#marks, row, 1);
    this.#free.push(row);
  }

  /** The handler is being called; until `leave`, only its code can block the event loop. */
  enter(row: number): void {
    Atomics.store(this.#marks, this.#rows, row + 1);
  }

  leave(): void {
    Atomics.store(this.#marks, this.#rows, 0);
  }

  /** For another thread: the attempts that run now. */
  running(): readonly LimitedAttempt[] {
    const called = Atomics.load(this.#marks, this.#rows) - 1;
    return Array.from({ length: this.#rows }, (_, row) => this.#read(row, called)).filter((read) => read !== null);
  }

  /** Null if the row is free, or changes while it is read. */
  #read(row: number, called: number): LimitedAttempt | null {
    const mark = Atomics.load(this.#marks, row);
    if (mark % 2 === 0) return null;
    const [id, fence, timeoutMs] = this.#values.subarray(row * fields, (row + 1) * fields) as unknown as number[];
    if (Atomics.load(this.#marks, row) !== mark) return null;
    return { id: id!, fence: fence!, timeoutMs: timeoutMs!, name: `${row}/${mark}`, isInHandler: row === called };
  }
}

/** For stores that no other thread can open: timers alone enforce the limits. */
export const noTimeLimits = new TimeLimits(0);
