/** Invariants of the ticks of a definition: each tick runs or is skipped once, in order, and none is left out. */
import { countsFromRun, specOf, type Definition, type Spec } from '../model/definition.ts';
import type { Event, TickOutcome } from '../model/event.ts';
import type { Plan, SchedulePlan } from '../model/job.ts';
import type { Schedule } from '../time/schedule.ts';
import { nextTick } from '../time/ticks.ts';
import type { JobWithHistory } from './history.ts';
import { isSame } from './same.ts';
import { violation, type Invariant, type Violation } from './violation.ts';

type TickedEvent = Extract<Event, { kind: 'ticked' }>;

export function checkTicks({ job, events }: JobWithHistory): Violation[] {
  const name = job.def ?? '';
  const found: Violation[] = [];
  const find: FindTick = (invariant, sentence) => {
    found.push(violation(invariant, job.id, `definition ${name}: ${sentence}`));
  };
  const answered = new Map<number, number>();
  let spec = events.some(isRespecified) ? null : specOfText(job.input);
  let plan: Plan | null = null;
  for (const event of events) {
    if (event.kind === 'created') plan = event.plan ?? null;
    if (event.kind === 'edited') {
      if (event.edit.input !== undefined) spec = specOfText(event.edit.input);
      plan = event.edit.plan ?? plan;
    }
    if (event.kind !== 'ticked') continue;
    countRuns(event, answered, find);
    if (spec !== null && plan !== null && event.backfill === undefined) checkChain({ event, spec, plan, name }, find);
    plan = event.plan;
  }
  if (spec !== null && plan !== null) checkNext(spec, plan, name, find);
  return found;
}

type FindTick = (invariant: Invariant, sentence: string) => void;

/**
 * Whether the event replaces the spec of the definition. The history does not contain the spec that the first such
 * event replaced, so ticks before that event are not checked against a spec.
 */
const isRespecified = (event: Event): boolean => event.kind === 'edited' && event.edit.input !== undefined;

const specOfText = (input: string): Spec => specOf(JSON.parse(input) as Definition);

/**
 * S18: a nominal time has at most one run per schedule. Only the number of its runs for all schedules together is
 * checked: a tick records the index of its schedule in `Spec.schedules`, and an edit can change that index.
 */
function countRuns({ ticks, plan }: TickedEvent, answered: Map<number, number>, find: FindTick): void {
  for (const tick of ticks) {
    if (!('run' in tick)) continue;
    const runs = (answered.get(tick.nominal) ?? 0) + 1;
    answered.set(tick.nominal, runs);
    if (runs > plan.schedules.length) find('S18', `the tick of ${time(tick.nominal)} has ${runs} runs`);
  }
}

interface TickLink {
  readonly event: TickedEvent;
  readonly spec: Spec;
  readonly plan: Plan;
  readonly name: string;
}

/**
 * S19, S22: a `ticked` event moves a schedule from its next tick to a later one. Every tick before that later one has a
 * run or a recorded skip.
 */
function checkChain({ event, spec, plan, name }: TickLink, find: FindTick): void {
  // Before an edit removes schedules, an event records their missed ticks and leaves the plan unchanged. In that plan,
  // the next tick of a removed schedule is one that the event has just recorded. `isPassedOver` would report that tick
  // as a violation, so `isPassedOver` is not called for such an event.
  const isUnmoved = isSame(plan, event.plan);
  plan.schedules.forEach((before, index) => {
    const schedule = spec.schedules[index];
    if (schedule === undefined || countsFromRun(schedule)) return;
    let expected = before.next?.nominal ?? null;
    const own = event.ticks.filter((tick) => tick.schedule === index).sort((a, b) => a.nominal - b.nominal);
    for (const tick of own) {
      const [wanted, answered] = [time(expected), time(tick.nominal)];
      if (wanted !== answered) find('S19', `the tick of ${wanted} was next, and event ${event.n} answers ${answered}`);
      expected = nextNominal(schedule, before, lastOf(tick), name);
    }
    const after = event.plan.schedules[index];
    if (after && !isUnmoved && isPassedOver(expected, before, after)) {
      find('S19', `event ${event.n} passes over the tick of ${time(expected)}`);
    }
  });
}

/** Whether the plan after the event leaves out the tick that must come next. */
function isPassedOver(expected: number | null, before: SchedulePlan, after: SchedulePlan): boolean {
  if (expected === null) return false;
  return before.activated === after.activated ? after.next?.nominal !== expected : expected <= after.activated;
}

/** S19, T1: the planned tick of a schedule is the first one after its last tick that ran or was skipped. */
function checkNext(spec: Spec, plan: Plan, name: string, find: FindTick): void {
  plan.schedules.forEach((now, index) => {
    const schedule = spec.schedules[index];
    if (schedule === undefined || countsFromRun(schedule)) return;
    const after = now.lastNominal ?? now.activated;
    const expected = nextNominal(schedule, now, after, name);
    const planned = now.next?.nominal ?? null;
    if (expected !== null && expected <= after) find('T1', `after ${time(after)} comes ${time(expected)}`);
    const next = `after ${time(after)} comes ${time(expected)}`;
    if (planned !== expected) find('S19', `${next}, and ${time(planned)} is planned`);
  });
}

function nextNominal(schedule: Schedule, plan: SchedulePlan, after: number, name: string): number | null {
  const { activated, lastNominal } = plan;
  const moments = { activated, scheduled: lastNominal ?? undefined, after: Math.max(after, activated) };
  const next = nextTick(schedule, moments, name);
  return next === null || next === 'waiting' ? null : next.nominal;
}

const lastOf = (tick: TickOutcome): number => ('to' in tick ? (tick.to ?? tick.nominal) : tick.nominal);

const time = (at: number | null): string => (at === null ? 'nothing' : new Date(at).toISOString());

/** Returns the runs that the ticks of the definition created: run id → nominal time. */
export function calledRuns({ events }: JobWithHistory): Map<number, number> {
  const outcomes = events.flatMap((event) => (event.kind === 'ticked' ? event.ticks : []));
  return new Map(outcomes.flatMap((tick) => ('run' in tick ? [[tick.run, tick.nominal] as const] : [])));
}
