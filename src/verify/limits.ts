/**
 * S39: in no period do more jobs start than a named limit allows, and no more of its jobs are admitted than may be
 * running. The starts come from the histories of all jobs, the admitted jobs are those of now, and the values of a limit
 * come from its own history: before its first change it shows none, and nothing is checked. The values are read last, so
 * that they contain every change under which a job was started or admitted.
 */
import { never } from '../model/definition.ts';
import { parseGate } from '../model/gate.ts';
import { limitContentOf, limitValuesOf } from '../model/limit-record.ts';
import { noLimitValues, type LimitUse, type LimitValues, type Rate } from '../model/limit.ts';
import type { Job } from '../model/job.ts';
import { firstRecordId } from '../model/record-id.ts';
import { pagesOf } from '../store/paging.ts';
import type { LimitInUseNow, Store } from '../store/store.ts';
import { stepsOf, type JobWithHistory } from './history.ts';
import { LimitStarts, type LimitStart } from './limit-starts.ts';
import { fastest, RateInUse } from './rate-in-use.ts';
import { violation, type Violation } from './violation.ts';

interface UsedLimit {
  readonly use: LimitUse;
  readonly starts: LimitStarts;
  /** When the first of the admitted jobs was admitted; `never`: none is. */
  oldest: number;
}

/** Values of a limit, and from when to when a claim may have read them. */
interface ValuesInForce {
  readonly values: LimitValues;
  readonly from: number;
  readonly to: number;
}

/** A claim on PostgreSQL reads the clock for its rates some milliseconds before it does for its events. */
const claimMs = 100;

/** How long the commit of a change of values may take: claims read the former values until then. */
const commitMaxMs = 30_000;

const recordsPage = 500;

/** Of how many keys of a limit the admitted jobs are counted. */
const keysMax = 10_000;

type LimitReader = Pick<Store, 'limitUse' | 'find' | 'load' | 'history'>;

export class LimitHistories {
  readonly #used = new Map<string, UsedLimit>();

  /** Adds a job; each job once. */
  add({ job, events }: JobWithHistory): void {
    const uses = job.gate === null ? undefined : parseGate(job.gate).uses;
    if (!uses) return;
    const starts = startsOf({ job, events });
    for (const use of uses) {
      const used = this.#usedLimit(use);
      for (const at of starts) used.starts.add({ job: job.id, cost: use.cost, at });
      if (job.admitted) used.oldest = Math.min(used.oldest, starts.at(-1) ?? job.created);
    }
  }

