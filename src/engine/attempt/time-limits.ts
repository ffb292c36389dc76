/**
 * The time limits of the attempts that run now, one row each in shared memory. No timer fires while a handler blocks
 * the event loop, so the heartbeat thread reads the rows and enforces the limits. Writing a row takes about 50 ns;
 * sending a message to the thread would take 5 µs.
 */
import type { Holding } from '../../store/store.ts';

export interface LimitedAttempt extends Holding {
  readonly timeoutMs: number;
  /** Identifies the attempt: no other attempt of this instance has the same name. */
  readonly name: string;
  /** Whether the event loop is in the synchronous part of this attempt's handler. */
  readonly isInHandler: boolean;
}

const fields = 3;
const none = -1;

export class TimeLimits {
  readonly shared: SharedArrayBuffer;
  /** For each row: job id, fence and timeout. Written only while the row is free. */
  readonly #values: Float64Array;
  /**
   * For each row: a counter that is odd while the row has an attempt. After the rows, one more element: 1 + the row
   * whose handler is being called, or 0 while no handler is being called.
   */
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

  /**
   * Adds an attempt and returns its row, to be passed to `enter` and `end`; `none`: no row is free, and only a timer
   * limits the attempt.
   */
  start({ id, fence }: Holding, timeoutMs: number): number {
    const row = this.#free.pop() ?? none;
    if (row === none) return none;
    const at = row * fields;
    this.#values[at] = id;
    this.#values[at + 1] = fence;
    this.#values[at + 2] = timeoutMs;
    Atomics.add(this.#marks, row, 1);
    return row;
  }

  end(row: number): void {
    if (row === none) return;
    Atomics.add(this.#marks, row, 1);
    this.#free.push(row);
  }

  /** Marks that the handler of this row is being called. Until `leave`, only this handler can block the event loop. */
  enter(row: number): void {
    Atomics.store(this.#marks, this.#rows, row + 1);
  }

  leave(): void {
    Atomics.store(this.#marks, this.#rows, 0);
  }

  /** Returns the attempts that run now. Called by the heartbeat thread. */
  running(): readonly LimitedAttempt[] {
    const called = Atomics.load(this.#marks, this.#rows) - 1;
    return Array.from({ length: this.#rows }, (_, row) => this.#read(row, called)).filter((read) => read !== null);
  }

  /** Returns the attempt of a row; null: the row is free, or changed while it was read. */
  #read(row: number, called: number): LimitedAttempt | null {
    const mark = Atomics.load(this.#marks, row);
    if (mark % 2 === 0) return null;
    const [id, fence, timeoutMs] = this.#values.subarray(row * fields, (row + 1) * fields) as unknown as number[];
    if (Atomics.load(this.#marks, row) !== mark) return null;
    return { id: id!, fence: fence!, timeoutMs: timeoutMs!, name: `${row}/${mark}`, isInHandler: row === called };
  }
}

/** For stores that the heartbeat thread cannot open, such as memory: only timers enforce the limits. */
export const noTimeLimits = new TimeLimits(0);
