/**
 * The machine: what each command does to a job in each state. It reads no clock and has no effects. A command is
 * refused in a state for which the table below has no rule.
 */
import { Refusal } from '../refusal.ts';
import { tryModifiers } from '../time/modifiers.ts';
import { applyModifiers, nextRepeat, parseModifiers, parseRepeat } from '../time/repeat.ts';
import type { Change } from './change.ts';
import type { Command, CommandName, CommandOf } from './command.ts';
import type { Event, FirstState, EventBody, Late } from './event.ts';
import { afterEnds } from './following.ts';
import { evolve, blankJob } from './evolve.ts';
import { isHandedOff, isLate } from './job.ts';
import type { JobOrigin, CancelNote, EndedJob, HeldJob, Job, JobError, OpenJob, PendingJob, RunningJob } from './job.ts';
import { backoffMs, crashesMaxOf, retryOf } from './retry.ts';
import type { State } from './state.ts';

/** The actor, the store time and the reason of a command. */
export interface Asking {
  readonly by: string;
  readonly now: number;
  readonly why?: string;
}

type JobIn<S extends State> = Extract<Job, { state: S }>;
type Verdict = readonly EventBody[] | Refusal;
type Rule<C extends CommandName, S extends State> = (job: JobIn<S>, command: CommandOf<C>, asking: Asking) => Verdict;
type Rules = { readonly [C in CommandName]: { readonly [S in State]?: Rule<C, S> } };

const rules: Rules = {
  claim: { pending: claim },
  expire: { pending: expire },
  succeed: { running: succeed },
  fail: { running: fail },
  release: { running: release },
  sleep: { running: sleep },
  answer: { pending: answer, held: answer, running: answer },
  unanswer: { running: unanswer },
  again: { running: again },
  handOff: { running: handOff },
  plan: { running: plan },
  reclaim: { pending: reclaim },
  adopt: { pending: adopt, running: adopt, held: adopt },
  settle: { held: settle },
  free: { held: free },
  follow: { pending: follow, held: follow, running: follow, ended: follow },
  proceed: { held: proceed },
  await: { held: awaitAgain },
  pause: { pending: pause },
  resume: { held: resume },
  cancel: { pending: endCancelled, held: cancelHeld, running: askToCancel },
  stop: { pending: endCancelled, held: endCancelled, running: endCancelled },
  lapse: { running: lapse },
  retry: { ended: reopen },
  requeue: { pending: postpone, held: unhold, running: takeBack, ended: requeueEnded },
  edit: { pending: edit, held: edit, running: edit, ended: edit },
};

/**
 * Returns the change that the command makes, or a refusal. A change without events means that the command had no
 * effect, for example because an earlier cancel has asked for the same.
 */
export function step(job: Job, command: Command, asking: Asking): Change | Refusal {
  const verdict = decide(job, command, asking);
  if (verdict instanceof Refusal) return verdict;
  const change = record(job, verdict, asking);
  return command.do === 'succeed' && command.result !== undefined ? withResult(change, command.result) : change;
}

/**
 * Adds the result if the job has succeeded. A job that repeats has no result yet, and a result that arrives after a
 * cancel is not stored.
 */
function withResult(change: Change & { readonly after: Job }, result: string): Change {
  const { after } = change;
  // Nobody else has the ended job yet, so it need not be copied.
  if (after.state === 'ended' && after.fate === 'succeeded') (after as { result: string | null }).result = result;
  return change;
}

/** Applies several commands in order, as one change. If one is refused, returns its refusal and no change. */
export function steps(job: Job, commands: readonly Command[], asking: Asking): Change | Refusal {
  let change: Change = { before: job, after: job, events: [] };
  for (const command of commands) {
    const next = step(change.after!, command, asking);
    if (next instanceof Refusal) return next;
    change = { before: job, after: next.after, events: [...change.events, ...next.events] };
  }
  return change;
}

export function create(origin: JobOrigin, first: FirstState, asking: Asking): Change {
  const { events, after } = record(blankJob(origin), [{ kind: 'created', ...first }], asking);
  return { before: null, after, events };
}

