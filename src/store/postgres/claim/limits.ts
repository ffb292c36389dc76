/**
 * Named limits: reads how far they are used, and writes it. Implements the writes of
 * `port/limits.ts`. Claims read and write under the advisory lock of the gates. Other writers do not take that lock, so the use of a rate
 * is added to the row as it is when it is written, not as it was when it was read.
 */
import { gateWithoutCosts, parseGate, unlimited, type LimitsNow } from '../../../model/gate.ts';
import { intervalOf, noLimitValues, type LimitState, type LimitUse, type LimitValues } from '../../../model/limit.ts';
import { limitContentOf, limitValuesOf } from '../../../model/limit-record.ts';
import { AskedLimits, limitStateOf, noKey, type RateRow } from '../../limit-use.ts';
import { recordId } from '../../record-id.ts';
import type { Database, Session } from '../sql/database.ts';
import { numberArray, textArray } from '../sql/row-parameters.ts';
import { nowSql } from '../sql/server-clock.ts';
import { joinOriginSql, storedSql } from '../read/open-rows.ts';

type LimitKey = Pick<LimitUse, 'name' | 'key'>;

/** The named limits that a claim has read. `load` must be called with a gate before the gate is admitted. */
export class ClaimedLimits extends AskedLimits {
  readonly #session: Session;
  readonly #values = new Map<string, LimitValues>();
  readonly #rows = new Map<string, RateRow>();
  readonly #asked = new Set<string>();
  readonly #loadedGates = new Set<string>();

  constructor(session: Session) {
    super(0, (name, key) => this.#stateOf(name, key));
    this.#session = session;
  }

  /** The gates with named limits for which `load` was called, without costs. */
  get gates(): ReadonlySet<string> {
    return this.#loadedGates;
  }

  /** Reads the limits of the gates, in one round trip, except those that were read before. */
  async load(gates: Iterable<string>): Promise<void> {
    const missing: LimitKey[] = [];
    for (const gate of new Set([...gates].map(gateWithoutCosts))) {
      if (this.#loadedGates.has(gate)) continue;
      const { uses } = parseGate(gate);
      if (uses) this.#loadedGates.add(gate);
      for (const use of uses ?? []) missing.push(...this.#unasked(use));
    }
    if (missing.length === 0) return;
    const { now, values, rows } = await readLimits(this.#session, missing);
    // The time of the first read, after the lock of the gates.
    this.now ||= now;
    for (const [name, each] of values) this.#values.set(name, each);
    for (const row of rows) this.#rows.set(rowName(row.name, row.key), row);
  }

  #stateOf(name: string, key: string | null): LimitState {
    const values = this.#values.get(name);
    const all = this.#rows.get(rowName(name, noKey));
    const row = key === null ? all : this.#rows.get(rowName(name, key));
    return !values && !row && !all ? unlimited : limitStateOf(values ?? noLimitValues, row, all);
  }

  /** Returns the rows of a use that were not asked for: that of its key, and that without a key. */
  #unasked({ name, key }: LimitKey): LimitKey[] {
    const keys = key === null ? [null] : [key, null];
    return keys
      .filter((each) => this.#asked.size < this.#asked.add(rowName(name, each ?? noKey)).size)
      .map((each) => ({ name, key: each }));
  }
}

const rowName = (name: string, key: string): string => JSON.stringify([name, key]);

interface ReadLimits {
  readonly now: number;
  readonly values: ReadonlyMap<string, LimitValues>;
  readonly rows: readonly RateRow[];
}

/** Reads the values of limits, and the rows of these keys. */
export async function readLimits(session: Session, keys: readonly LimitKey[]): Promise<ReadLimits> {
  const { schema, time } = session;
  const names = [...new Set(keys.map(({ name }) => name))];
  const text = `select ${nowSql} as now, null as content, null as name, null as key, null::float8 as tat,
      null::float8 as interval, null::bigint as closed_until
    union all select null, record.input, null, null, null, null, null from unnest($2::bigint[]) as asked (id)
      cross join lateral (select ${storedSql.input} as input from ${schema}.job ${joinOriginSql(schema, 'job')}
        where job.id = asked.id limit 1) record
    union all select null, null, rate.* from unnest($3::text[], $4::text[]) as asked (name, key)
      cross join lateral (select name, key, tat, interval, closed_until from ${schema}.rate
        where rate.name = asked.name and rate.key = asked.key limit 1) rate`;
  const values = [
    time.parameter(), numberArray(names.map((name) => recordId('limit', name))),
    textArray(keys.map(({ name }) => name)), textArray(keys.map(({ key }) => key ?? noKey)),
  ];
  const [first, ...found] = await session.run<RateRow & { now: number; content: string | null }>(text, values);
  const contents = found.flatMap(({ content }) => (content === null ? [] : [limitContentOf(content)]));
  return {
    now: first!.now,
    values: new Map(contents.map((content) => [content.name, limitValuesOf(content)])),
    rows: found.filter(({ content }) => content === null),
  };
}

/** Takes the costs of these uses from the rates of their limits. Limits without a rate are left out. */
export async function spendRates(session: Session, limits: LimitsNow, uses: readonly LimitUse[]): Promise<void> {
  const spent = uses.flatMap(({ name, key, cost }) => {
    const { rate } = limits.stateOf(name, key).values;
    return rate === null ? [] : [{ name, key: key ?? noKey, cost, interval: intervalOf(rate) }];
  });
  if (spent.length === 0) return;
  const text = `insert into ${session.schema}.rate (name, key, tat, interval)
    select name, key, $1::bigint + cost * interval, interval
    from unnest($2::text[], $3::text[], $4::float8[], $5::float8[]) as spent (name, key, cost, interval)
    on conflict (name, key) do update set interval = excluded.interval, tat = excluded.tat + case
      when rate.tat <= $1::bigint then 0
      when rate.interval = excluded.interval then rate.tat - $1::bigint
      else (rate.tat - $1::bigint) / rate.interval * excluded.interval end`;
  await session.run(text, [
    limits.now, textArray(spent.map(({ name }) => name)), textArray(spent.map(({ key }) => key)),
    numberArray(spent.map(({ cost }) => cost)), numberArray(spent.map(({ interval }) => interval)),
  ]);
}

export const spendLimit = (database: Database, name: string, key: string | null, cost: number): Promise<void> =>
  database.transaction(async (transaction) => {
    const { now, values } = await readLimits(transaction, [{ name, key }]);
    const stateOf = (): LimitState => ({ ...unlimited, values: values.get(name) ?? noLimitValues });
    await spendRates(transaction, { now, stateOf }, [{ name, key, cost }]);
  });

export async function closeLimit(session: Session, name: string, key: string | null, until: number): Promise<void> {
  const text = `insert into ${session.schema}.rate (name, key, tat, interval, closed_until) values ($1, $2, 0, 0, $3)
    on conflict (name, key) do update
      set closed_until = greatest(rate.closed_until, excluded.closed_until)`;
  await session.run(text, [name, key ?? noKey, until]);
}

export async function reopenLimit(session: Session, name: string, key: string | null): Promise<void> {
  const ofKey = key === null ? '' : 'and key = $2';
  await session.run(`delete from ${session.schema}.rate where name = $1 ${ofKey}`, key === null ? [name] : [name, key]);
}
