/** The maintaining part of a worker: leadership, schedules, the inbox, alerts, repair, settling, orphans and retention. */
import { forgottenEnds, forgottenFollowers } from '../../jobs/proceed.ts';
import { repairLapsed } from '../../jobs/repair.ts';
import { endOrphans, settleParents } from '../../jobs/settle.ts';
import { cancelUnstarted } from '../../jobs/start-limits.ts';
import type { TickKnowledge } from '../../jobs/tick-knowledge.ts';
import type { Jobs } from '../../jobs.ts';
import type { Store } from '../../store/store.ts';
import { Loop, type LoopParts, type Turn } from '../../time/loop.ts';
import { AlertWatch } from '../loops/alert-watch.ts';
import { canOthersLead } from '../loops/canary-share.ts';
import { Leader } from '../loops/leader.ts';
import type { InstanceLease } from '../loops/lease.ts';
import { purgeEnded, type Retention } from '../loops/retention.ts';
import { Scheduler } from '../loops/scheduler.ts';

export interface MaintainingNeeds extends LoopParts, TickKnowledge {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly retention: Retention;
  /** The largest share of the jobs that this instance starts; null: it starts what it can. */
  readonly canary: number | null;
  /**
   * Creates the runs of one page of the inbox; resolves to whether another page may follow. Absent for the worker of
   * memory, which has neither inbox nor alerts.
   */
  readonly takeInboxPage?: () => Promise<boolean>;
}

export interface MaintainingPart {
  readonly leader: Leader;
  readonly scheduling: Loop;
  /** Absent for the worker of memory. It is one of `loops`. */
  readonly alerts: Loop | undefined;
  /** Absent for the worker of memory. It is one of `loops`. */
  readonly inbox: Loop | undefined;
  /** All loops except `scheduling`. */
  readonly loops: readonly Loop[];
  /** Starts to react to new requests in the inbox; returns a function that stops it. */
  readonly listenToInbox: () => () => void;
  /** Plans the next tick of a definition whose schedule counts from the start or the end of its runs. Never rejects. */
  readonly follow: (def: number) => Promise<void>;
}

const inboxMs = 10_000;
const repairMs = 3_000;
const startLimitsMs = 10_000;
const settleMs = 10_000;
const orphansMs = 30_000;
const retentionMs = 60_000;
/** How long an instance that is not the leader waits before it reads new requests of the inbox. */
const followerWaitMs = 1_000;
/** An instance that is not the leader waits this many times as long between two rounds of maintenance. */
const followerDelayFactor = 2;

export function maintaining(parts: MaintainingNeeds, lease: InstanceLease): MaintainingPart {
  const { jobs, instance: by, retention } = parts;
  const { store } = jobs;
  const mayLead = async (): Promise<boolean> => parts.canary === null || !(await canOthersLead(store, by));
  const leader = new Leader(jobs, by, lease.durationMs, mayLead);
  const scheduler = new Scheduler({ jobs, by, knowledge: parts, isLeader: () => leader.isLeader });
  const loop = (name: string, turn: Turn): Loop => new Loop(name, parts, turn);
  const every = (ms: number, work: () => Promise<number>): Turn => async () =>
    (await work()) > 0 ? 0 : ms * (leader.isLeader ? 1 : followerDelayFactor);
  // An instance whose own lease has lapsed would repair the jobs that it is executing, so it repairs none.
  const repair = async (): Promise<number> => (lease.isSafe ? repairLapsed(store, by) : 0);
  const scheduling = loop('scheduling', () => scheduler.turn());
  const { takeInboxPage } = parts;
  const inbox = takeInboxPage && loop('inbox', every(inboxMs, async () => Number(await takeInboxPage())));
  const alertWatch = new AlertWatch(jobs, by, () => leader.isLeader);
  const alerts = takeInboxPage && loop('alerts', () => alertWatch.turn());
  const checkForAlerts = async (): Promise<number> => {
    if (alerts && (await alertWatch.hasNew())) alerts.wake();
    return 0;
  };
  const loops = [
    loop('leadership', () => leader.turn()),
    ...(inbox ? [inbox] : []),
    ...(alerts ? [alerts] : []),
    loop('repair', every(repairMs, repair)),
    loop('start limits', every(startLimitsMs, startLimits(store, by))),
    loop('settling', every(settleMs, settling(store, by, checkForAlerts))),
    loop('orphans', every(orphansMs, () => endOrphans(store, { by }))),
    loop('retention', every(retentionMs, () => purgeEnded(jobs, retention))),
  ];
  const listenToInbox = (): (() => void) => (inbox ? wakeOnRequests(parts, inbox, leader) : () => {});
  return { leader, scheduling, alerts, inbox, loops, listenToInbox, follow: (def) => follow(parts, scheduler, scheduling, def) };
}

/**
 * Wakes the loop of the inbox when it has new requests. All instances are notified of them, so those that do not lead
 * wait: usually the leader has taken the requests by then.
 */
function wakeOnRequests({ jobs, clock }: MaintainingNeeds, inbox: Loop, leader: Leader): () => void {
  let cancelTimer: (() => void) | null = null;
  const wake = (): void => {
    cancelTimer = null;
    inbox.wake();
  };
  const stopListening = jobs.store.onInbox(() => {
    if (leader.isLeader) inbox.wake();
    else cancelTimer ??= clock.after(followerWaitMs, wake);
  });
  return () => {
    stopListening();
    cancelTimer?.();
  };
}

/** Returns a function that checks one page of due runs per call, and cancels runs that were not started in time. */
function startLimits(store: Store, by: string): () => Promise<number> {
  let after: number | null = null;
  return async () => {
    const { cancelled, next } = await cancelUnstarted(store, after, { by });
    after = next;
    return cancelled;
  };
}

/**
 * Returns a function that continues parents and followers that a crash left behind, and looks for the first alert. Each
 * call makes one of the searches in turn, so that an idle engine calls its store no more often than without followers and
 * alerts.
 */
function settling(store: Store, by: string, checkForAlerts: () => Promise<number>): () => Promise<number> {
  const [closeForgotten, proceedForgotten] = [forgottenEnds(store, { by }), forgottenFollowers(store, { by })];
  const settle = (): Promise<number> => settleParents(store, { by });
  const searches = [settle, closeForgotten, settle, proceedForgotten, checkForAlerts];
  let turn = 0;
  return () => searches[turn++ % searches.length]!();
}

async function follow({ logger }: LoopParts, scheduler: Scheduler, scheduling: Loop, def: number): Promise<void> {
  try {
    await scheduler.follow([def]);
    scheduling.wake();
  } catch (error) {
    logger.warn('cannot adjust a schedule to its run now; the scheduler will do it later', { error, def });
  }
}
