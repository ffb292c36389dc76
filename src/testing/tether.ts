/** The tether between an engine and its store. Cut, it is as if the process had died: nothing more arrives or returns. */
import type { Store } from '../store/store.ts';

export class Tether {
  readonly store: Store;
  #isCut = false;

  constructor(store: Store) {
    this.store = new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...values: unknown[]) => this.#call(target, member as (...given: unknown[]) => unknown, values);
      },
    });
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
  }

  #call(store: Store, method: (...given: unknown[]) => unknown, values: readonly unknown[]): unknown {
    if (method === store.now) return store.now();
    if (this.#isCut) return never();
    const answer = method.apply(store, [...values]);
    return answer instanceof Promise ? answer.then((value: unknown) => (this.#isCut ? never() : value)) : answer;
  }
}

const never = (): Promise<never> => new Promise(() => {});