/** Gives each event its number, time and actor, and the reason if there is one, and applies the events to the job. */
export function record(job: Job, bodies: readonly EventBody[], asking: Asking): Change & { readonly after: Job } {
  const { by, now, why } = asking;
  const at = Math.max(job.changed, now);
  const events = eventsOf(bodies, job.version + 1, at, by, why);
  let after = job;
  for (const event of events) after = evolve(after, event);
  return { before: job, after, events };
}

interface Recorded {
  readonly bodies: readonly EventBody[];
  readonly from: number;
  readonly at: number;
  readonly by: string;
  readonly why: string | undefined;
  readonly events: readonly Event[];
}

let lastRecorded: Recorded = { bodies: [], from: 0, at: 0, by: '', why: undefined, events: [] };

/** Jobs of a batch that change in the same way get the same list, so that stores compare and write its text once. */
function eventsOf(bodies: readonly EventBody[], from: number, at: number, by: string, why?: string): readonly Event[] {
  const last = lastRecorded;
  const isSame = last.bodies === bodies && last.from === from && last.at === at && last.by === by && last.why === why;
  if (isSame) return last.events;
  const events = bodies.map((body, index): Event => {
    const n = from + index;
    return why === undefined ? { n, at, by, ...body } : { n, at, by, why, ...body };
  });
  lastRecorded = { bodies, from, at, by, why, events };
  return events;
}

/** Returns all pairs of a command and a state that the table contains, for tests and documentation. */
export const transitions = (): readonly (readonly [CommandName, State])[] =>
  Object.entries(rules).flatMap(([name, from]) => Object.keys(from).map((state) => [name as CommandName, state as State] as const));

function decide(job: Job, command: Command, asking: Asking): Verdict {
  if ('fence' in command && command.fence !== undefined && !holds(job, command.fence)) return lostLease(job, command.fence);
  const rule = rules[command.do][job.state] as Rule<CommandName, State> | undefined;
  return rule ? rule(job, command, asking) : wrongState(job, command.do);
}

const holds = (job: Job, fence: number): boolean => job.state === 'running' && job.fence === fence;

const lostLease = (job: Job, fence: number): Refusal =>
  new Refusal('lost.lease', `job ${job.id} is no longer held under fence ${fence}: stop working on it`, {
    id: job.id,
    fence,
    currentFence: job.fence,
    state: job.state,
  });

const wrongState = (job: Job, name: CommandName): Refusal =>
  new Refusal('wrong.state', `cannot ${name} job ${job.id}: it is ${standing(job)}`, { id: job.id, state: standing(job) });

const childrenWait = ({ id }: Job): Refusal =>
  new Refusal('wrong.state', `job ${id} cannot succeed yet: let its children go and wait for them`, { id, childrenWait: true });

const standing = (job: Job): string =>
  job.state === 'held' ? `held by ${job.hold}` : job.state === 'ended' ? `ended (${job.fate})` : job.state;

function claim(job: PendingJob, command: CommandOf<'claim'>, { now }: Asking): Verdict {
  if (job.due > now) return new Refusal('wrong.state', `job ${job.id} is not due yet`, { id: job.id, due: job.due });
  if (job.cancel) return [endingOf(job.cancel)];
  if (command.parentCancelled) return [{ kind: 'cancelled', code: 'parent' }];
  if (isTooLateToStart(job, now)) return [{ kind: 'cancelled', code: 'automation' }];
  if (job.crashes >= (job.policy.handOutsMax ?? Infinity)) return [{ kind: 'failed', error: poisoned(job, 'its workers') }];
  const until = job.policy.retryAfter === undefined ? command.until : handOutAgainAt(job, job.policy.retryAfter, now);
  return claimedBy(command.holder, until, command.knows);
}

type Versions = CommandOf<'claim'>['knows'];

let lastClaimed: { holder: string; until: number | null; knows: Versions; verdict: Verdict } | null = null;

/** Jobs that are claimed together usually get the same verdict, and so the same events. */
function claimedBy(holder: string, until: number | null, knows: Versions): Verdict {
  const last = lastClaimed;
  if (last !== null && last.holder === holder && last.until === until && last.knows === knows) return last.verdict;
  const verdict = [{ kind: 'claimed', holder, ...(until !== null && { until }), ...(knows !== undefined && { knows }) }] as const;
  lastClaimed = { holder, until, knows, verdict };
  return verdict;
}

