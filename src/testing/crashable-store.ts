/** A store that stops responding after `crash()`, as if the process of its engine had died. */
import type { Store } from '../store/store.ts';

export class CrashableStore {
  readonly store: Store;
  #isCrashed = false;

  constructor(store: Store) {
    this.store = new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...values: unknown[]) => this.#call(target, member as (...args: unknown[]) => unknown, values);
      },
    });
  }

  get isCrashed(): boolean {
    return this.#isCrashed;
  }

  /** From now on, no call except `now` reaches the store, and no pending call resolves. */
  crash(): void {
    this.#isCrashed = true;
  }

  #call(store: Store, method: (...args: unknown[]) => unknown, values: readonly unknown[]): unknown {
    if (method === store.now) return store.now();
    if (this.#isCrashed) return never();
    const result = method.apply(store, [...values]);
    return result instanceof Promise ? result.then((value: unknown) => (this.#isCrashed ? never() : value)) : result;
  }
}

const never = (): Promise<never> => new Promise(() => {});
