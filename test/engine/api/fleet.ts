// Instances of several builds on one store and one clock.
import { Engine, type EngineOptions } from '../../../src/index.ts';
import { MemoryStore } from '../../../src/store/memory/store.ts';
import { turn, VirtualClock } from '../../../src/time/clock.ts';

export class Fleet {
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly store = new MemoryStore(this.clock);
  #count = 0;

  async start(options: EngineOptions): Promise<Engine> {
    const instance = `${options.build ?? 'unnamed'} ${(this.#count += 1)}`;
    const engine = new Engine({ store: this.unclosed(), clock: this.clock, instance, ...options });
    await this.passing(engine.resume());
    await this.advance(500);
    return engine;
  }

  /** Closing an instance must not close the store of the others. */
  unclosed(): MemoryStore {
    return new Proxy(this.store, {
      get: (store, name) => {
        if (name === 'close') return () => Promise.resolve();
        const value: unknown = Reflect.get(store, name, store);
        return typeof value === 'function' ? (value.bind(store) as unknown) : value;
      },
    });
  }

  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      await this.clock.advance(Math.min(left, 500));
      for (let turns = 0; turns < 6; turns += 1) await turn();
    }
  }

  async passing<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const finish = (): void => { isDone = true; };
    promise.then(finish, finish);
    while (!isDone) await this.advance(500);
    return promise;
  }
}
