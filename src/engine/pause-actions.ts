/** Pause actions: operators pause and resume job types and keys of types. */
import { checkAsker, checkFields, checkName, checkText, checkTime, keyMax } from '../jobs/checks/values.ts';
import { endPause, pause, pausesInForce, type PauseChange, type PauseTarget } from '../jobs/pauses.ts';
import type { Pause } from '../model/pause.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import type { AuditTrail } from './audit-trail.ts';
import { instantOfGiven, type GivenTime } from './declare/due-time.ts';
import type { ActOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';
import type { TypeCatalogue } from './type-catalogue.ts';

export interface PauseOptions extends ActOptions {
  /** The reason, for everybody who finds jobs waiting; recorded in the history and the audit. */
  readonly why: string;
  /** When the pause ends by itself: a duration such as `2h`, or a time. Default: when the type is resumed. */
  readonly until?: GivenTime | undefined;
  /** Only jobs with this key are paused; for types with `limit: { key }`. Default: all jobs of the type. */
  readonly key?: string | undefined;
}

export interface ResumeOptions extends ActOptions {
  /** The key that was paused. Default: the pause of the whole type ends. */
  readonly key?: string | undefined;
  /**
   * Lets out the jobs that piled up evenly over this time, such as `10m`, in the order of their due times. Jobs that become due
   * after the resume are not held back. Default: all may start at once.
   */
  readonly spread?: Duration | undefined;
}

export class PauseActions {
  readonly #stores: Stores;
  readonly #audit: AuditTrail;
  readonly #catalogue: TypeCatalogue;

  constructor(stores: Stores, audit: AuditTrail, catalogue: TypeCatalogue) {
    this.#stores = stores;
    this.#audit = audit;
    this.#catalogue = catalogue;
  }

  async pause(type: string, options: PauseOptions): Promise<Pause> {
    const { until, key, ...act } = checkFields('a pause', options, ['by', 'why', 'until', 'key']);
    if (act.why === undefined) throw new Refusal('malformed.option', 'cannot pause without a reason: give why');
    const target = targetOf(type, key);
    if (target.key !== null) await this.#requireKeys(type);
    await this.#store.synchronize?.();
    const change = await pause(this.#store, target, endOf(until, this.#store.now()), checkAsker(this.#audit.asker(act)));
    await this.#record('type.pause', change, act);
    return change.after!;
  }

  async resume(type: string, options: ResumeOptions): Promise<void> {
    const { key, spread, ...act } = checkFields('a resume', options, ['by', 'why', 'key', 'spread']);
    const asker = checkAsker(this.#audit.asker(act));
    const change = await endPause(this.#store, targetOf(type, key), asker, spreadMsOf(spread));
    await this.#record('type.resume', change, act);
  }

  all(): Promise<readonly Pause[]> {
    return pausesInForce(this.#store);
  }

  get #store(): Store {
    return this.#stores.database.store;
  }

  /** Refuses a key of a type whose runs have none: the pause would hold back nothing. */
  async #requireKeys(type: string): Promise<void> {
    const entry = (await this.#catalogue.entries([type])).get(type);
    if (entry === undefined || entry.keyConcurrency !== null) return;
    const message = `the job type ${type} has no keys: pause the whole type, or declare limit: { key } for it`;
    throw new Refusal('malformed.option', message, { type });
  }

  /** Records an action if the options name a person. */
  async #record(action: string, { before, after }: PauseChange, act: ActOptions): Promise<void> {
    if (act.by === undefined) return;
    await this.#stores.database.audit({ action, job: null, def: null, before, after }, this.#audit.asker(act));
  }
}

const targetOf = (type: string, key: string | undefined): PauseTarget =>
  ({ type: checkName('type', type), key: key === undefined ? null : checkText('key', key, keyMax) });

/** How long a spread may take, at most: a week. */
const spreadMaxMs = 7 * 24 * 60 * 60 * 1000;

/** Returns the milliseconds of a spread; null: there is none. */
export function spreadMsOf(spread: ResumeOptions['spread']): number | null {
  if (spread === undefined) return null;
  const ms = durationMs(spread);
  if (ms >= 1000 && ms <= spreadMaxMs) return ms;
  throw new Refusal('malformed.option', 'a spread takes from 1s to 7d', { spread });
}

/** Returns the end of a pause; null: it has none. A text that begins with a year is a time, any other a duration. */
export function endOf(until: PauseOptions['until'], now: number): number | null {
  if (until === undefined) return null;
  if (typeof until !== 'string' || /^\d{4}-/.test(until)) return checkTime('until', instantOfGiven(until));
  return now + durationMs(until as Duration);
}
