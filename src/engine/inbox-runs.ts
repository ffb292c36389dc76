/**
 * The inbox runs: turns requests of the inbox into runs, by the same checks as `createJobRun`. What the checks refuse
 * stays in the inbox with the code and the sentence of the refusal.
 */
import { checkObject, checkRunnableType, checkTypeName } from '../jobs/checks/values.ts';
import { createFromInbox, type RefusedRequest, type RequestDraft } from '../jobs/inbox.ts';
import type { Jobs } from '../jobs.ts';
import { checkJsonText, parseJson } from '../model/json.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import type { Logger } from '../logger.ts';
import { isLive, type InboxRequest } from '../store/store.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import { throughHook } from './declare/hooked-requests.ts';
import { busyType, newToStart, refuseIfAdmitted } from './declare/one-per-type.ts';
import { burstsInForce } from './declare/bursts.ts';
import type { BurstOf } from './declare/limit-uses.ts';
import { draftsOf, isOneAtATime, type RunRequest } from './declare/run-request.ts';
import { thrownByCode } from './declare/thrown-by-code.ts';
import type { TypeRules } from './declare/type-rules.ts';
import type { Stores } from './stores.ts';
import type { TypeCatalogue } from './type-catalogue.ts';

export interface InboxRunsParts {
  readonly stores: Stores;
  readonly catalogue: TypeCatalogue;
  readonly logger: Logger;
  /** Whether this instance has a codec. */
  readonly encodes: boolean;
}

/** The actor in the history of runs that come from the inbox. */
const inboxActor = 'inbox';
const pageSize = 1_000;
/** How long a request that only an instance with the code of its type can check waits for such an instance. */
const codeWait: Duration = '1m';

type Drafted = { readonly draft: RequestDraft; readonly rules: TypeRules } | { readonly refused: RefusedRequest };

export class InboxRuns {
  readonly #parts: InboxRunsParts;
  /** The id after which the next page starts. */
  #after = 0;

  constructor(parts: InboxRunsParts) {
    this.#parts = parts;
  }

  /**
   * Creates the runs of one page of waiting requests; returns whether another page may follow. Leaves the requests to
   * instances that have a codec, if this one has none: it would store their inputs in the clear.
   */
  async takePage(): Promise<boolean> {
    const { store } = this.#jobs;
    const requests = await store.inboxRequests({ standing: 'waiting', after: this.#after, limit: pageSize });
    if (requests.length > 0 && !this.#parts.encodes && (await this.#isLeftToEncoders())) return false;
    if (requests.length > 0) await this.#take(requests);
    const isFull = requests.length === pageSize;
    this.#after = isFull ? requests.at(-1)!.id : 0;
    return isFull;
  }

  get #jobs(): Jobs {
    return this.#parts.stores.database;
  }

  /** Whether an instance with a codec is alive. One that is draining takes no requests. */
  async #isLeftToEncoders(): Promise<boolean> {
    const { store } = this.#jobs;
    const now = store.now();
    return (await store.instances()).some((one) => one.about.encodes === true && !one.about.draining && isLive(one, now));
  }

  async #take(requests: readonly InboxRequest[]): Promise<void> {
    await this.#jobs.store.synchronize?.();
    const drafted = await this.#draftAll(requests);
    const drafts = drafted.flatMap((one) => ('draft' in one ? [one] : []));
    const busy = await this.#busy(drafts);
    const isBusy = new Set(busy.map(({ request }) => request));
    const free = drafts.filter(({ draft }) => !isBusy.has(draft.request)).map(({ draft }) => draft);
    const refused = drafted.flatMap((one) => ('refused' in one ? one.refused : []));
    await this.#refuse(requests, [...refused, ...busy, ...(await createFromInbox(this.#jobs, free, inboxActor))]);
  }