/**
 * Whether the job has never been claimed and its `startBy` has passed. A job that was retried by hand may start at any
 * time.
 */
export const isTooLateToStart = ({ policy: { startBy }, startedAt, generation }: Job, now: number): boolean =>
  startBy !== undefined && now > startBy && startedAt === null && generation === 1;

function expire(job: PendingJob, _command: Command, { now }: Asking): Verdict {
  return isTooLateToStart(job, now) ? [{ kind: 'cancelled', code: 'automation' }] : wrongState(job, 'expire');
}

/**
 * Returns when the job is handed out again unless it has finished: after `retryAfter`, or at its next repeat if that is
 * earlier and has not passed.
 */
function handOutAgainAt(job: Job, retryAfter: string, now: number): number {
  const again = applyModifiers(parseModifiers(retryAfter), now);
  if (job.policy.repeat === undefined) return again;
  const { base, modifiers } = parseRepeat(job.policy.repeat);
  // A repeat rule that leads outside the years 0000 to 9999 must not make the claim fail.
  const next = tryModifiers(modifiers, base === 'scheduled' ? scheduledDue(job) : now);
  return next !== null && next > now ? Math.min(again, next) : again;
}

/** Returns when the job was due by its schedule, even if `due` has been changed since. */
const scheduledDue = ({ scheduled, due }: Job): number => scheduled ?? due;

const succeeded: Verdict = [{ kind: 'succeeded' }];

function succeed(job: RunningJob, command: CommandOf<'succeed'>, { now }: Asking): Verdict {
  if (job.phase === 'prepare') return wrongState(job, 'succeed');
  if (job.cancel) return [endingOf(job.cancel, 'succeeded')];
  if (job.hasChildrenWaiting && !command.despiteChildren) return childrenWait(job);
  if (job.policy.repeat === undefined || command.ignoreRepeat) return succeeded;
  const moments = { scheduled: scheduledDue(job), started: job.startedAt ?? now, finished: now };
  const { reanchor = false } = command;
  return [{ kind: 'repeated', due: nextRepeat(parseRepeat(job.policy.repeat), moments, { reanchor }) }];
}

function fail(job: RunningJob, command: CommandOf<'fail'>, { now }: Asking): Verdict {
  if (job.cancel) return [endingOf(job.cancel, 'failed')];
  const retry = retryOf(job.policy);
  if (!command.retryable || job.attempt >= retry.attemptsMax) return [{ kind: 'failed', error: command.error }];
  const due = command.retryAt ?? now + backoffMs(retry, job.attempt, job.id);
  return [{ kind: 'retried', error: command.error, due }];
}

function release(job: RunningJob, command: CommandOf<'release'>): Verdict {
  return [job.cancel ? endingOf(job.cancel) : { kind: 'released', due: command.due ?? scheduledDue(job) }];
}

function sleep(job: RunningJob, { name, until, seen }: CommandOf<'sleep'>, { now }: Asking): Verdict {
  if (job.cancel) return [endingOf(job.cancel)];
  if (seen !== undefined && seen !== job.version) return [{ kind: 'released', due: now }];
  return [{ kind: 'slept', name, due: until, ...(seen === undefined ? {} : { waits: true }) }];
}

function answer(job: OpenJob, { name, due }: CommandOf<'answer'>): Verdict {
  if (job.cancel) return cancelAsked(job);
  return [{ kind: 'answered', name, ...(due === undefined ? {} : { due }) }];
}

const cancelAsked = ({ id }: Job): Refusal =>
  new Refusal('wrong.state', `job ${id} was asked to cancel, and needs no answer any more`, { id });

function unanswer(_job: RunningJob, { name, cause }: CommandOf<'unanswer'>): Verdict {
  return [{ kind: 'unanswered', name, cause }];
}

function again(_job: RunningJob, command: CommandOf<'again'>): Verdict {
  return [{ kind: 'repeated', due: command.due }];
}

function handOff(_job: RunningJob, command: CommandOf<'handOff'>): Verdict {
  return [{ kind: 'handedOff', holder: command.holder, ...(command.until === null ? {} : { until: command.until }) }];
}

