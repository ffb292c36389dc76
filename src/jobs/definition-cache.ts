/**
 * The definition cache: definitions as they were read last. A list of all definitions reads their versions, and only the
 * definitions that have changed: to read and parse 10,000 takes a quarter of a second.
 */
import { isOpen } from '../model/job.ts';
import type { Store, StoredVersion } from '../store/store.ts';
import { BoundedMap } from '../time/bounded-map.ts';
import { known, type KnownDefinition } from './define.ts';

/** How many definitions are read first: a list shows the first fifty, and asks whether there are more. */
const firstPage = 64;
const pageMax = 1_000;
/** Above this number, the definitions that were read first are read again for each list. One takes about 5 KB. */
const keptMax = 20_000;

export class DefinitionCache {
  readonly #store: Pick<Store, 'definitionVersions' | 'load'>;
  readonly #kept = new BoundedMap<number, KnownDefinition>(keptMax);

  constructor(store: Pick<Store, 'definitionVersions' | 'load'>) {
    this.#store = store;
  }

  /** Yields the definitions after an id in the order of their ids, page by page, and reads only the pages that are taken. */
  async *pages(after = 0): AsyncGenerator<readonly KnownDefinition[], void> {
    for (let last = after, size = firstPage; ; size = Math.min(2 * size, pageMax)) {
      const versions = await this.#store.definitionVersions(last, size);
      yield await this.#read(versions);
      if (versions.length < size) return;
      last = versions.at(-1)!.id;
    }
  }

  async #read(versions: readonly StoredVersion[]): Promise<readonly KnownDefinition[]> {
    const changed = versions.filter(({ id, version }) => this.#kept.get(id)?.job.version !== version).map(({ id }) => id);
    const read = new Map((changed.length === 0 ? [] : await this.#store.load(changed)).filter(isOpen).map((job) => [job.id, known(job)]));
    for (const id of changed) this.#kept.delete(id);
    for (const [id, definition] of read) this.#kept.set(id, definition);
    return versions.flatMap(({ id }) => read.get(id) ?? this.#kept.get(id) ?? []);
  }
}
