// The orders of the statements of two operations: at each step where both can continue, one run chooses the first and
// another run the second. A statement that waits for a lock counts as sent. All orders are tried where they are few;
// their number grows exponentially with the statements, so of more orders a sample is tried.
import type pg from 'pg';
import { seededRandom, type Random } from '../../../src/random.ts';
import { waitMs } from '../../support/patience.ts';
import type { GatedConnection } from './gated-connection.ts';

/** A running operation on its own connection. */
export interface Operation {
  readonly connection: GatedConnection;
  isDone: boolean;
  /** Whether it waited for a lock when it was last observed. */
  isBlocked: boolean;
}

/** Which of the operations that could continue was chosen at a step. */
interface Choice {
  readonly chosen: number;
  readonly of: number;
}

const sampleSeed = 20_261_116;

/**
 * Calls `attempt` once for each order. Of more than `ordersMax`, the first `ordersMax` are tried one after the other and
 * as many again are drawn at random. Returns the number of calls.
 */
export async function inAllOrders(ordersMax: number, attempt: (order: Order) => Promise<void>): Promise<number> {
  let next: readonly number[] | null = [];
  let count = 0;
  for (; next !== null && count < ordersMax; count += 1) {
    const order: Order = new Order(next);
    await attempt(order);
    next = order.next();
  }
  if (next === null) return count;
  const random = seededRandom(sampleSeed);
  for (let drawn = 0; drawn < ordersMax; drawn += 1) await attempt(new Order([], random));
  return count + ordersMax;
}

export class Order {
  readonly #wanted: readonly number[];
  readonly #random: Random | null;
  readonly #choices: Choice[] = [];

  /** Beyond the wanted choices, the first operation is chosen, or one at random. */
  constructor(wanted: readonly number[], random: Random | null = null) {
    this.#wanted = wanted;
    this.#random = random;
  }

  /** The choices as letters, for messages. */
  get text(): string {
    return this.#choices.map(({ chosen }) => 'ab'[chosen]).join('');
  }

  /** Runs both operations to their ends. */
  async run(operations: readonly Operation[], observer: pg.Client): Promise<void> {
    const start = performance.now();
    while (operations.some(({ isDone }) => !isDone)) {
      for (const operation of operations) await untilBlockedOrReady(operation, observer);
      const ready = operations.filter(({ connection }) => connection.hasWaiting && !connection.isBusy);
      if (ready.length > 0) ready[this.#choose(ready.length)]!.connection.release();
      if (performance.now() - start > waitMs) throw new Error(`order ${this.text} does not end`);
    }
  }

  /** The order to try next; null if this was the last. */
  next(): readonly number[] | null {
    const last = this.#choices.findLastIndex(({ chosen, of }) => chosen + 1 < of);
    if (last === -1) return null;
    return [...this.#choices.slice(0, last).map(({ chosen }) => chosen), this.#choices[last]!.chosen + 1];
  }

  #choose(of: number): number {
    if (of === 1) return 0;
    const chosen = this.#wanted[this.#choices.length] ?? Math.floor((this.#random?.next() ?? 0) * of);
    this.#choices.push({ chosen, of });
    return chosen;
  }
}

/** A statement that was not answered for so long may wait for a lock. Most are answered before. */
const answerMs = 2;

/** Resolves when the operation has a statement to send, waits for a lock, or is done. */
async function untilBlockedOrReady(operation: Operation, observer: pg.Client): Promise<void> {
  const { connection } = operation;
  while (!operation.isDone && (connection.isBusy || !connection.hasWaiting)) {
    if (!operation.isBlocked) await connection.changed.wait(answerMs);
    operation.isBlocked = connection.isBusy && (await isBlocked(connection, observer));
    if (operation.isBlocked) return;
  }
}

const blocked = {
  name: 'blocked',
  text: 'select cardinality(pg_blocking_pids(pid)) > 0 as blocked from pg_stat_activity where client_port = $1',
};

async function isBlocked({ portAtServer }: GatedConnection, observer: pg.Client): Promise<boolean> {
  const { rows } = await observer.query<{ blocked: boolean }>({ ...blocked, values: [portAtServer] });
  return rows[0]?.blocked ?? false;
}
