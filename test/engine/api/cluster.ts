// Several engines on one store and one clock, each of which can die without a word.
import { onTestFinished } from 'vitest';
import { seededRandom } from '../../../src/random.ts';
import { Engine, type EngineOptions } from '../../../src/index.ts';
import { MemoryStore } from '../../../src/store/memory/store.ts';
import { CrashableStore } from '../../../src/testing/crashable-store.ts';
import { turn, VirtualClock } from '../../../src/time/clock.ts';
import { durationMs, type Duration } from '../../../src/time/duration.ts';
import { newYear } from './kit.ts';

const settlingTurns = 6;

/** The store of several engines: it stays open when one of them closes. */
class SharedStore extends MemoryStore {
  override async close(): Promise<void> {}
}

export class Cluster {
  readonly clock = new VirtualClock(newYear);
  readonly store = new SharedStore(this.clock);
  readonly #members: { readonly engine: Engine; readonly crashable: CrashableStore }[] = [];

  constructor() {
    onTestFinished(() => this.close());
  }

  /** One more instance, named a, b, c and so on. */
  async join(options: Omit<EngineOptions, 'store' | 'clock' | 'instance'> = {}): Promise<Engine> {
    const engine = this.add(options);
    const resumed = engine.resume();
    await this.settle();
    await resumed;
    return engine;
  }

  /** One that is not resumed: it only asks. */
  add(options: Omit<EngineOptions, 'store' | 'clock' | 'instance'> = {}): Engine {
    const crashable = new CrashableStore(this.store);
    const count = this.#members.length;
    const instance = String.fromCharCode(97 + count);
    const engine = new Engine({
      ...options, store: crashable.store, clock: this.clock, random: seededRandom(count), instance,
    });
    this.#members.push({ engine, crashable });
    return engine;
  }

  /** Its memory is lost; what it held stays held until its lease is over. */
  kill(engine: Engine): void {
    this.#members.find((member) => member.engine === engine)!.crashable.crash();
  }

  async settle(): Promise<void> {
    await this.clock.advance(0);
    for (let turns = 0; turns < settlingTurns; turns += 1) await turn();
  }

  async advance(duration: Duration): Promise<void> {
    const end = this.clock.now() + durationMs(duration);
    await this.settle();
    while (this.clock.now() < end) {
      await this.clock.advance(Math.min(this.clock.untilNext(), end - this.clock.now()));
      await this.settle();
    }
  }

  async close(): Promise<void> {
    const living = this.#members.filter(({ crashable }) => !crashable.isCrashed);
    const closed = Promise.all(living.map(({ engine }) => engine.close({ patience: '1s' })));
    await this.advance('2s');
    await closed;
  }
}
