/** The inbox of the memory store. */
import type { InboxCounts, InboxQuery, InboxRefusal, InboxRequest, InboxTake, NewInboxRequest } from '../store.ts';

export class MemoryInbox {
  readonly #requests = new Map<number, InboxRequest>();
  readonly #listeners = new Set<() => void>();
  #lastId = 0;

  add(request: NewInboxRequest, at: number): number {
    const id = (this.#lastId += 1);
    this.#requests.set(id, { id, at, ...request, refused: null });
    for (const call of this.#listeners) call();
    return id;
  }

  find({ standing, after = 0, limit }: InboxQuery): readonly InboxRequest[] {
    const isWanted = ({ id, refused }: InboxRequest): boolean =>
      id > after && (standing === undefined || (standing === 'waiting') === (refused === null));
    return [...this.#requests.values()].filter(isWanted).sort((a, b) => a.id - b.id).slice(0, limit);
  }

  /** Removes a waiting request if `write` writes its change; returns whether that was done. */
  take({ request, change }: InboxTake, write: (change: NonNullable<InboxTake['change']>) => boolean): boolean {
    if (this.#requests.get(request)?.refused !== null) return false;
    return (change === null || write(change)) && this.#requests.delete(request);
  }

  refuse({ request: id, code, message }: InboxRefusal, at: number): void {
    const request = this.#requests.get(id);
    if (request?.refused === null) this.#requests.set(id, { ...request, refused: { at, code, message } });
  }

  retry(id: number): InboxRequest | null {
    const request = this.#requests.get(id) ?? null;
    if (request !== null) this.#requests.set(id, { ...request, refused: null });
    for (const call of this.#listeners) call();
    return request;
  }

  remove(id: number): InboxRequest | null {
    const request = this.#requests.get(id) ?? null;
    this.#requests.delete(id);
    return request;
  }

  count(): InboxCounts {
    const waiting = this.find({ standing: 'waiting', limit: Infinity });
    return {
      waiting: waiting.length,
      refused: this.#requests.size - waiting.length,
      oldestWaitingAt: waiting[0]?.at ?? null,
    };
  }

  /** Deletes requests that were refused at this time or earlier. */
  purge(refusedUntil: number): void {
    for (const { id, refused } of this.#requests.values()) {
      if (refused !== null && refused.at <= refusedUntil) this.#requests.delete(id);
    }
  }

  listen(call: () => void): () => void {
    this.#listeners.add(call);
    return () => this.#listeners.delete(call);
  }
}
