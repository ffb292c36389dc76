// The judge of a storm: what is stored, held against what producers were told and what handlers wrote down.
import type { Engine, Event, Job } from '../../src/index.ts';
import { violationText, verify, violation, type Start, type Violation } from '../../src/verify.ts';
import type { Entry } from '../engine/processes/children/ledger.ts';
import { histories, type Told } from '../engine/processes/histories.ts';
import type { OwnRow } from './own-tables.ts';

export interface Testimony {
  readonly acknowledged: ReadonlySet<number>;
  readonly ledger: readonly Entry[];
  readonly orders: readonly OwnRow[];
  readonly effects: readonly OwnRow[];
}

export interface Judgement {
  readonly violations: readonly string[];
  readonly jobs: number;
  readonly events: number;
  readonly starts: number;
  /** Leases that ended before their holder's work did. */
  readonly lapses: number;
  /** Starts beyond the first of one and the same try, each with its cause in the history. */
  readonly repeatedStarts: number;
  /** Handlers that ended their work after it had been taken from them: their word no longer counted. */
  readonly fencedOut: number;
}

export async function judge(engine: Engine, testimony: Testimony): Promise<Judgement> {
  const { ledger, acknowledged, effects, orders } = testimony;
  const starts = claimsIn(ledger, 'start');
  const evidence = { acknowledged, starts, effects };
  const checking = verify(engine.jobs.store, { evidence, patienceMs: 0 });
  const violations: Violation[] = [];
  let next = await checking.next();
  for (; !next.done; next = await checking.next()) violations.push(next.value);
  const told = await histories(engine);
  violations.push(...told.flatMap(checkEnded), ...told.flatMap(checkHolders));
  violations.push(...checkDone(told, claimsIn(ledger, 'done')));
  violations.push(...checkTogether(told, orders), ...checkEffects(told, effects));
  const lapsed = told.flatMap(lapsedClaims);
  return {
    violations: violations.map(violationText),
    ...next.value,
    starts: starts.length,
    lapses: lapsed.length,
    repeatedStarts: starts.length - new Set(starts.map(({ job }) => job)).size,
    fencedOut: comeTooLate(lapsed, ledger),
  };
}

const claimsIn = (ledger: readonly Entry[], what: string): Start[] =>
  ledger.filter((entry) => entry.what === what).map(({ job, fence }) => ({ job: job!, fence: fence! }));

const nameOf = ({ job, fence }: Start): string => `${job} ${fence}`;

/** A claim that was lost, and when. */
type Lapse = Start & { readonly at: number };

function lapsedClaims({ job, events }: Told): Lapse[] {
  let fence = 0;
  return events.flatMap(({ kind, at }) => {
    if (kind === 'claimed') fence += 1;
    return kind === 'lapsed' ? [{ job: job.id, fence, at }] : [];
  });
}

function comeTooLate(lapses: readonly Lapse[], ledger: readonly Entry[]): number {
  const lostAt = new Map(lapses.map((lapse) => [nameOf(lapse), lapse.at]));
  const isLate = ({ what, at, job, fence }: Entry): boolean =>
    what === 'done' && at > (lostAt.get(nameOf({ job: job!, fence: fence! })) ?? Infinity);
  return ledger.filter(isLate).length;
}

function checkEnded({ job }: Told): Violation[] {
  return job.state === 'ended' ? [] : [violation('L2', job.id, `job ${job.id} is still ${job.state} after the storm`)];
}

/** What only the holder of a job can say of it; nobody finishes from outside here. */
const saidByHolder: ReadonlySet<string> = new Set<Event['kind']>(['succeeded', 'retried', 'planned', 'released']);

/** S4: nobody speaks for a job that another holds. */
function checkHolders({ job, events }: Told): Violation[] {
  let holder = '';
  return events.flatMap((event) => {
    if (event.kind === 'claimed') holder = event.holder;
    if (!saidByHolder.has(event.kind) || event.by === holder) return [];
    const sentence = `job ${job.id} was held by ${holder}, and ${event.kind} by the word of ${event.by}`;
    return [violation('S4', job.id, sentence)];
  });
}

/** P2: whoever is said to have succeeded says so itself, under the fence of the success. */
function checkDone(told: readonly Told[], done: readonly Start[]): Violation[] {
  const names = new Set(done.map(nameOf));
  return told.flatMap(({ job }) => {
    const { id, fence } = job;
    if (!hasSucceeded(job) || names.has(nameOf({ job: id, fence }))) return [];
    return [violation('P2', id, `job ${id} succeeded, and whoever held it last never said that it was done`)];
  });
}

const hasSucceeded = (job: Job): boolean => job.state === 'ended' && job.fate === 'succeeded';

/** S8, S9: a run that was created together with an order is there if and only if the order is. */
function checkTogether(told: readonly Told[], orders: readonly OwnRow[]): Violation[] {
  const runs = new Set(told.map(({ job }) => job.id));
  const known = new Map(orders.map(({ key, job }) => [key, job]));
  return [
    ...orders.filter(({ job }) => !runs.has(job)).map(({ job, key }) =>
      violation('S8', job, `${key} is there, and its run ${job} is not`)),
    ...told.flatMap(({ job: { id, tags } }) => {
      const order = tags?.['order'];
      if (order === undefined || known.get(order) === id) return [];
      return [violation('S9', id, `run ${id} is there, and ${order} was rolled back`)];
    }),
  ];
}

/** P4: each transfer that succeeded took effect, and called for what comes after it, once. */
function checkEffects(told: readonly Told[], effects: readonly OwnRow[]): Violation[] {
  const followers = Map.groupBy(told, ({ job }) => Number(job.tags?.['after']));
  const effective = new Set(effects.map(({ job }) => job));
  return told.filter(({ job }) => job.type === 'transfer' && hasSucceeded(job)).flatMap(({ job: { id } }) => {
    const count = followers.get(id)?.length ?? 0;
    if (effective.has(id) && count === 1) return [];
    const effect = effective.has(id) ? 'effect' : 'no effect';
    return [violation('P4', id, `transfer ${id} took ${effect} and has ${count} followers`)];
  });
}
