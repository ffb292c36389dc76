// A store behind a slow line: the answers of some calls can be delayed; the calls themselves take effect at once.
import type { Store } from '../../src/store/store.ts';

const delayable = ['claim', 'beat', 'commit', 'instances', 'load', 'find', 'count'] as const;
type Delayable = (typeof delayable)[number];
type Method = (...values: unknown[]) => Promise<unknown>;

export class SlowLine {
  readonly store: Store;
  readonly #held = new Map<string, PromiseWithResolvers<void>>();
  readonly #waiting = new Map<string, number>();

  constructor(real: Store) {
    this.store = new Proxy(real, {
      get: (target, name: keyof Store) => {
        const member = target[name] as unknown as Method | undefined;
        if (typeof member !== 'function') return member;
        const method = member.bind(target);
        if (!isDelayable(name)) return method;
        return async (...values: unknown[]) => {
          const answer = await method(...values);
          await this.#passing(name);
          return answer;
        };
      },
    });
  }

  hold(name: Delayable): void {
    this.#held.set(name, Promise.withResolvers());
  }

  letGo(name: Delayable): void {
    this.#held.get(name)?.resolve();
    this.#held.delete(name);
  }

  /** How many answers are delayed now. */
  waiting(name: Delayable): number {
    return this.#waiting.get(name) ?? 0;
  }

  async #passing(name: Delayable): Promise<void> {
    const held = this.#held.get(name);
    if (held === undefined) return;
    this.#waiting.set(name, this.waiting(name) + 1);
    await held.promise;
    this.#waiting.set(name, this.waiting(name) - 1);
  }
}

const isDelayable = (name: string): name is Delayable => delayable.some((other) => other === name);
