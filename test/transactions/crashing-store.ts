// A store whose process dies at a chosen await: its connections close, which rolls back what is open, and no call that
// was made or is made resolves.
import type { Store, StoreTransaction, Writer } from '../../src/store/store.ts';

type Call = (...values: unknown[]) => unknown;

/** What takes no request to the store. */
const immediate = new Set<PropertyKey>(['now', 'onWake', 'onInbox', 'onEnd', 'close']);

export class CrashingStore {
  readonly store: Store;
  readonly #real: Store;
  /** How many awaits are left; infinite until `arm`. */
  #left = Infinity;
  #isDead = false;

  constructor(real: Store) {
    this.#real = real;
    this.store = this.#watched(real, {
      within: (transaction: unknown) => this.#watched<Writer>(real.within(transaction), {}),
      transact: (work: (tx: StoreTransaction) => Promise<unknown>) =>
        this.#around(() => real.transact!(async (tx) => this.#around(() => work(this.#watched(tx, {}))))),
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** From now on, the process dies at this await: before a request to the store, or before the answer is received. */
  arm(at: number): void {
    this.#left = at;
  }

  #watched<T extends object>(target: T, own: Record<PropertyKey, (...values: never[]) => unknown>): T {
    return new Proxy(target, {
      get: (_, name) => {
        if (Object.hasOwn(own, name)) return own[name];
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function' || immediate.has(name)) {
          return typeof member === 'function' ? (member as Call).bind(target) : member;
        }
        return (...values: unknown[]) => this.#around(async () => (member as Call).apply(target, values));
      },
    });
  }

  async #around<T>(call: () => Promise<T>): Promise<T> {
    await this.#await();
    const answer = await call();
    await this.#await();
    return answer;
  }

  async #await(): Promise<void> {
    if (!this.#isDead && (this.#left -= 1) === 0) {
      this.#isDead = true;
      await this.#real.close();
    }
    if (this.#isDead) await new Promise(() => {});
  }
}
