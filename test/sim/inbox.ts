// The requests of the inbox: each that was written becomes one run, or is refused and stays visible, or is removed.
import { violation, type Violation } from '../../src/verify.ts';
import type { InboxRefusal, InboxTake, Store } from '../../src/store/store.ts';

/** A request as it is stored. */
export interface StoredRequest {
  readonly id: number;
  readonly isRefused: boolean;
  /** A job that has its unique key may fulfil it: it becomes no run then. */
  readonly key: string | null;
}

/** A request that was taken from the inbox. */
export interface TakenRequest extends Pick<StoredRequest, 'id' | 'key'> {
  /** How many commits came before it was first read. */
  readonly since: number;
}

type Standing = 'waiting' | 'taken' | 'refused' | 'removed';

export class InboxLedger {
  readonly #standings = new Map<number, Standing>();
  /** The requests that were read. */
  readonly #read = new Map<number, TakenRequest>();

  get waiting(): number {
    return this.#standings.values().filter((standing) => standing === 'waiting').toArray().length;
  }

  wrote(ids: readonly number[]): void {
    for (const id of ids) this.#standings.set(id, 'waiting');
  }

  /** Returns the takes of requests that did not wait. */
  took(takes: readonly InboxTake[]): readonly Violation[] {
    return takes.flatMap(({ request }) => {
      const before = this.#standings.get(request);
      this.#standings.set(request, 'taken');
      if (before === 'waiting') return [];
      return [violation('S46', null, `request ${request} was taken although it was ${before}`)];
    });
  }

  refused(refusals: readonly InboxRefusal[]): void {
    for (const { request } of refusals) {
      if (this.#standings.get(request) === 'waiting') this.#standings.set(request, 'refused');
    }
  }

  retried(id: number): void {
    if (this.#standings.get(id) === 'refused') this.#standings.set(id, 'waiting');
  }

  removed(id: number): void {
    this.#standings.set(id, 'removed');
  }

  /** Reads the whole inbox after so many commits; returns the requests that the last one took. What is refused and gone was removed. */
  read(stored: readonly StoredRequest[], commits: number): readonly TakenRequest[] {
    const visible = new Set(stored.map(({ id }) => id));
    const gone = [...this.#standings].filter(([id, standing]) => isVisible(standing) && !visible.has(id));
    for (const [id, standing] of gone) this.#standings.set(id, standing === 'waiting' ? 'taken' : 'removed');
    for (const { id, isRefused, key } of stored) {
      this.#standings.set(id, isRefused ? 'refused' : 'waiting');
      if (!this.#read.has(id)) this.#read.set(id, { id, key, since: commits });
    }
    return gone.filter(([, standing]) => standing === 'waiting').map(([id]) => this.#read.get(id)!);
  }

  /** `isKept`: whether refused requests are kept forever. */
  async check(store: Store, isKept: boolean): Promise<readonly Violation[]> {
    const stored = await store.inboxRequests({ limit: 100_000 });
    const visible = new Map(stored.map(({ id, refused }) => [id, refused === null ? 'waiting' : 'refused']));
    return [...this.#standings].flatMap(([id, standing]) => {
      const expected = isVisible(standing) ? standing : undefined;
      const isPurged = standing === 'refused' && !isKept && !visible.has(id);
      if (standing !== 'waiting' && (visible.get(id) === expected || isPurged)) return [];
      return [violation('S46', null, `request ${id} is ${standing}, and in the inbox ${visible.get(id) ?? 'missing'}`)];
    });
  }
}

const isVisible = (standing: Standing): boolean => standing === 'waiting' || standing === 'refused';
