// All orders of two operations, statement by statement: at each step where both could go on, one way is tried, and in
// another run the other. A statement that waits for a lock counts as taken; its answer comes when it may.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { GatedLine } from './gated-line.ts';

/** An operation under way on its own line. */
export interface Walker {
  readonly line: GatedLine;
  isDone: boolean;
}

/** At a step, which of how many walkers went on. */
interface Choice {
  readonly taken: number;
  readonly of: number;
}

const ordersMax = 2_000;
const stuckMs = 30_000;

/** Calls `attempt` once for each order, until all are tried; answers how many there are. */
export async function inAllOrders(attempt: (order: Order) => Promise<void>): Promise<number> {
  let next: readonly number[] | null = [];
  let count = 0;
  for (; next !== null; count += 1) {
    if (count === ordersMax) throw new Error(`there are more than ${ordersMax} orders`);
    const order: Order = new Order(next);
    await attempt(order);
    next = order.next();
  }
  return count;
}

export class Order {
  readonly #wanted: readonly number[];
  readonly #choices: Choice[] = [];

  constructor(wanted: readonly number[]) {
    this.#wanted = wanted;
  }

  /** For messages: who went on where both could. */
  get text(): string {
    return this.#choices.map(({ taken }) => 'ab'[taken]).join('');
  }

  /** Lets both walk to their ends. */
  async walk(walkers: readonly Walker[], observer: pg.Client): Promise<void> {
    const start = performance.now();
    while (walkers.some(({ isDone }) => !isDone)) {
      for (const walker of walkers) await standstill(walker, observer);
      const able = walkers.filter(({ line }) => line.hasWaiting && !line.isBusy);
      if (able.length > 0) able[this.#choose(able.length)]!.line.release();
      if (performance.now() - start > stuckMs) throw new Error(`order ${this.text} does not end`);
    }
  }

  /** The order to try after this one; null: it was the last. */
  next(): readonly number[] | null {
    const last = this.#choices.findLastIndex(({ taken, of }) => taken + 1 < of);
    if (last === -1) return null;
    return [...this.#choices.slice(0, last).map(({ taken }) => taken), this.#choices[last]!.taken + 1];
  }

  #choose(of: number): number {
    if (of === 1) return 0;
    const taken = this.#wanted[this.#choices.length] ?? 0;
    this.#choices.push({ taken, of });
    return taken;
  }
}

/** Waits until it has a statement to send, waits for a lock, or is done. */
async function standstill(walker: Walker, observer: pg.Client): Promise<void> {
  const { line } = walker;
  for (let looks = 0; !walker.isDone && (line.isBusy || !line.hasWaiting); looks += 1) {
    if (line.isBusy && looks > 2 && (await isBlocked(line, observer))) return;
    await sleep(1);
  }
}

const blocked = `select cardinality(pg_blocking_pids(pid)) > 0 as blocked from pg_stat_activity where client_port = $1`;

async function isBlocked({ portAtServer }: GatedLine, observer: pg.Client): Promise<boolean> {
  const { rows } = await observer.query<{ blocked: boolean }>(blocked, [portAtServer]);
  return rows[0]?.blocked ?? false;
}
