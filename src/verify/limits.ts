/**
 * S39: in no period do more jobs start than a named limit allows, and no more of its jobs are admitted than may be
 * running. Checked for limits whose values have not changed since they were declared: the starts from the histories of
 * all jobs, the admitted jobs as they are now.
 */
import { parseGate } from '../model/gate.ts';
import type { Job } from '../model/job.ts';
import { limitContentOf, limitValuesOf } from '../model/limit-record.ts';
import type { LimitUse, LimitValues, Rate } from '../model/limit.ts';
import type { Store } from '../store/store.ts';
import { stepsOf, type JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

interface LimitStart {
  readonly job: number;
  readonly cost: number;
  readonly at: number;
}

/** A claim on PostgreSQL reads the clock for its rates some milliseconds before it does for its events. */
const claimMs = 100;

/** Of how many keys of a limit the admitted jobs are counted. */
const keysMax = 10_000;

export class LimitHistories {
  readonly #values = new Map<string, LimitValues>();
  readonly #starts = new Map<string, { readonly use: LimitUse; readonly starts: LimitStart[] }>();
  readonly #seen = new Set<number>();

  /** Adds a job. A job that is checked again is not added again. */
  add({ job, events }: JobWithHistory): void {
    if (job.kind === 'limit') return this.#addLimit(job);
    const uses = job.gate === null ? undefined : parseGate(job.gate).uses;
    if (!uses || this.#seen.size === this.#seen.add(job.id).size) return;
    for (const at of startsOf({ job, events })) {
      for (const use of uses) this.#startsOf(use).push({ job: job.id, cost: use.cost, at });
    }
  }

  /** Call it after `add` of all stored jobs. */
  async check(store: Pick<Store, 'limitUse'>): Promise<Violation[]> {
    const found = this.#starts.values().toArray().flatMap(({ use, starts }) => {
      const rate = this.#values.get(use.name)?.rate ?? null;
      return rate === null ? [] : checkRate(nameOf(use), rate, starts);
    });
    for (const [name, { concurrency }] of this.#values) {
      if (concurrency !== null) found.push(...(await checkConcurrency(store, name, concurrency)));
    }
    return found;
  }

  #addLimit({ input, version }: Job): void {
    const content = limitContentOf(input);
    if (version === 1) this.#values.set(content.name, limitValuesOf(content));
  }

  #startsOf(use: LimitUse): LimitStart[] {
    const name = nameOf(use);
    const known = this.#starts.get(name) ?? { use, starts: [] };
    this.#starts.set(name, known);
    return known.starts;
  }
}

const nameOf = ({ name, key }: Pick<LimitUse, 'name' | 'key'>): string =>
  `the limit ${JSON.stringify(name)}${key === null ? '' : ` for ${JSON.stringify(key)}`}`;

/**
 * Returns when the job was admitted by its gate. Leaves out claims at the time of the event before: if the clock of the
 * store was set back, the claim was earlier.
 */
const startsOf = ({ job, events }: JobWithHistory): number[] =>
  stepsOf(job, events)
    .filter(({ before, event, after }) => event.kind === 'claimed' && !before.admitted && after.admitted && event.at > before.changed)
    .map(({ event }) => event.at);

function checkRate(name: string, { count, per, burst }: Rate, unordered: readonly LimitStart[]): Violation[] {
  const most = count * (1 + claimMs / per) + unordered.reduce((max, { cost }) => Math.max(max, cost), burst);
  const starts = [...unordered].sort((a, b) => a.at - b.at);
  let [first, sum] = [0, 0];
  for (const { job, cost, at } of starts) {
    for (sum += cost; starts[first]!.at < at - per; first++) sum -= starts[first]!.cost;
    if (sum > most) return [violation('S39', job, `jobs of cost ${sum} started in ${per} ms: ${name} allows ${count} and ${burst} at once`)];
  }
  return [];
}

async function checkConcurrency(store: Pick<Store, 'limitUse'>, limit: string, max: number): Promise<Violation[]> {
  const full = (await store.limitUse(limit, { count: keysMax })).filter(({ admitted }) => admitted > max);
  return full.map(({ key, admitted }) =>
    violation('S39', null, `${admitted} jobs are admitted by ${nameOf({ name: limit, key })}, which allows ${max}`));
}
