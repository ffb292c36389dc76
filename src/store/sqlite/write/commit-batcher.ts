/**
 * Commits that wait for the same transaction are written as one batch: sixteen single creates cost little more than a
 * bulk of sixteen. Each gets its own answer, and what makes one throw does not touch the others.
 */
import type { Batch } from '../../store.ts';
import { writeBatch } from './commit.ts';
import type { Connection } from '../connection.ts';

type WrittenFlags = readonly boolean[];

interface QueuedCommit {
  readonly batch: Batch;
  readonly resolve: (written: WrittenFlags) => void;
  readonly reject: (error: unknown) => void;
}

export class CommitBatcher {
  readonly #connection: Connection;
  readonly #now: () => number;
  #queue: QueuedCommit[] = [];

  constructor(connection: Connection, now: () => number) {
    this.#connection = connection;
    this.#now = now;
  }

  commit(batch: Batch): Promise<WrittenFlags> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ batch, resolve, reject });
      if (this.#queue.length === 1) void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    let group: readonly QueuedCommit[] | undefined;
    try {
      const answers = await this.#connection.write(() => {
        // Only now, so that whoever came in the meantime goes along; and only once, should it be tried again.
        group ??= this.#takeAll();
        return this.#writeTogether(group.map(({ batch }) => batch));
      });
      group!.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      const failed = group ?? this.#takeAll();
      if (group === undefined || group.length === 1) failed.forEach(({ reject }) => reject(error));
      else await Promise.all(failed.map((queued) => this.#commitAlone(queued)));
    }
  }

  #takeAll(): readonly QueuedCommit[] {
    const all = this.#queue;
    this.#queue = [];
    return all;
  }

  /** What must be written whole is a batch of its own; whose changes stand each for itself, share one. */
  #writeTogether(batches: readonly Batch[]): WrittenFlags[] {
    const now = this.#now();
    const shared = batches.filter(isLoose).flatMap(({ changes }) => changes);
    const written = writeBatch(this.#connection, { changes: shared }, now);
    let offset = 0;
    return batches.map((batch) =>
      isLoose(batch)
        ? written.slice(offset, (offset += batch.changes.length))
        : writeBatch(this.#connection, batch, now),
    );
  }

  async #commitAlone({ batch, resolve, reject }: QueuedCommit): Promise<void> {
    try {
      resolve(await this.#connection.write(() => writeBatch(this.#connection, batch, this.#now())));
    } catch (error) {
      reject(error);
    }
  }
}

const isLoose = ({ whole = false, staged }: Batch): boolean => !whole && staged === undefined;
