/** The jobs and the unique keys of changes. */
import type { Change } from '../../../model/change.ts';
import { neededKey, releasedKey } from '../../../model/unique-key.ts';
import { ListedIds } from '../../listed-ids.ts';
import { idOf } from './id-of.ts';

export class Touched {
  readonly #ids = new ListedIds();
  readonly #keys = new Set<string>();

  has(change: Change): boolean {
    return this.#ids.has(idOf(change)) || this.#hasKey(releasedKey(change)) || this.#hasKey(neededKey(change));
  }

  add(change: Change): void {
    this.#ids.add(idOf(change));
    this.#addKey(releasedKey(change));
    this.#addKey(neededKey(change));
  }

  clear(): void {
    this.#ids.clear();
    this.#keys.clear();
  }

  #hasKey(key: string | null): boolean {
    return key !== null && this.#keys.has(key);
  }

  #addKey(key: string | null): void {
    if (key !== null) this.#keys.add(key);
  }
}
