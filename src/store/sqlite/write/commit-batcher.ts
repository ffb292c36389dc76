/**
 * Commits that wait for the same transaction are written as one batch: sixteen single creates cost little more than a
 * bulk of sixteen. Each gets its own answer, and what makes one throw does not touch the others.
 */
import type { Batch } from '../../store.ts';
import { writeBatch } from './commit.ts';
import type { Connection } from '../connection.ts';

type Written = readonly boolean[];

interface Waiting {
  readonly batch: Batch;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

export class Committer {
  readonly #connection: Connection;
  readonly #now: () => number;
  #waiting: Waiting[] = [];

  constructor(connection: Connection, now: () => number) {
    this.#connection = connection;
    this.#now = now;
  }

  commit(batch: Batch): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      if (this.#waiting.length === 1) void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    let group: readonly Waiting[] | undefined;
    try {
      const answers = await this.#connection.write(() => {
        // Only now, so that whoever came in the meantime goes along; and only once, should it be tried again.
        group ??= this.#takeAll();
        return this.#writeTogether(group.map(({ batch }) => batch));
      });
      group!.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      const missed = group ?? this.#takeAll();
      if (group === undefined || group.length === 1) missed.forEach(({ reject }) => reject(error));
      else await Promise.all(missed.map((waiting) => this.#commitAlone(waiting)));
    }
  }

  #takeAll(): readonly Waiting[] {
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }

  /** What must be written whole is a batch of its own; whose changes stand each for itself, share one. */
  #writeTogether(batches: readonly Batch[]): Written[] {
    const now = this.#now();
    const shared = batches.filter(isLoose).flatMap(({ changes }) => changes);
    const written = writeBatch(this.#connection, { changes: shared }, now);
    let told = 0;
    return batches.map((batch) =>
      isLoose(batch)
        ? written.slice(told, (told += batch.changes.length))
        : writeBatch(this.#connection, batch, now),
    );
  }

  async #commitAlone({ batch, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await this.#connection.write(() => writeBatch(this.#connection, batch, this.#now())));
    } catch (error) {
      reject(error);
    }
  }
}

const isLoose = ({ whole = false, staged }: Batch): boolean => !whole && staged === undefined;
