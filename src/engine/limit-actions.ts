/** Named limits for operators: lists them with their use, overrides their values, and creates limits without code. */
import { createLimit, overrideLimit, readLimit, readLimits, unknownLimit, type LimitRecord } from '../jobs/limits.ts';
import { checkFields, checkFlag } from '../jobs/checks/values.ts';
import type { LimitValues } from '../model/limit.ts';
import { Refusal } from '../refusal.ts';
import type { LimitInUseNow, Store } from '../store/store.ts';
import { formatRate, type RateText } from '../time/rate.ts';
import type { AuditTrail } from './audit-trail.ts';
import { checkConcurrency, checkLimitName, rateOf } from './declare/limit.ts';
import type { ActOptions } from './run-handle.ts';
import type { StoreWorkers } from './store-workers.ts';
import type { Stores } from './stores.ts';

/** The values of a named limit. Null: not limited. */
export interface LimitSettings {
  readonly rate: string | null;
  readonly burst: number | null;
  readonly concurrency: number | null;
}

export interface LimitStatus {
  readonly name: string;
  /** Whether each key has the values for itself. */
  readonly isKeyed: boolean;
  /** The values in the code; null: no code has declared the limit. */
  readonly code: LimitSettings | null;
  /** What an operator has overridden, who and why; null: nothing. */
  readonly override: (Partial<LimitSettings> & { readonly by: string | null; readonly why: string | null }) | null;
  /** The values that apply. */
  readonly values: LimitSettings;
  /** The use of the limit; if it has keys, of the most used ones. */
  readonly use: readonly LimitInUseNow[];
}

/** The values that an override sets: those that are left out come from the code, and null means not limited. */
export interface LimitOverride {
  readonly rate?: RateText | (string & {}) | null;
  readonly burst?: number;
  readonly concurrency?: number | null;
}

/** How many keys `list` shows of each limit, and `show` of one. */
const keysListed = 3;
const keysShown = 100;

export class LimitActions {
  readonly #stores: Stores;
  readonly #audit: AuditTrail;
  readonly #workers: StoreWorkers;

  constructor(stores: Stores, audit: AuditTrail, workers: StoreWorkers) {
    this.#stores = stores;
    this.#audit = audit;
    this.#workers = workers;
  }

  async list(): Promise<readonly LimitStatus[]> {
    const records = await readLimits(this.#store);
    const statuses = await Promise.all(records.map((record) => this.#status(record, keysListed)));
    return statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async show(name: string): Promise<LimitStatus> {
    const record = await readLimit(this.#store, checkLimitName(name));
    if (record === null) throw unknownLimit(name);
    return this.#status(record, keysShown);
  }

  /** Replaces the override of a limit; null removes it. */
  async override(name: string, override: LimitOverride | null, act: ActOptions | undefined): Promise<LimitStatus> {
    checkLimitName(name);
    const values = override === null ? null : overrideValues(override);
    const before = await readLimit(this.#store, name);
    const after = await overrideLimit(this.#store, name, values, this.#audit.asker(act));
    await this.#record('limit.override', before, after, act);
    return this.show(name);
  }

  /** Creates a limit that no code declares. Refused if the name is in use. */
  async define(
    name: string,
    { isKeyed = false, ...values }: LimitOverride & { readonly isKeyed?: boolean },
    act: ActOptions | undefined,
  ): Promise<LimitStatus> {
    const limit = { name: checkLimitName(name), keyed: checkFlag('isKeyed', isKeyed), override: overrideValues(values) };
    const after = await createLimit(this.#store, limit, this.#audit.asker(act));
    await this.#record('limit.define', null, after, act);
    return this.show(name);
  }

  get #store(): Store {
    return this.#stores.database.store;
  }

  async #status(record: LimitRecord, count: number): Promise<LimitStatus> {
    const { name, keyed } = record;
    const use = await this.#store.limitUse(name, keyed ? { count } : { keys: [null] });
    return { ...statusOf(record), use };
  }

  /** Wakes the claimers, since a change may admit jobs; records it if the options name a person. */
  async #record(
    action: string,
    before: LimitRecord | null,
    after: LimitRecord,
    act: ActOptions | undefined,
  ): Promise<void> {
    this.#workers.wake();
    if (act?.by === undefined) return;
    const views = { before: before && statusOf(before), after: statusOf(after) };
    await this.#stores.database.audit({ action, job: null, def: null, ...views }, this.#audit.asker(act));
  }
}

function statusOf({ name, keyed, code, override, by, why, values }: LimitRecord): Omit<LimitStatus, 'use'> {
  return {
    name,
    isKeyed: keyed,
    code: code && settingsOf(code),
    override: override && { ...overrideSettings(override), by, why },
    values: settingsOf(values),
  };
}

const settingsOf = ({ rate, concurrency }: LimitValues): LimitSettings =>
  ({ rate: rate && formatRate(rate), burst: rate?.burst ?? null, concurrency });

const overrideSettings = ({ rate, concurrency }: Partial<LimitValues>): Partial<LimitSettings> => ({
  ...(rate === undefined ? {} : { rate: rate && formatRate(rate), burst: rate?.burst ?? null }),
  ...(concurrency === undefined ? {} : { concurrency }),
});

function overrideValues(override: LimitOverride): Partial<LimitValues> {
  const { rate, burst, concurrency } = checkFields('an override', override, ['rate', 'burst', 'concurrency']);
  if (rate === undefined && concurrency === undefined) {
    throw new Refusal('malformed.option', 'an override of a limit needs a rate or a concurrency', {});
  }
  if (burst !== undefined && rate == null) {
    throw new Refusal('malformed.option', 'a burst needs a rate: give both', {});
  }
  return {
    ...(rate === undefined ? {} : { rate: rate === null ? null : rateOf(rate, burst) }),
    ...(concurrency === undefined ? {} : { concurrency: concurrency === null ? null : checkConcurrency(concurrency) }),
  };
}