function reclaim(job: PendingJob, command: CommandOf<'reclaim'>): Verdict {
  return isLate(job) ? [{ kind: 'handedOff', holder: command.holder }] : wrongState(job, 'reclaim');
}

function plan(job: RunningJob, command: CommandOf<'plan'>): Verdict {
  if (job.cancel) return [endingOf(job.cancel)];
  const { tasks, details, due } = command;
  const times = due === undefined ? {} : { due, scheduled: scheduledDue(job) };
  return [{ kind: 'planned', tasks, ...(details === undefined ? {} : { details }), ...times }];
}

function adopt(job: OpenJob, command: CommandOf<'adopt'>): Verdict {
  if (job.state === 'held' && job.hold !== 'children') return wrongState(job, 'adopt');
  if (job.state === 'pending' && !isLate(job)) return wrongState(job, 'adopt');
  return [{ kind: 'adopted', tasks: command.tasks }];
}

function settle(job: HeldJob, _command: Command, { now }: Asking): Verdict {
  if (job.hold !== 'children') return wrongState(job, 'settle');
  return [job.cancel ? endingOf(job.cancel) : { kind: 'settled', due: dueAfterChildren(job, now) }];
}

/**
 * Returns when the job is due after its last child has ended. If the command `plan` has set a due time (Bedrock),
 * returns that time, or the due time that a later edit has set. A job with a repeat rule keeps a due time in the past,
 * because its next repeat may count from that time. All other jobs are due now.
 */
function dueAfterChildren({ scheduled, due, policy }: HeldJob, now: number): number {
  if (scheduled !== null) return due;
  return policy.repeat === undefined ? now : Math.min(due, now);
}

function free(job: HeldJob): Verdict {
  return job.hold === 'parent' ? [{ kind: 'freed' }] : wrongState(job, 'free');
}

function follow(_job: Job, { runs }: CommandOf<'follow'>): Verdict {
  return [{ kind: 'followed', runs }];
}

function proceed(job: HeldJob, { unsuccessful, input }: CommandOf<'proceed'>, { now }: Asking): Verdict {
  if (job.hold !== 'runs' || job.follows === null) return wrongState(job, 'proceed');
  switch (afterEnds(job.follows, unsuccessful)) {
    case 'proceed':
      return [{ kind: 'proceeded', ...postponed(job, Math.max(job.due, now)), ...(input === undefined ? {} : { input }) }];
    case 'cancel':
      return [{ kind: 'cancelled', code: 'automation' }];
    case 'wait':
      return [];
  }
}

function postponed({ due: before, policy: { startBy } }: Job, due: number): { readonly due: number; readonly startBy?: number } {
  return startBy === undefined || due === before ? { due } : { due, startBy: startBy + due - before };
}

function awaitAgain(job: HeldJob, { runs }: CommandOf<'await'>): Verdict {
  return job.hold === 'runs' ? [{ kind: 'awaited', runs }] : wrongState(job, 'await');
}

function pause(_job: PendingJob): Verdict {
  return [{ kind: 'paused' }];
}

function resume(job: HeldJob): Verdict {
  return job.hold === 'pause' ? [{ kind: 'resumed', due: job.due }] : wrongState(job, 'resume');
}

function endCancelled(_job: Job, command: CommandOf<'cancel'> | CommandOf<'stop'>): Verdict {
  return [{ kind: 'cancelled', code: command.code }];
}

function cancelHeld(job: HeldJob, command: CommandOf<'cancel'>, asking: Asking): Verdict {
  return job.hold === 'children' ? askToCancel(job, command, asking) : endCancelled(job, command);
}

/**
 * Asks the job to cancel. A second request has an effect only if it sets an earlier stop, or changes the fate from
 * failed to cancelled.
 */
function askToCancel(job: RunningJob | HeldJob, command: CommandOf<'cancel'>, asking: Asking): Verdict {
  const asked = job.cancel;
  const requestedStop = command.graceMs === undefined ? Infinity : asking.now + command.graceMs;
  const soonest = Math.min(requestedStop, asked?.stopAt ?? Infinity);
  const stopAt = soonest === Infinity ? null : soonest;
  const fate = asked?.fate === 'cancelled' ? 'cancelled' : (command.fate ?? 'cancelled');
  if (asked?.stopAt === stopAt && asked.fate === fate) return [];
  const { by, now: at, why = null } = asking;
  const note = { by, at, code: command.code, why, fate, stopAt } as const;
  return [{ kind: 'cancelAsked', note }, ...(stopAt === null ? [] : handedOffUntil(job, stopAt))];
}

