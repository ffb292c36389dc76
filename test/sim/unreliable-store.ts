// The store as a simulated process reaches it: requests and replies are delayed, reordered and lost.
import type { Store, StoreTransaction, Writer } from '../../src/store/store.ts';
import { isUnavailable, type Refusal } from '../../src/refusal.ts';
import type { RandomStream } from './random-streams.ts';
import { latencyOf, type Faults, type SimSettings } from './faults.ts';
import type { SimProcess } from './process.ts';
import type { Timeline } from './timeline.ts';
import type { OpenTransaction, Transactions } from './transactions.ts';

export interface UnreliableStoreParts {
  readonly store: Store;
  readonly transactions: Transactions;
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly settings: SimSettings;
  readonly process: SimProcess;
  readonly random: RandomStream;
  readonly isStoreDown: () => boolean;
  readonly onDeadlyReply: (process: SimProcess) => void;
  /** The reply to a commit was lost: its outcome is unknown. */
  readonly onUnknownOutcome: () => void;
  /** Whether calls may wait for the store: then they do not hold up the timeline. */
  readonly mayWait: boolean;
  /** The store has refused a call as unavailable. */
  readonly onUnavailable: (refusal: Refusal) => void;
  /** The store has executed a commit. */
  readonly onWritten: () => void;
}

type Delivery = 'arrives' | 'lost request' | 'lost reply' | 'deadly reply';

/** The range of times after which a lost message fails the call. */
const timeoutMs = [50, 5_000] as const;

const immediate = new Set<PropertyKey>(['now', 'onWake', 'close', 'inspect']);

export function unreliableStore(parts: UnreliableStoreParts): Store {
  const connection = new Connection(parts);
  const overridden = {
    now: () => connection.now(),
    onWake: (call: () => void) => connection.onWake(call),
    onInbox: (call: () => void) => connection.onInbox(call),
    close: () => Promise.resolve(),
    transact: <T>(work: (tx: StoreTransaction) => Promise<T>) => connection.transact(work),
    within: (tx: StoreTransaction) => connection.within(tx),
    // Ends are found by polling.
    onEnd: undefined,
  };
  return new Proxy(parts.store, {
    get(store, name) {
      if (Object.hasOwn(overridden, name)) return overridden[name as keyof typeof overridden];
      const property: unknown = Reflect.get(store, name, store);
      if (typeof property !== 'function' || immediate.has(name)) return property;
      return (...values: unknown[]) => connection.call(String(name), () => (property as Method).apply(store, values));
    },
  });
}

type Method = (...values: unknown[]) => Promise<unknown>;

class Connection {
  readonly #parts: UnreliableStoreParts;
  /** How far the store time that this process knows lags behind. */
  readonly #ageMs: number;
  readonly #open = new WeakMap<StoreTransaction, OpenTransaction>();
  #calls = 0;
  #wakes = 0;

  constructor(parts: UnreliableStoreParts) {
    this.#parts = parts;
    this.#ageMs = Math.floor(parts.random.between(0, 40));
  }

  now(): number {
    return this.#parts.store.now() - this.#ageMs;
  }

  /** Runs `work` in a transaction. If a request or a reply of it is lost, so is its connection. */
  async transact<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    const { transactions, process } = this.#parts;
    const open = (await this.call('begin', () => transactions.begin(process))) as OpenTransaction;
    const tx: StoreTransaction = { query: (text, values) => this.#execute(open, (real) => real.query(text, values)) };
    this.#open.set(tx, open);
    try {
      const answer = await work(tx);
      await this.call('end', () => open.commit(), open);
      return answer;
    } catch (error) {
      open.rollBack();
      throw error;
    }
  }

  within(tx: StoreTransaction): Writer {
    const { store } = this.#parts;
    const open = this.#open.get(tx)!;
    return new Proxy({} as Writer, {
      get: (_, name) => {
        if (name === 'now') return () => this.now();
        if (name === 'synchronize') return undefined;
        return (...values: unknown[]) =>
          this.#execute(open, (real) => (Reflect.get(store.within(real), name) as Method)(...values));
      },
    });
  }

