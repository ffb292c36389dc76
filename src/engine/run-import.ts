/**
 * Run import: creates runs for the jobs of another system, by the same checks as `createJobRun`. Each request is answered
 * by itself. Its unique key names the job, so that a request that is repeated finds the run of the first.
 */
import type { Created } from '../jobs/create.ts';
import { checkRunnableType } from '../jobs/checks/values.ts';
import { draftRefusalOf, type Draft } from '../jobs/draft.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import { burstsInForce } from './declare/bursts.ts';
import { throughHook } from './declare/hooked-requests.ts';
import type { BurstOf } from './declare/limit-uses.ts';
import { newToStart, refuseIfAdmitted } from './declare/one-per-type.ts';
import { draftsOf, type RunRequest } from './declare/run-request.ts';
import { thrownByCode } from './declare/thrown-by-code.ts';
import type { DefinitionActions, RunTarget } from './definition-actions.ts';
import type { StoreWorkers } from './store-workers.ts';
import type { Stores } from './stores.ts';

export interface ImportRequest extends Omit<RunRequest<unknown>, 'after' | 'on' | 'afterFailure'> {
  /** Names the job in the other system, with a `for` that is longer than the import may be repeated. */
  readonly unique: NonNullable<RunRequest<unknown>['unique']>;
  /** How many attempts are left. Default: those of the type. */
  readonly attempts?: number;
}

/** What became of a request. The id of a `created` run is null in a dry run. */
export type ImportOutcome =
  | { readonly outcome: 'created'; readonly id: number | null }
  | { readonly outcome: 'existing'; readonly id: number }
  | { readonly outcome: 'refused'; readonly refusal: Refusal };

export interface RunImportParts {
  readonly stores: Stores;
  readonly workers: StoreWorkers;
  readonly definitions: DefinitionActions;
}

interface ImportTarget extends RunTarget {
  readonly by: string;
  readonly now: number;
  readonly burstOf: BurstOf | undefined;
}

type DraftOrRefusal = Draft | Refusal;

/** The drafts that are refused because only one run of the type may be open, and why. */
interface Busy {
  readonly drafts: ReadonlySet<Draft>;
  readonly refusal: Refusal;
}

export class RunImport {
  readonly #parts: RunImportParts;

  constructor(parts: RunImportParts) {
    this.#parts = parts;
  }

  async create(
    type: string,
    requests: readonly ImportRequest[],
    isDryRun: boolean,
    by: string,
  ): Promise<readonly ImportOutcome[]> {
    const target = await this.#target(type, by);
    if (isRefusal(target)) return requests.map(() => ({ outcome: 'refused', refusal: target }));
    const { jobs } = target;
    const drafted = await Promise.all(requests.map((request) => draftOf(target, request)));
    const keys = drafted.flatMap((one) => (isRefusal(one) ? [] : [one.unique!.key]));
    const taken = await jobs.store.jobsByKey([...new Set(keys)]);
    const busy = await busyRefusal(target, drafted.flatMap((one) => (isRefusal(one) ? [] : [one])));
    const outcomes = drafted.map((one) => outcomeOf(one, taken, busy, target.now));
    const waiting = outcomes.flatMap((outcome, index) => (outcome === null ? [index] : []));
    const made = isDryRun ? [] : await jobs.createMany(waiting.map((index) => drafted[index] as Draft), by);
    if (made.length > 0) this.#parts.workers.wake();
    waiting.forEach((index, nth) => (outcomes[index] = createdOutcome(made[nth])));
    return outcomes as ImportOutcome[];
  }

  /** A name that no type can have is refused for each request. */
  async #target(type: string, by: string): Promise<ImportTarget | Refusal> {
    const malformed = nameRefusal(type);
    if (malformed !== null) return malformed;
    const { stores, definitions } = this.#parts;
    const { store } = stores.database;
    await store.synchronize?.();
    const target = await definitions.target({ type });
    return { ...target, by, now: store.now(), burstOf: await burstsInForce(store, target.rules.entry.limits) };
  }
}

/** Undefined: in a dry run, nothing was made. */
function createdOutcome(made: Created | undefined): ImportOutcome {
  if (made === undefined) return { outcome: 'created', id: null };
  return { outcome: made.outcome === 'created' ? 'created' : 'existing', id: made.id };
}

/** Returns the outcome of a request that creates no run; null: it creates one. */
function outcomeOf(
  drafted: DraftOrRefusal,
  taken: ReadonlyMap<string, number>,
  busy: Busy | null,
  now: number,
): ImportOutcome | null {
  if (isRefusal(drafted)) return { outcome: 'refused', refusal: drafted };
  const id = taken.get(drafted.unique!.key);
  if (id !== undefined) return { outcome: 'existing', id };
  const refusal = busy?.drafts.has(drafted) ? busy.refusal : draftRefusalOf(drafted, now);
  return refusal === null ? null : { outcome: 'refused', refusal };
}

async function draftOf(target: ImportTarget, request: ImportRequest): Promise<DraftOrRefusal> {
  const { jobs, rules, by, now, burstOf } = target;
  try {
    const { attempts, ...given } = request;
    const [hooked = given] = jobs.creating === null ? [] : await throughHook(jobs.creating, rules, null, [given], by);
    const [draft] = await draftsOf(rules, null, [hooked], now, burstOf);
    if (request.unique === undefined) throw wrongRequest('a run cannot be imported without a unique key');
    if ('after' in request) throw wrongRequest('an imported run cannot follow runs: leave out after');
    return attempts === undefined ? draft! : { ...draft!, policy: { ...draft!.policy, attemptsMax: attempts } };
  } catch (error) {
    return thrownByCode(rules.entry.name, error);
  }
}

const wrongRequest = (message: string): Refusal => new Refusal('malformed.option', message);

async function busyRefusal({ jobs, rules, now }: ImportTarget, drafts: readonly Draft[]): Promise<Busy | null> {
  if (!rules.entry.onePerType) return null;
  const starting = await newToStart(jobs, drafts, now);
  if (starting.length === 0) return null;
  try {
    await refuseIfAdmitted(jobs, rules.entry.name);
    return null;
  } catch (error) {
    if (isRefusal(error) && error.code === 'busy.type') return { drafts: new Set(starting), refusal: error };
    throw error;
  }
}

function nameRefusal(type: string): Refusal | null {
  try {
    checkRunnableType(type);
    return null;
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}
