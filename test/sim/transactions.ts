// Transactions on the simulated store: one at a time, as on a SQLite file. All other calls wait for its end. The store
// rolls back a transaction whose process has crashed or has sent no statement for a while.
import type { Store, StoreTransaction } from '../../src/store/store.ts';
import type { SimProcess } from './process.ts';
import type { Timeline } from './timeline.ts';

const idleMaxMs = 10_000;

export class Transactions {
  readonly #store: Store;
  readonly #timeline: Timeline;
  readonly #waiting: (() => Promise<void>)[] = [];
  #isOpen = false;

  constructor(store: Store, timeline: Timeline) {
    this.#store = store;
    this.#timeline = timeline;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Calls `what` after the end of the open transaction. Another one may have begun by then. */
  afterEnd(what: () => Promise<void>): void {
    this.#waiting.push(what);
  }

  async begin(process: SimProcess): Promise<OpenTransaction> {
    this.#isOpen = true;
    const began = Promise.withResolvers<StoreTransaction>();
    const decided = Promise.withResolvers<void>();
    const ended = this.#store.transact!(async (tx) => {
      began.resolve(tx);
      await decided.promise;
    }).finally(() => this.#end());
    ended.catch(began.reject);
    const open = new OpenTransaction(await began.promise, this.#timeline, decided, ended);
    process.onDeath(() => open.rollBack());
    return open;
  }

  #end(): void {
    this.#isOpen = false;
    for (const call of this.#waiting.splice(0)) this.#timeline.after(0, call);
  }
}

export class OpenTransaction {
  readonly #tx: StoreTransaction;
  readonly #timeline: Timeline;
  readonly #decided: PromiseWithResolvers<void>;
  readonly #ended: Promise<void>;
  #isOver = false;
  #cancelTimer: () => void = () => {};

  constructor(tx: StoreTransaction, timeline: Timeline, decided: PromiseWithResolvers<void>, ended: Promise<void>) {
    this.#tx = tx;
    this.#timeline = timeline;
    this.#decided = decided;
    this.#ended = ended;
    this.#waitForNext();
  }

  /** Executes a statement in the transaction. */
  async execute<T>(statement: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    if (this.#isOver) throw lost();
    this.#waitForNext();
    return statement(this.#tx);
  }

  async commit(): Promise<void> {
    if (this.#isOver) throw lost();
    this.#endWith(() => this.#decided.resolve());
    await this.#ended;
  }

  rollBack(): void {
    if (!this.#isOver) this.#endWith(() => this.#decided.reject(lost()));
  }

  #endWith(decide: () => void): void {
    this.#isOver = true;
    this.#cancelTimer();
    decide();
  }

  #waitForNext(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#timeline.after(idleMaxMs, () => this.rollBack());
  }
}

const lost = (): Error => new Error('the connection was lost');
