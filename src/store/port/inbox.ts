/**
 * The inbox: requests for new runs that programs have written in SQL. An instance turns each request into a run and
 * removes it in the same commit, or refuses it; a refused request stays until it is retried, removed or too old.
 */
import type { Change } from '../../model/change.ts';

export interface Inbox {
  /** Adds requests as a program in SQL does; returns their ids, in the order of the requests. */
  enqueue(requests: readonly NewInboxRequest[]): Promise<readonly number[]>;

  /** Returns requests in the order of their ids. */
  inboxRequests(query: InboxQuery): Promise<readonly InboxRequest[]>;

  /**
   * Removes requests, and writes the change of each in the same commit; returns for each whether that was done. It is
   * not done if the request is gone, refused or being taken by another process, or if `commit` would not write the
   * change. Each request is independent of the others.
   */
  takeFromInbox(takes: readonly InboxTake[]): Promise<readonly boolean[]>;

  /** Marks waiting requests as refused. Requests that are gone or already refused stay as they are. */
  refuseInInbox(refusals: readonly InboxRefusal[]): Promise<void>;

  /** Makes a refused request wait again, and returns it as it was before; null: there is no request with this id. */
  retryInInbox(id: number): Promise<InboxRequest | null>;

  /** Deletes a request without a run, and returns it; null: there is no request with this id. */
  removeFromInbox(id: number): Promise<InboxRequest | null>;

  countInbox(): Promise<InboxCounts>;

  /**
   * Registers a function to call when the inbox may have new requests; returns a function that removes it. A call may
   * come early, late, repeatedly or not at all.
   */
  onInbox(call: () => void): () => void;
}

/** A request as a program writes it. */
export interface NewInboxRequest {
  readonly type: string;
  /** The input of the run as JSON text; null: no input. */
  readonly input: string | null;
  /** The options of `createJobRun` without `input`, as JSON text. */
  readonly options: string;
}

export interface InboxRequest extends NewInboxRequest {
  readonly id: number;
  /** When it was written, by the clock of the database. */
  readonly at: number;
  /** Null: the request is waiting. */
  readonly refused: InboxRefused | null;
}

export interface InboxRefused {
  readonly at: number;
  /** The code of a refusal. */
  readonly code: string;
  readonly message: string;
}

export interface InboxQuery {
  /** Only waiting requests or only refused ones; absent: both. */
  readonly standing?: InboxStanding | undefined;
  /** Only requests with higher ids. */
  readonly after?: number | undefined;
  readonly limit: number;
}

export type InboxStanding = 'waiting' | 'refused';

export interface InboxTake {
  readonly request: number;
  /** Null: the request is removed without a change, because the job that has its unique key fulfils it. */
  readonly change: Change | null;
}

export interface InboxRefusal {
  readonly request: number;
  readonly code: string;
  readonly message: string;
}

export interface InboxCounts {
  readonly waiting: number;
  readonly refused: number;
  /** When the oldest waiting request was written; null: none is waiting. */
  readonly oldestWaitingAt: number | null;
}