  async #draftAll(requests: readonly InboxRequest[]): Promise<readonly Drafted[]> {
    const names = [...new Set(requests.map(({ type }) => type))].filter(isTypeName);
    const rules = await this.#parts.catalogue.rulesOf(names);
    const { store } = this.#jobs;
    const bursts = new Map(await Promise.all(rules.entries().map(async ([name, { entry: { limits } }]) =>
      [name, await burstsInForce(store, limits)] as const)));
    const now = store.now();
    return Promise.all(requests.map((request) =>
      this.#draft(request, rules.get(request.type), { now, burstOf: bursts.get(request.type) })));
  }

  /**
   * Returns the draft of a request. `rules` is undefined if its type is not a valid name. A delay counts from the time
   * at which the request was written.
   */
  async #draft(
    request: InboxRequest,
    rules: TypeRules | undefined,
    { now, burstOf }: { readonly now: number; readonly burstOf: BurstOf | undefined },
  ): Promise<Drafted> {
    const { id, type, at } = request;
    const { creating } = this.#jobs;
    try {
      checkRunnableType(type);
      const written = givenRequest(request);
      const [given = written] = creating === null ? [] : await throughHook(creating, rules!, null, [written], inboxActor);
      const [draft] = await draftsOf(rules!, null, [given], Math.min(at, now), burstOf);
      const refuseTaken = isOneAtATime(draft!, given) ? { refuseTaken: (job: number) => busyType(type, job) } : {};
      return { draft: { request: id, draft: draft!, ...refuseTaken }, rules: rules! };
    } catch (error) {
      return { refused: { request: id, refusal: thrownByCode(type, error) } };
    }
  }

  /** Returns the requests that are refused because only one run of their type may be open. */
  async #busy(drafted: readonly { readonly draft: RequestDraft; readonly rules: TypeRules }[]): Promise<RefusedRequest[]> {
    const limited = drafted.filter(({ rules }) => rules.entry.onePerType);
    const refused: RefusedRequest[] = [];
    for (const [type, some] of Map.groupBy(limited, ({ rules }) => rules.entry.name)) {
      const starting = new Set(await newToStart(this.#jobs, some.map(({ draft }) => draft.draft), this.#jobs.store.now()));
      const refusal = starting.size === 0 ? null : await this.#admitted(type);
      if (refusal === null) continue;
      const affected = some.filter(({ draft }) => starting.has(draft.draft));
      refused.push(...affected.map(({ draft: { request } }) => ({ request, refusal })));
    }
    return refused;
  }

  /** Returns the refusal if a run of the type is admitted; otherwise null. */
  async #admitted(type: string): Promise<Refusal | null> {
    try {
      await refuseIfAdmitted(this.#jobs, type);
      return null;
    } catch (error) {
      if (isRefusal(error) && error.code === 'busy.type') return error;
      throw error;
    }
  }

  async #refuse(requests: readonly InboxRequest[], refused: readonly RefusedRequest[]): Promise<void> {
    const { store } = this.#jobs;
    const written = new Map(requests.map(({ id, at }) => [id, at]));
    const isFinal = ({ request, refusal }: RefusedRequest): boolean =>
      refusal.code !== 'needs.code' || store.now() - written.get(request)! > durationMs(codeWait);
    const final = refused.filter(isFinal);
    if (final.length === 0) return;
    await store.refuseInInbox(final.map(({ request, refusal: { code, message } }) => ({ request, code, message })));
    const { request, refusal } = final[0]!;
    const detail = { count: final.length, request, code: refusal.code };
    this.#parts.logger.warn('requests in the inbox were refused: stint inbox ls --refused lists them', detail);
  }
}

const isTypeName = (name: string): boolean => {
  try {
    return checkTypeName(name) === name;
  } catch {
    return false;
  }
};

function givenRequest({ input, options }: InboxRequest): RunRequest<unknown> {
  const parsed = parseJson(checkJsonText(options)) as RunRequest<unknown>;
  const { input: inOptions, ...request } = checkObject('options', parsed);
  if (inOptions !== undefined) {
    throw new Refusal('malformed.option', 'the options have an input: give the input as the second argument');
  }
  if (request.after !== undefined) {
    throw new Refusal('malformed.option', 'a request of the inbox cannot follow runs: leave out after');
  }
  return input === null ? request : { ...request, input: parseJson(checkJsonText(input)) };
}
