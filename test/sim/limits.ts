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

/** The use of a limit under one key. */
interface LimitInUse {
  readonly rate: RateInUse;
  /** How many changes of the limit were there at its last start. */
  seen: number;
  admitted: number;
  closedUntil: number;
}

/** The stores' times are whole milliseconds. */
const slackMs = 1;

export class LimitOracle {
  readonly #goals: Goals;
  /** The values of each limit since the start of the simulation. */
  readonly #values = new Map<string, LimitValues[]>();
  readonly #paused = new Map<string, number>();
  readonly #inUse = new Map<string, LimitInUse>();

  constructor(goals: Goals) {
    this.#goals = goals;
  }

  /** Reads the record of a limit as it is stored now. Overrides are applied here anew, not as the source does. */
  changed({ input }: Job): void {
    const { name, code, override, paused } = JSON.parse(input) as LimitContent;
    this.#values.set(name, [...(this.#values.get(name) ?? []), { rate: null, concurrency: null, ...code, ...override }]);
    this.#paused.set(name, paused === undefined ? 0 : (paused.until ?? Infinity));
    if (override !== null) this.#goals.reach('limit changed by an operator');
    if (paused !== undefined) this.#goals.reach('limit paused');
  }

  /** The methods of the store that write the use of a limit. */
  methods(store: Store): Partial<Store> {
    return {
      closeLimit: async (name, key, until) => {
        await store.closeLimit(name, key, until);
        const inUse = this.#limitInUse({ name, key });
        inUse.closedUntil = Math.max(inUse.closedUntil, until);
        this.#goals.reach('limit closed by a handler');
      },
    };
  }

  /** Counts an open job that its gate has admitted, or one that was. */
  count({ gate }: Job, sign: 1 | -1): void {
    for (const use of parseGate(gate!).uses ?? []) this.#limitInUse(use).admitted += sign;
  }

  /** Call at each claim of a job that its gate had not admitted, before it is counted. */
  claimed({ id, gate }: Job, now: number): Violation[] {
    return (parseGate(gate!).uses ?? []).flatMap((use) => [...this.#closed(id, use, now), ...this.#exceeded(id, use, now)]);
  }

  #closed(job: number, { name, key }: LimitUse, now: number): Violation[] {
    const closedUntil = Math.max(this.#limitInUse({ name, key }).closedUntil, this.#limitInUse({ name, key: null }).closedUntil);
    return [
      ...((this.#paused.get(name) ?? 0) <= now ? [] : [violation('S40', job, `job ${job} was claimed while limit ${name} was paused`)]),
      ...(closedUntil <= now ? [] : [violation('S39', job, `job ${job} was claimed ${closedUntil - now} ms before limit ${name} opens`)]),
    ];
  }

  #exceeded(job: number, use: LimitUse, now: number): Violation[] {
    const values = this.#values.get(use.name);
    const latest = values?.at(-1);
    if (values === undefined || latest === undefined) return [];
    const inUse = this.#limitInUse(use);
    const used = inUse.rate.start(use.cost, now, values.slice(inUse.seen).map(({ rate }) => rate));
    inUse.seen = values.length - 1;
    const { rate, concurrency } = latest;
    const name = `${use.name} ${use.key ?? ''}`;
    return [
      ...(rate === null || used <= mostOf(rate, use) ? [] : [violation('S39', job, `jobs of cost ${used} started above the rate of ${name}`)]),
      ...(inUse.admitted < (concurrency ?? Infinity) ? [] : [violation('S39', job, `more than ${concurrency} jobs are admitted for ${name}`)]),
    ];
  }

  #limitInUse({ name, key }: Pick<LimitUse, 'name' | 'key'>): LimitInUse {
    const text = `${name} ${key ?? ''}`;
    const known = this.#inUse.get(text) ?? { rate: new RateInUse(), seen: 0, admitted: 0, closedUntil: 0 };
    this.#inUse.set(text, known);
    return known;
  }
}

/** A job whose cost is above the burst starts when nothing of the rate is in use. */
const mostOf = ({ count, per, burst }: Rate, { cost }: LimitUse): number => Math.max(burst, cost) + (slackMs * count) / per;