/**
 * Returns the event that ends the lease of a handed-off job at `until`; no event if the lease ends earlier or the job
 * was not handed off. No instance executes a handed-off job, so no instance could stop it. After the lease has lapsed,
 * repair ends the job because of the cancel.
 */
function handedOffUntil(job: RunningJob | HeldJob, until: number): EventBody[] {
  if (job.state !== 'running' || !isHandedOff(job) || (job.lease.until ?? Infinity) <= until) return [];
  return [{ kind: 'handedOff', holder: job.lease.holder, until }];
}

/** Returns the final event of a job that was asked to cancel. `late`: the outcome that arrived after the request. */
function endingOf(note: CancelNote, late?: Late): EventBody {
  const lateOutcome = late ? { late } : {};
  if (note.fate === 'cancelled') return { kind: 'cancelled', code: note.code, ...lateOutcome };
  return { kind: 'failed', error: { code: 'automation', message: note.why ?? 'gave up because a task failed' }, ...lateOutcome };
}

function lapse(job: RunningJob, _command: Command, { now }: Asking): Verdict {
  const { holder, until } = job.lease;
  if (until !== null && until > now) return wrongState(job, 'lapse');
  if (job.cancel) return [endingOf(job.cancel)];
  if (job.crashes + 1 >= crashesMaxOf(job.policy)) return [{ kind: 'failed', error: poisoned(job, holder) }];
  return [{ kind: 'lapsed', holder, phase: job.phase, ...timesAfterCrash(job, now) }];
}

const poisoned = (job: Job, holder: string): JobError => ({
  code: 'crashed',
  message: `the lease was lost ${job.crashes + (job.state === 'running' ? 1 : 0)} times, last by ${holder} in phase ${job.phase}`,
});

/**
 * Returns when the job is due after its lease lapsed. After the first crash, it is due immediately; after each further
 * crash, when the wait of its retry policy is over. A Bedrock job with `retryAfter` is due at the time at which its
 * lease ended.
 */
function timesAfterCrash(job: RunningJob, now: number): { readonly due: number; readonly scheduled?: number } {
  if (job.policy.retryAfter !== undefined) return { due: job.lease.until ?? job.due, scheduled: scheduledDue(job) };
  if (job.crashes === 0) return { due: Math.min(job.due, now) };
  return { due: now + backoffMs(retryOf(job.policy), job.crashes, job.id) };
}

function reopen(job: EndedJob, command: CommandOf<'retry'>, { now }: Asking): Verdict {
  const hold = command.reopens > 0 ? 'children' : command.awaits !== undefined ? 'runs' : undefined;
  const { from, plansIn } = command;
  return [{
    kind: 'reopened', due: now, phase: plansIn ?? job.phase, ...(hold === undefined ? {} : { hold }),
    ...(from === undefined ? {} : { from }),
    ...(plansIn === undefined ? {} : { replans: true }),
  }];
}

function postpone(job: PendingJob, command: CommandOf<'requeue'>): Verdict {
  const isFresh = job.scheduled === null && command.crashes === undefined;
  return isFresh ? [{ kind: 'edited', edit: { due: command.due } }] : unhold(job, command);
}

function unhold(_job: PendingJob | HeldJob, { due, crashes }: CommandOf<'requeue'>): Verdict {
  return [{ kind: 'resumed', due, ...(crashes === undefined ? {} : { crashes }) }];
}

function takeBack(_job: RunningJob, { due, crashes }: CommandOf<'requeue'>): Verdict {
  return [{ kind: 'released', due, ...(crashes === undefined ? {} : { crashes }) }];
}

function requeueEnded(job: EndedJob, command: CommandOf<'requeue'>): Verdict {
  return [{ kind: 'reopened', due: command.due, phase: job.phase }];
}

function edit(_job: Job, command: CommandOf<'edit'>): Verdict {
  return [{ kind: 'edited', edit: command.edit }];
}
