/**
 * The port: the methods that Stint requires of a database, in ten groups. A store does not decide what happens to a
 * job. It receives finished changes, and writes each of them if the stored job still has the version that was read. No
 * caller needs a transaction across two calls, except users, for their own writes (`within`, `transact`).
 *
 * The port deliberately has no update of a job without its version or fence, no state transitions, no retries, no lease
 * or due time compared with the clock of a worker, no sessions, and no locks that outlive a call.
 */
import type { Claiming } from './port/claiming.ts';
import type { Feed } from './port/feed.ts';
import type { Edges } from './port/following.ts';
import type { Inbox } from './port/inbox.ts';
import type { Instances } from './port/instances.ts';
import type { LimitStates } from './port/limits.ts';
import type { Maintenance } from './port/maintenance.ts';
import type { Memos } from './port/memos.ts';
import type { Reading } from './port/reading.ts';
import type { Steps } from './port/steps.ts';
import type { Writing } from './port/writing.ts';

export interface Store
  extends Writing, Claiming, Reading, Feed, Edges, Inbox, Instances, LimitStates, Maintenance, Memos, Steps {
  /** The URL and options with which another thread can open the same store; absent: another thread cannot open it. */
  readonly address?: StoreAddress;
}

export interface StoreAddress {
  readonly url: string;
  /** The options of the adapter. They must be cloneable, because they are copied to the thread. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type { Batch, Note, StoreTransaction, Writer, Writing } from './port/writing.ts';
export {
  queuePositionMax, type Candidate, type ClaimDecision, type Claiming, type ClaimRequest, type DueJob, type Holding, type TypeNames,
  type WaitingVersion,
} from './port/claiming.ts';
export {
  openMax, startedMax, type Cell, type Inspection, type InspectionLimits, type LatestEnd, type LogLine,
  type NewLogLine, type Reading, type StoredVersion,
} from './port/reading.ts';
export {
  noEdges, otherEnd, type EdgeQuery, type Edges, type EdgeTally, type FlowRuns, type FlowTally, type FollowingPage,
  type ManyEdgesQuery,
} from './port/following.ts';
export type { Feed, FeedEvent, FeedPage } from './port/feed.ts';
export type {
  Inbox, InboxCounts, InboxQuery, InboxRefusal, InboxRefused, InboxRequest, InboxStanding, InboxTake, NewInboxRequest,
} from './port/inbox.ts';
export {
  instanceKeptMs, isLive, type Beat, type BeatReply, type Instance, type InstanceAbout, type Instances, type Leadership,
  type TypeAttempts,
  type TypeBatches,
} from './port/instances.ts';
export type { Bloat, Contradiction, Maintenance, Migration, Pool, PurgeOptions, StoreHealth } from './port/maintenance.ts';
export type { Memo, Memos, MemoWrite } from './port/memos.ts';
export type { Steps, WaitCursor, WaitTally } from './port/steps.ts';
export type { LimitInUseNow, LimitStates } from './port/limits.ts';
