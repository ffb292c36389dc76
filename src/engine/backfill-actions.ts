/** Backfill actions: plan and start the backfill of a definition. `backfill.ts` has its run. */
import type { Created } from '../jobs/create.ts';
import { checkScheduled, planBackfill, type TickRange } from '../jobs/backfill.ts';
import { checkFields, checkFlag, checkOneOf, checkWhole } from '../jobs/checks/values.ts';
import { RecordedTicks } from '../jobs/recorded-ticks.ts';
import type { KnownDefinition } from '../jobs/define.ts';
import { Refusal } from '../refusal.ts';
import { checkInstant } from '../time/instant.ts';
import { instantOfGiven, type GivenTime } from './declare/due-time.ts';
import type { AuditTrail } from './audit-trail.ts';
import { backfillOnly, backfillTypeName, type BackfillOnly, type BackfillRequest } from './backfill.ts';
import type { RunCreation } from './run-creation.ts';
import type { ActOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';

export interface BackfillOptions {
  /** The first tick that may get a run: a `Date`, a text with its zone such as `2026-03-01T00:00:00Z`, or milliseconds. */
  readonly from: GivenTime;
  /** The end of the range: ticks before it may get a run. Not in the future. */
  readonly to: GivenTime;
  /**
   * `missing` (default): the ticks without a run, also those that were skipped. `all`: also retries the runs that have
   * ended.
   */
  readonly only?: BackfillOnly;
  /** How many of its runs may be open at a time, 1 to 1000. Default: 1. */
  readonly concurrency?: number;
  /** False: only runs of this definition. Default: true: also runs of the definitions that follow it, as at a tick. */
  readonly followers?: boolean;
}

export interface PlannedBackfill extends TickRange {
  /** How many ticks the schedules have in the range, at most 100,000. */
  readonly ticks: number;
  /** How many of them have no run, and get one. */
  readonly missing: number;
  /** How many of them have a run. */
  readonly existing: number;
  /** How many are in the gap of a clock change, where the schedule says that they do not run. */
  readonly inGaps: number;
  /** How many are due now, so that the schedule itself handles them. */
  readonly leftToSchedule: number;
  /** How many may have had runs under an earlier name of the definition. They get none. */
  readonly unknown: number;
}

interface Parts {
  readonly stores: Stores;
  readonly creation: RunCreation;
  readonly audit: AuditTrail;
}

/** The tag of a backfill run; its value is the name of the definition. */
export const backfilledTag = 'stint.definition';

const concurrencyMax = 1_000;
const optionNames = ['from', 'to', 'only', 'concurrency', 'followers'];

export class BackfillActions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async plan(name: string, options: BackfillOptions): Promise<PlannedBackfill> {
    return (await this.#planned(name, options)).plan;
  }

  async start(name: string, options: BackfillOptions, act?: ActOptions): Promise<Created> {
    const { creation, audit, stores } = this.#parts;
    const { known, plan, only, concurrency, followers } = await this.#planned(name, options);
    const { by, why = null } = audit.asker(act);
    const { from, to } = plan;
    const asked = stores.database.store.now();
    const alone = followers ? {} : { followers };
    const input: BackfillRequest = { name, def: known.job.id, from, to, only, concurrency, by, why, asked, ...alone };
    const request = { input, tags: { [backfilledTag]: name } };
    const [created] = await creation.create({ own: backfillTypeName }, [request], by);
    if (act?.by !== undefined) {
      const after = { from, to, only, concurrency, missing: plan.missing, ...alone };
      await stores.database.audit({ action: 'backfill', job: created!.id, def: name, before: null, after }, audit.asker(act));
    }
    return created!;
  }

  async #planned(name: string, given: BackfillOptions) {
    const { from, to, only = 'missing', concurrency = 1, followers = true } = checkFields('a backfill', given, optionNames);
    checkFlag('followers', followers);
    checkOneOf('only', only, backfillOnly);
    checkWhole('concurrency', concurrency, 1, concurrencyMax);
    const { store } = this.#parts.stores.database;
    await store.synchronize?.();
    const range = checkRange(checkInstant(instantOfGiven(from)), checkInstant(instantOfGiven(to)), store.now());
    const known = await this.#definition(name);
    const recorded = new RecordedTicks(range.from, range.to);
    await recorded.readOn(store, known.job);
    const { missing, existing, ...counts } = planBackfill(known.job, known.spec, recorded, range);
    const plan: PlannedBackfill = { ...range, ...counts, missing: missing.length, existing: existing.length };
    return { known, plan, only, concurrency, followers };
  }

  async #definition(name: string): Promise<KnownDefinition> {
    const known = await this.#parts.stores.definition(name);
    checkScheduled(known);
    if (!known.spec.inMemory) return known;
    throw new Refusal('malformed.option', `the runs of definition ${name} are in memory: they cannot be backfilled`, { name });
  }
}

function checkRange(from: number, to: number, now: number): TickRange {
  if (to > now) throw range('the range ends in the future: a backfill creates the runs of past ticks', from, to);
  if (from >= to) throw range('the range is empty: it must end after it begins', from, to);
  return { from, to };
}

const range = (message: string, from: number, to: number): Refusal =>
  new Refusal('malformed.range', message, { from: new Date(from).toISOString(), to: new Date(to).toISOString() });