  #execute<T>(open: OpenTransaction, statement: (real: StoreTransaction) => Promise<T>): Promise<T> {
    return this.call('statement', () => open.execute(statement), open) as Promise<T>;
  }

  /** `open`: the transaction to which the call belongs. */
  call(name: string, apply: () => Promise<unknown>, open: OpenTransaction | null = null): Promise<unknown> {
    const { timeline, random, settings, process, transactions, mayWait } = this.#parts;
    const [there, back] = [latencyOf(random, settings.slow), latencyOf(random, settings.slow)];
    const failsAfterMs = random.between(...timeoutMs);
    const delivery = this.#nextDelivery();
    if (!process.isAlive) return never();
    return new Promise((resolve, reject) => {
      const reply = (ms: number, settle: () => void): void => void timeline.after(ms, () => process.deliver(settle));
      const fail = (why: string): void => reply(failsAfterMs, () => reject(new Error(`${name}: ${why}`)));
      const arrive = async (): Promise<void> => {
        if (delivery === 'lost request') return fail('the connection was lost');
        if (this.#parts.isStoreDown()) return fail('the store is down');
        if (transactions.isOpen && open === null) return transactions.afterEnd(begin);
        // A claim decides in the process: later if the process is paused, never if it has crashed.
        if (name === 'claim' && process.isPaused) return void process.deliver(() => onTimeline(timeline, begin));
        if (name === 'claim' && !process.isAlive) return;
        const answer = await apply().then((value) => ({ value }), (error: unknown) => ({ error }));
        if ('error' in answer && isUnavailable(answer.error)) this.#parts.onUnavailable(answer.error);
        else if (name === 'commit' && 'value' in answer) this.#parts.onWritten();
        if (delivery === 'lost reply') return this.#lose(name, fail);
        if (delivery === 'deadly reply') return void timeline.after(back, () => this.#parts.onDeadlyReply(process));
        reply(back, () => ('error' in answer ? reject(answer.error) : resolve(answer.value)));
      };
      const begin = mayWait ? async () => void arrive() : arrive;
      timeline.after(there, begin);
    });
  }

  onWake(call: () => void): () => void {
    return this.#signal((deliver) => this.#parts.store.onWake(deliver), call);
  }

  onInbox(call: () => void): () => void {
    return this.#signal((deliver) => this.#parts.store.onInbox(deliver), call);
  }

  #signal(listen: (deliver: () => void) => () => void, call: () => void): () => void {
    const { timeline, random, settings, faults, process } = this.#parts;
    const stop = listen(() => {
      const [isLost, ms] = [random.isTrue(settings.lostWake), latencyOf(random, settings.slow)];
      this.#wakes += 1;
      if (isLost && faults.inject(`wake ${process.name} ${this.#wakes}`)) return;
      timeline.after(ms, () => process.deliver(call));
    });
    process.onDeath(stop);
    return stop;
  }

  /** Draws one number for each call, so that an injected fault does not change later numbers. */
  #nextDelivery(): Delivery {
    const { random, settings, faults, process } = this.#parts;
    this.#calls += 1;
    const drawn = random.next();
    const bounds: readonly (readonly [Delivery, number])[] = [
      ['lost request', settings.lostRequest], ['lost reply', settings.lostReply], ['deadly reply', settings.deadlyReply],
    ];
    let bound = 0;
    for (const [delivery, chance] of bounds) {
      bound += chance;
      if (drawn < bound) return faults.inject(`${delivery} ${process.name} ${this.#calls}`) ? delivery : 'arrives';
    }
    return 'arrives';
  }

  #lose(name: string, fail: (why: string) => void): void {
    if (name === 'commit' || name === 'end') this.#parts.onUnknownOutcome();
    fail('no reply came');
  }
}

/** Whether a call of the store failed because a message of it was lost. */
export const isLostCall = (error: unknown): boolean => /connection was lost|store is down|no reply came/.test(String(error));

const never = (): Promise<never> => new Promise(() => {});

const onTimeline = (timeline: Timeline, what: () => Promise<void>): void => void timeline.after(0, what);
