/**
 * Gathers what is committed at the same time: a commit costs a round trip and a flush to the disk, whether it carries
 * one change or hundreds. A lone commit goes at once; those that come while others are under way go together.
 */
import type { Change } from '../../../model/change.ts';
import { isRefusal } from '../../../refusal.ts';
import { turn } from '../../../time/clock.ts';

type Commit = (changes: readonly Change[]) => Promise<readonly boolean[]>;

interface QueuedCommit {
  readonly changes: readonly Change[];
  readonly resolve: (written: readonly boolean[]) => void;
  readonly reject: (error: unknown) => void;
}

const underWayMax = 2;
const changesMax = 2000;

export class CommitBatcher {
  readonly #commit: Commit;
  readonly #queue: QueuedCommit[] = [];
  #underWay = 0;

  constructor(commit: Commit) {
    this.#commit = commit;
  }

  /** Each change by itself, as if it had been committed alone. */
  commit(changes: readonly Change[]): Promise<readonly boolean[]> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ changes, resolve, reject });
      if (this.#underWay < underWayMax) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#underWay += 1;
    await turn(); // whoever asks in this turn of the event loop comes along
    while (this.#queue.length > 0) await this.#commitGroup(this.#next());
    this.#underWay -= 1;
  }

  #next(): QueuedCommit[] {
    let size = 0;
    const end = this.#queue.findIndex(({ changes }) => (size += changes.length) > changesMax);
    return this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(1, end));
  }

  async #commitGroup(group: readonly QueuedCommit[]): Promise<void> {
    try {
      const written = await this.#commit(group.flatMap(({ changes }) => changes));
      let from = 0;
      for (const { changes, resolve } of group) resolve(written.slice(from, (from += changes.length)));
    } catch (error) {
      if (group.length === 1 || isRefusal(error)) for (const { reject } of group) reject(error);
      // One of them is to blame for all.
      else for (const { changes, resolve, reject } of group) await this.#commit(changes).then(resolve, reject);
    }
  }
}
