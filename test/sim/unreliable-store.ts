// The wire: the store as a process sees it, over a line on which requests and replies are late, overtake and get lost.
import type { Store } from '../../src/store/store.ts';
import type { Stream } from './draws.ts';
import { latencyOf, type Faults, type Swarm } from './faults.ts';
import type { SimProcess } from './process.ts';
import type { Timeline } from './timeline.ts';

export interface WireParts {
  readonly store: Store;
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly swarm: Swarm;
  readonly process: SimProcess;
  readonly dice: Stream;
  readonly isStoreDown: () => boolean;
  readonly onDeadly: (process: SimProcess) => void;
  /** A reply with something written was lost: nobody knows whether it was. */
  readonly onUnknown: () => void;
}

type Fate = 'arrives' | 'lost request' | 'lost reply' | 'deadly reply';

/** A line that is cut is noticed after a while. */
const noticedMs = [50, 5_000] as const;

const atOnce = new Set<PropertyKey>(['now', 'onWake', 'close', 'within', 'inspect']);

export function wireTo(parts: WireParts): Store {
  const line = new Line(parts);
  const wired = {
    now: () => line.now(),
    onWake: (call: () => void) => line.onWake(call),
    close: () => Promise.resolve(),
  };
  return new Proxy(parts.store, {
    get(store, name) {
      if (Object.hasOwn(wired, name)) return wired[name as keyof typeof wired];
      const member: unknown = Reflect.get(store, name, store);
      if (typeof member !== 'function' || atOnce.has(name)) return member;
      return (...values: unknown[]) => line.call(String(name), () => (member as Method).apply(store, values));
    },
  });
}

type Method = (...values: unknown[]) => Promise<unknown>;

class Line {
  readonly #parts: WireParts;
  /** How much older than the store's what this process knows of its time is. */
  readonly #ageMs: number;
  #calls = 0;
  #wakes = 0;

  constructor(parts: WireParts) {
    this.#parts = parts;
    this.#ageMs = Math.floor(parts.dice.between(0, 40));
  }

  now(): number {
    return this.#parts.store.now() - this.#ageMs;
  }

  call(name: string, apply: () => Promise<unknown>): Promise<unknown> {
    const { timeline, dice, swarm, process } = this.#parts;
    const [there, back] = [latencyOf(dice, swarm.slow), latencyOf(dice, swarm.slow)];
    const noticed = dice.between(...noticedMs);
    const fate = this.#fate();
    if (!process.isAlive) return never();
    return new Promise((resolve, reject) => {
      const reply = (ms: number, settle: () => void): void => void timeline.after(ms, () => process.deliver(settle));
      const fail = (why: string): void => reply(noticed, () => reject(new Error(`${name}: ${why}`)));
      const arrive = async (): Promise<void> => {
        if (fate === 'lost request') return fail('the line was cut');
        if (this.#parts.isStoreDown()) return fail('the store is down');
        // What is decided in the process itself is not decided while it stands still, and never once it is dead.
        if (name === 'claim' && process.isPaused) return void process.deliver(() => timelineTurn(timeline, arrive));
        if (name === 'claim' && !process.isAlive) return;
        const answer = await apply().then((value) => ({ value }), (error: unknown) => ({ error }));
        if (fate === 'lost reply') return this.#lose(name, fail);
        if (fate === 'deadly reply') return void timeline.after(back, () => this.#parts.onDeadly(process));
        reply(back, () => ('error' in answer ? reject(answer.error) : resolve(answer.value)));
      };
      timeline.after(there, arrive);
    });
  }

  onWake(call: () => void): () => void {
    const { store, timeline, dice, swarm, faults, process } = this.#parts;
    const stop = store.onWake(() => {
      const [isLost, ms] = [dice.isTrue(swarm.lostWake), latencyOf(dice, swarm.slow)];
      this.#wakes += 1;
      if (isLost && faults.strikes(`wake ${process.name} ${this.#wakes}`)) return;
      timeline.after(ms, () => process.deliver(call));
    });
    process.onDeath(stop);
    return stop;
  }

  /** All chances are drawn, whichever comes true: what strikes does not move what comes later. */
  #fate(): Fate {
    const { dice, swarm, faults, process } = this.#parts;
    this.#calls += 1;
    const drawn = dice.next();
    const bounds: readonly (readonly [Fate, number])[] = [
      ['lost request', swarm.lostRequest], ['lost reply', swarm.lostReply], ['deadly reply', swarm.deadlyReply],
    ];
    let bound = 0;
    for (const [fate, chance] of bounds) {
      bound += chance;
      if (drawn < bound) return faults.strikes(`${fate} ${process.name} ${this.#calls}`) ? fate : 'arrives';
    }
    return 'arrives';
  }

  #lose(name: string, fail: (why: string) => void): void {
    if (name === 'commit') this.#parts.onUnknown();
    fail('no reply came');
  }
}

const never = (): Promise<never> => new Promise(() => {});

const timelineTurn = (timeline: Timeline, what: () => Promise<void>): void => void timeline.after(0, what);
