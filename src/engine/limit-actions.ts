/** Named limits for operators: lists them with their use, overrides their values, pauses and reopens them, and creates and deletes limits without code. */
import { createLimit, deleteLimit, overrideLimit, pauseLimit, readLimit, readLimits, reopenLimit, resumeLimit, unknownLimit, type LimitRecord } from '../jobs/limits.ts';
import { checkAsker, checkFields, checkFlag, checkText, keyMax } from '../jobs/checks/values.ts';
import type { LimitValues } from '../model/limit.ts';
import { limitPauseAt, type LimitPause } from '../model/limit-record.ts';
import type { ResumeSpread } from '../model/pause.ts';
import type { Spread } from '../model/spread.ts';
import { readLimitSpreads } from '../jobs/spreads.ts';
import { Refusal } from '../refusal.ts';
import type { LimitInUseNow, Store } from '../store/store.ts';
import { formatRate, type RateText } from '../time/rate.ts';
import type { AuditTrail } from './audit-trail.ts';
import { checkConcurrency, checkLimitName, rateOf } from './declare/limit.ts';
import { isLimitDeclared } from './living-builds.ts';
import { endOf, spreadMsOf, type PauseOptions, type ResumeOptions } from './pause-actions.ts';
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
  /** Who has paused the limit, why and until when; null: it is not paused. */
  readonly paused: LimitPause | null;
  /** Who resumed the limit and until when what piled up is let out; null: nothing is held back by it. */
  readonly spread: LimitSpread | null;
  /** The use of the limit; if it has keys, of the most used ones. */
  readonly use: readonly LimitInUseNow[];
}

/** The values that an override sets: those that are left out come from the code, and null means not limited. */
export interface LimitOverride {
  readonly rate?: RateText | (string & {}) | null;
  readonly burst?: number;
  readonly concurrency?: number | null;
}

export type LimitSpread = ResumeSpread & Pick<Spread, 'until'>;

export type LimitPauseOptions = Omit<PauseOptions, 'key'>;
export type LimitResumeOptions = Omit<ResumeOptions, 'key'>;

export interface ReopenOptions extends ActOptions {
  /** The key to reopen. Default: all keys. */
  readonly key?: string | undefined;
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
    const spreads = await readLimitSpreads(this.#store, records.map(({ name }) => name));
    const statuses = await Promise.all(records.map((record) => this.#status(record, spreads, keysListed)));
    return statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async show(name: string): Promise<LimitStatus> {
    const record = await readLimit(this.#store, checkLimitName(name));
    if (record === null) throw unknownLimit(name);
    return this.#status(record, await readLimitSpreads(this.#store, [name]), keysShown);
  }

  /** Replaces the override of a limit; null removes it. */
  async override(name: string, override: LimitOverride | null, act: ActOptions | undefined): Promise<LimitStatus> {
    checkLimitName(name);
    const values = override === null ? null : overrideValues(override);
    const before = await readLimit(this.#store, name);
    const after = await overrideLimit(this.#store, name, values, this.#audit.asker(act));
    await this.#record('limit.override', before && statusOf(before), statusOf(after), act);
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
    await this.#record('limit.define', null, statusOf(after), act);
    return this.show(name);
  }

  /** Forgets the closing of a limit, and what is used of its rate: its burst may start at once. */
  async reopen(name: string, options: ReopenOptions): Promise<LimitStatus> {
    const { key, ...act } = checkFields('a reopening', options, ['by', 'why', 'key']);
    const { isKeyed } = await this.show(name);
    const reopened = { name, key: checkReopenedKey(name, isKeyed, key) };
    await reopenLimit(this.#store, name, reopened.key, checkAsker(this.#audit.asker(act)));
    await this.#record('limit.reopen', null, reopened, act);
    return this.show(name);
  }

  /** Keeps jobs that use the limit from starting. */
  async pause(name: string, options: LimitPauseOptions): Promise<LimitStatus> {
    const { until, ...act } = checkFields('a pause', options, ['by', 'why', 'until']);
    if (act.why === undefined) throw new Refusal('malformed.option', 'cannot pause without a reason: give why');
    const { paused } = await this.show(name);
    const after = await pauseLimit(this.#store, name, endOf(until, this.#store.now()), checkAsker(this.#audit.asker(act)));
    await this.#record('limit.pause', paused, after, act);
    return this.show(name);
  }

  async resume(name: string, options: LimitResumeOptions): Promise<LimitStatus> {
    const { spread, ...act } = checkFields('a resume', options, ['by', 'why', 'spread']);
    const asker = checkAsker(this.#audit.asker(act));
    const before = await resumeLimit(this.#store, checkLimitName(name), asker, spreadMsOf(spread));
    const after = await this.show(name);
    await this.#record('limit.resume', 'bounds' in before ? { spread: spreadOf(before) } : before, after.spread && { spread: after.spread }, act);
    return after;
  }

  /** Deletes a limit that no living code declares. */
  async delete(name: string, act: ActOptions | undefined): Promise<void> {
    const isDeclared = (): Promise<boolean> => isLimitDeclared(this.#store, name);
    const before = await deleteLimit(this.#store, checkLimitName(name), isDeclared);
    await this.#record('limit.delete', statusOf(before), null, act);
  }

  get #store(): Store {
    return this.#stores.database.store;
  }

  async #status(record: LimitRecord, spreads: ReadonlyMap<string, Spread>, count: number): Promise<LimitStatus> {
    const { name, keyed } = record;
    const use = await this.#store.limitUse(name, keyed ? { count } : { keys: [null] });
    const spread = spreads.get(name);
    const paused = limitPauseAt(record, this.#store.now());
    return { ...statusOf(record), paused, spread: spread ? spreadOf(spread) : null, use };
  }

  /** Wakes the claimers, since a change may admit jobs; records it if the options name a person. */
  async #record(action: string, before: unknown, after: unknown, act: ActOptions | undefined): Promise<void> {
    this.#workers.wake();
    if (act?.by === undefined) return;
    await this.#stores.database.audit({ action, job: null, def: null, before, after }, this.#audit.asker(act));
  }
}

function checkReopenedKey(name: string, isKeyed: boolean, key: string | undefined): string | null {
  if (key === undefined) return null;
  if (isKeyed) return checkText('limit key', key, keyMax);
  throw new Refusal('malformed.option', `the limit ${name} has no keys: leave out the key`, { name });
}

function statusOf({ name, keyed, code, override, by, why, values }: LimitRecord): Omit<LimitStatus, 'use' | 'paused' | 'spread'> {
  return {
    name,
    isKeyed: keyed,
    code: code && settingsOf(code),
    override: override && { ...overrideSettings(override), by, why },
    values: settingsOf(values),
  };
}

const spreadOf = ({ by, why, from, until }: Spread): LimitSpread => ({ by, why, from, until });

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
