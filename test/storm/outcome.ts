// Checks the outcome of a storm: compares the store with the replies that clients got and the ledger of the handlers.
import type { Engine, Event, Job } from '../../src/index.ts';
import { violationText, verify, violation, type Start, type Violation } from '../../src/verify.ts';
import type { Entry } from '../engine/processes/children/ledger.ts';
import { histories, type Told } from '../engine/processes/histories.ts';
import type { OwnRow } from './own-tables.ts';

export interface Evidence {
  readonly acknowledged: ReadonlySet<number>;
  readonly ledger: readonly Entry[];
  readonly orders: readonly OwnRow[];
  readonly effects: readonly OwnRow[];
}

export interface OutcomeReport {
  readonly violations: readonly string[];
  readonly jobs: number;
  readonly events: number;
  readonly starts: number;
  /** Leases that lapsed before the handler had ended. */
  readonly lapses: number;
  /** Starts of a job after its first start. */
  readonly repeatedStarts: number;
  /** Handlers that ended after their lease had lapsed: their outcome was refused. */
  readonly fencedOut: number;
}

export async function checkOutcome(engine: Engine, seen: Evidence): Promise<OutcomeReport> {
  const { ledger, acknowledged, effects, orders } = seen;
  const starts = claimsIn(ledger, 'start');
  const evidence = { acknowledged, starts, effects };
  const checking = verify(engine.jobs.store, { evidence, patienceMs: 0 });
  const violations: Violation[] = [];
  let next = await checking.next();
  for (; !next.done; next = await checking.next()) violations.push(next.value);
  const all = await histories(engine);
  violations.push(...all.flatMap(checkEnded), ...all.flatMap(checkHolders));
  violations.push(...checkDone(all, claimsIn(ledger, 'done')));
  violations.push(...checkTogether(all, orders), ...checkEffects(all, effects));
  const lapsed = all.flatMap(lapsedClaims);
  return {
    violations: violations.map(violationText),
    ...next.value,
    starts: starts.length,
    lapses: lapsed.length,
    repeatedStarts: starts.length - new Set(starts.map(({ job }) => job)).size,
    fencedOut: countLate(lapsed, ledger),
  };
}

const claimsIn = (ledger: readonly Entry[], what: string): Start[] =>
  ledger.filter((entry) => entry.what === what).map(({ job, fence }) => ({ job: job!, fence: fence! }));

const nameOf = ({ job, fence }: Start): string => `${job} ${fence}`;

/** A claim whose lease lapsed, and when. */
type Lapse = Start & { readonly at: number };

function lapsedClaims({ job, events }: Told): Lapse[] {
  let fence = 0;
  return events.flatMap(({ kind, at }) => {
    if (kind === 'claimed') fence += 1;
    return kind === 'lapsed' ? [{ job: job.id, fence, at }] : [];
  });
}

function countLate(lapses: readonly Lapse[], ledger: readonly Entry[]): number {
  const lostAt = new Map(lapses.map((lapse) => [nameOf(lapse), lapse.at]));
  const isLate = ({ what, at, job, fence }: Entry): boolean =>
    what === 'done' && at > (lostAt.get(nameOf({ job: job!, fence: fence! })) ?? Infinity);
  return ledger.filter(isLate).length;
}

function checkEnded({ job }: Told): Violation[] {
  return job.state === 'ended' ? [] : [violation('L2', job.id, `job ${job.id} is still ${job.state} after the storm`)];
}

/** Events that only the holder of a job may write: no job of a storm is handed off. */
const holderOutcomes: ReadonlySet<string> = new Set<Event['kind']>(['succeeded', 'retried', 'planned', 'released']);

/** S4: only the holder of a job writes its outcome. */
function checkHolders({ job, events }: Told): Violation[] {
  let holder = '';
  return events.flatMap((event) => {
    if (event.kind === 'claimed') holder = event.holder;
    if (!holderOutcomes.has(event.kind) || event.by === holder) return [];
    const sentence = `job ${job.id} was held by ${holder}, and ${event.by} wrote ${event.kind}`;
    return [violation('S4', job.id, sentence)];
  });
}

/** P2: the handler of a succeeded job has recorded its end under the fence of the success. */
function checkDone(all: readonly Told[], done: readonly Start[]): Violation[] {
  const names = new Set(done.map(nameOf));
  return all.flatMap(({ job }) => {
    const { id, fence } = job;
    if (!hasSucceeded(job) || names.has(nameOf({ job: id, fence }))) return [];
    return [violation('P2', id, `job ${id} succeeded, and its last handler never recorded its end`)];
  });
}

const hasSucceeded = (job: Job): boolean => job.state === 'ended' && job.fate === 'succeeded';

/** S8, S9: a run that was created in the transaction of an order exists if and only if the order does. */
function checkTogether(all: readonly Told[], orders: readonly OwnRow[]): Violation[] {
  const runs = new Set(all.map(({ job }) => job.id));
  const known = new Map(orders.map(({ key, job }) => [key, job]));
  return [
    ...orders.filter(({ job }) => !runs.has(job)).map(({ job, key }) =>
      violation('S8', job, `${key} exists, and its run ${job} does not`)),
    ...all.flatMap(({ job: { id, tags } }) => {
      const order = tags?.['order'];
      if (order === undefined || known.get(order) === id) return [];
      return [violation('S9', id, `run ${id} exists, and ${order} was rolled back`)];
    }),
  ];
}

/** P4: each succeeded transfer has one effect and one follow-up run. */
function checkEffects(all: readonly Told[], effects: readonly OwnRow[]): Violation[] {
  const followers = Map.groupBy(all, ({ job }) => Number(job.tags?.['after']));
  const effective = new Set(effects.map(({ job }) => job));
  return all.filter(({ job }) => job.type === 'transfer' && hasSucceeded(job)).flatMap(({ job: { id } }) => {
    const count = followers.get(id)?.length ?? 0;
    if (effective.has(id) && count === 1) return [];
    const effect = effective.has(id) ? 'effect' : 'no effect';
    return [violation('P4', id, `transfer ${id} took ${effect} and has ${count} followers`)];
  });
}