  /**
   * Call it after `add` of all stored jobs. `since`: when the first of them was read, or `never` if the store has not
   * changed since; a job may have been admitted since then that was not when it was added.
   */
  async check(store: LimitReader, since: number): Promise<Violation[]> {
    const found: Violation[] = [];
    const values = new Map<string, readonly ValuesInForce[]>();
    for await (const limits of pagesOf(store, { kinds: ['limit'] }, recordsPage, firstRecordId - 1)) {
      for (const limit of limits) {
        const { name } = limitContentOf(limit.input);
        const inUse = await store.limitUse(name, { count: keysMax });
        const all = await valuesNow(store, limit);
        values.set(name, all);
        found.push(...inUse.flatMap((use) => this.#checkConcurrency(name, all, use, since)));
      }
    }
    for (const { use, starts } of this.#used.values()) found.push(...checkRate(nameOf(use), values.get(use.name) ?? [], starts));
    return found;
  }

  #usedLimit(use: LimitUse): UsedLimit {
    const name = nameOf(use);
    const known = this.#used.get(name) ?? { use, starts: new LimitStarts(), oldest: never };
    this.#used.set(name, known);
    return known;
  }

  /** Jobs that were admitted before a concurrency was lowered go on. */
  #checkConcurrency(limit: string, all: readonly ValuesInForce[], { key, admitted }: LimitInUseNow, since: number): Violation[] {
    const name = nameOf({ name: limit, key });
    const oldest = Math.min(since, this.#used.get(name)?.oldest ?? never);
    const maxima = all.filter(({ to }) => to >= oldest).map(({ values: { concurrency } }) => concurrency ?? Infinity);
    const max = Math.max(...maxima);
    if (admitted <= max) return [];
    return [violation('S39', null, `${admitted} jobs are admitted by ${name}, which allows ${max}`)];
  }
}

const nameOf = ({ name, key }: Pick<LimitUse, 'name' | 'key'>): string =>
  `the limit ${JSON.stringify(name)}${key === null ? '' : ` for ${JSON.stringify(key)}`}`;

/** Reads the limit and its history until the limit has not changed between two reads. */
async function valuesNow(store: LimitReader, seen: Job): Promise<readonly ValuesInForce[]> {
  for (let job = seen; ;) {
    const events = await store.history(job.id);
    const [now] = await store.load([job.id]);
    if (now === undefined || now.version === job.version) return valuesInForce({ job, events });
    job = now;
  }
}

/**
 * Returns the values of a limit, in the order of time. The history of a limit that was changed lacks its first values. For
 * a moment, a limit that is reopened limits nothing: what is used of it is forgotten.
 */
function valuesInForce({ job, events }: JobWithHistory): readonly ValuesInForce[] {
  const first = { at: 0, values: noLimitValues };
  const declared = events.length === 1 ? [{ at: events[0]!.at, values: limitValuesOf(limitContentOf(job.input)) }] : [];
  const changed = events.flatMap((event) => (event.kind === 'edited' && event.edit.input !== undefined
    ? [{ at: event.at, content: limitContentOf(event.edit.input) }] : []));
  const all = [first, ...declared, ...changed.flatMap(({ at, content }, index) => {
    const values = limitValuesOf(content);
    const isReopened = content.reopened !== changed[index - 1]?.content.reopened;
    return isReopened ? [{ at, values: noLimitValues }, { at, values }] : [{ at, values }];
  })];
  return all.map(({ at, values }, index) => ({ values, from: at, to: (all[index + 1]?.at ?? never) + commitMaxMs }));
}

/**
 * Returns when the job was admitted by its gate. Leaves out claims at the time of the event before: if the clock of the
 * store was set back, the claim was earlier.
 */
const startsOf = ({ job, events }: JobWithHistory): number[] =>
  stepsOf(job, events)
    .filter(({ before, event, after }) => event.kind === 'claimed' && !before.admitted && after.admitted && event.at > before.changed)
    .map(({ event }) => event.at);

function checkRate(name: string, all: readonly ValuesInForce[], starts: LimitStarts): Violation[] {
  if (all.every(({ values: { rate } }) => rate === null)) return [];
  const inUse = new RateInUse();
  let largest = 0;
  for (const { start: { job, cost, at }, since, now } of withRates(all, starts)) {
    const used = inUse.start(cost, at, since);
    largest = Math.max(largest, cost);
    const rates = now.filter((rate) => rate !== null);
    const burst = rates.reduce((most, rate) => Math.max(most, rate.burst), largest);
    if (rates.length < now.length || used <= burst + claimMs * fastest(rates) + roundingCost) continue;
    const { count, per } = rates.at(-1)!;
    const sentence = `jobs of cost ${used} started above the rate of ${name}, which is ${count} in ${per} ms and ${burst} at once`;
    return [violation('S39', job, sentence)];
  }
  return [];
}

/** Bounds the error of sums of costs. */
const roundingCost = 1e-6;

interface StartUnderRates {
  readonly start: LimitStart;
  /** The rates that a claim may have read at some time since the start before, and those of the start; null: not limited. */
  readonly since: readonly (Rate | null)[];
  readonly now: readonly (Rate | null)[];
}

/** Yields the starts in the order of time. */
function* withRates(all: readonly ValuesInForce[], starts: LimitStarts): Generator<StartUnderRates> {
  let [first, next, before] = [0, 0, 0];
  for (const start of starts.inOrder()) {
    while (next < all.length && all[next]!.from <= start.at) next++;
    while (all[first]!.to < before) first++;
    const since = all.slice(first, next);
    const now = since.filter(({ to }) => to >= start.at);
    yield { start, since: since.map(rateOf), now: now.map(rateOf) };
    before = start.at;
  }
}

const rateOf = ({ values }: ValuesInForce): Rate | null => values.rate;
