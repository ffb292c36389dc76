// The named limits of the simulation, and an oracle of them: it reads the commits in their order, and checks each start.
import { parseGate } from '../../src/model/gate.ts';
import type { Job } from '../../src/model/job.ts';
import type { LimitUse, LimitValues, Rate } from '../../src/model/limit.ts';
import type { LimitContent } from '../../src/model/limit-record.ts';
import type { Store } from '../../src/store/store.ts';
import { RateInUse, violation, type Violation } from '../../src/verify.ts';
import type { Goals } from './goals.ts';
import type { RandomStream } from './random-streams.ts';

export const namedLimits = [
  { name: 'api', keyed: false, values: { rate: { count: 6, per: 60_000, burst: 2 }, concurrency: null } },
  { name: 'tenant', keyed: true, values: { rate: null, concurrency: 1 } },
] as const;

/** What a metered run uses, drawn for each. */
export const drawUses = (random: RandomStream): readonly LimitUse[] => [
  { name: 'api', key: null, cost: random.pick([1, 1, 1, 2]) },
  { name: 'tenant', key: random.pick(['ann', 'bob']), cost: 1 },
];

/** The override of a limit, drawn; null: the values of the code. */
export function drawOverride(name: string, random: RandomStream): object | null {
  const [isRemoved, perMinute, burst, concurrency] =
    [random.isTrue(0.3), random.pick([4, 10, 20]), random.pick([1, 2, 4]), random.integer(1, 3)];
  if (isRemoved) return null;
  return name === 'api' ? { rate: `${perMinute}/1m`, burst } : { concurrency, rate: `${perMinute}/1m`, burst };
}

/** When a claim read what it has decided upon: a claim on PostgreSQL is a transaction of several statements. */
export interface ClaimTime {
  /** The time of its first statement. */
  readonly since: number;
  /** The time of its commit. */
  readonly now: number;
}

/** A limit as one commit has stored it. */
interface StoredLimit {
  readonly at: number;
  readonly values: LimitValues;
  readonly pausedUntil: number;
}

/** The use of a limit under one key. */
interface LimitInUse {
  readonly rate: RateInUse;
  /** The stored limit that the last start may have read: its index. */
  seen: number;
  admitted: number;
  readonly closings: { readonly at: number; readonly until: number }[];
  /** The last claim, and the time after which it read this use: claims of one limit read it one after another. */
  last: { readonly claim: ClaimTime; readonly readAfter: number };
}

/** The stores' times are whole milliseconds. */
const slackMs = 1;

export class LimitOracle {
  readonly #goals: Goals;
  /** What was stored of each limit since the start of the simulation. */
  readonly #stored = new Map<string, StoredLimit[]>();
  readonly #inUse = new Map<string, LimitInUse>();

  constructor(goals: Goals) {
    this.#goals = goals;
  }

  /** Reads the record of a limit as it is stored now. Overrides are applied here anew, not as the source does. */
  changed({ input }: Job, at: number): void {
    const { name, code, override, paused } = JSON.parse(input) as LimitContent;
    const values = { rate: null, concurrency: null, ...code, ...override };
    const pausedUntil = paused === undefined ? 0 : (paused.until ?? Infinity);
    this.#stored.set(name, [...(this.#stored.get(name) ?? []), { at, values, pausedUntil }]);
    if (override !== null) this.#goals.reach('limit changed by an operator');
    if (paused !== undefined) this.#goals.reach('limit paused');
  }

  /** The methods of the store that write the use of a limit. */
  methods(store: Store): Partial<Store> {
    return {
      closeLimit: async (name, key, until) => {
        await store.closeLimit(name, key, until);
        this.closed({ name, key }, { at: store.now(), until });
      },
    };
  }

  /** A handler has closed a limit until this time. */
  closed(use: Pick<LimitUse, 'name' | 'key'>, closing: { readonly at: number; readonly until: number }): void {
    this.#limitInUse(use).closings.push(closing);
    this.#goals.reach('limit closed by a handler');
  }

  /** Counts an open job that its gate has admitted, or one that was. */
  count({ gate }: Job, sign: 1 | -1): void {
    for (const use of parseGate(gate!).uses ?? []) this.#limitInUse(use).admitted += sign;
  }

  /** Call at each claim of a job that its gate had not admitted, before it is counted. */
  claimed({ id, gate }: Job, claim: ClaimTime): Violation[] {
    return (parseGate(gate!).uses ?? []).flatMap((use) => {
      const inUse = this.#limitInUse(use);
      const { last } = inUse;
      const readAfter = last.claim === claim ? last.readAfter : Math.max(claim.since, last.claim.now);
      inUse.last = { claim, readAfter };
      return [...this.#closed(id, use, inUse.last), ...this.#exceeded(id, use, inUse)];
    });
  }

  #closed(job: number, { name, key }: LimitUse, { claim: { now }, readAfter }: LimitInUse['last']): Violation[] {
    const readable = this.#readable(name, readAfter);
    const isPaused = readable.length > 0 && readable.every(({ pausedUntil }) => pausedUntil > now);
    const closings = [{ name, key }, { name, key: null }].flatMap((use) => this.#limitInUse(use).closings);
    const closedUntil = Math.max(0, ...closings.filter(({ at }) => at <= readAfter).map(({ until }) => until));
    return [
      ...(isPaused ? [violation('S40', job, `job ${job} was claimed while limit ${name} was paused`)] : []),
      ...(closedUntil <= now ? [] : [violation('S39', job, `job ${job} was claimed ${closedUntil - now} ms before limit ${name} opens`)]),
    ];
  }

  #exceeded(job: number, use: LimitUse, inUse: LimitInUse): Violation[] {
    const stored = this.#stored.get(use.name);
    if (stored === undefined) return [];
    const { claim: { now }, readAfter } = inUse.last;
    const used = inUse.rate.start(use.cost, readAfter, stored.slice(inUse.seen).map(({ values: { rate } }) => rate));
    const readable = this.#readable(use.name, readAfter);
    inUse.seen = stored.length - readable.length;
    const most = Math.max(...readable.map(({ values: { rate } }) => (rate === null ? Infinity : mostOf(rate, use, now - readAfter))));
    const concurrency = Math.max(...readable.map(({ values }) => values.concurrency ?? Infinity));
    const name = `${use.name} ${use.key ?? ''}`;
    return [
      ...(used <= most ? [] : [violation('S39', job, `jobs of cost ${used} started above the rate of ${name}`)]),
      ...(inUse.admitted < concurrency ? [] : [violation('S39', job, `more than ${concurrency} jobs are admitted for ${name}`)]),
    ];
  }

  /** What was stored of a limit at this time, and since. */
  #readable(name: string, readAfter: number): readonly StoredLimit[] {
    const stored = this.#stored.get(name) ?? [];
    return stored.filter((_, index) => index === stored.length - 1 || stored[index + 1]!.at > readAfter);
  }

  #limitInUse({ name, key }: Pick<LimitUse, 'name' | 'key'>): LimitInUse {
    const text = `${name} ${key ?? ''}`;
    const known = this.#inUse.get(text) ?? { rate: new RateInUse(), seen: 0, admitted: 0, closings: [], last: neverClaimed };
    this.#inUse.set(text, known);
    return known;
  }
}

const neverClaimed = { claim: { since: 0, now: 0 }, readAfter: 0 };

/** A job whose cost is above the burst starts when nothing of the rate is in use. `readMs`: when it was read is known so exactly. */
const mostOf = ({ count, per, burst }: Rate, { cost }: LimitUse, readMs: number): number =>
  Math.max(burst, cost) + ((slackMs + readMs) * count) / per;
