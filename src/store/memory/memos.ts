/** The memos of the memory store. */
import type { Memo, MemoWrite } from '../store.ts';

export class MemoryMemos {
  readonly #memos = new Map<string, Memo>();

  find(prefix: string): readonly Memo[] {
    const found = [...this.#memos.values()].filter(({ name }) => name.startsWith(prefix));
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  isCurrent({ name, version }: MemoWrite): boolean {
    return (this.#memos.get(name)?.version ?? 0) === version;
  }

  write({ name, version, value }: MemoWrite): void {
    if (value === null) this.#memos.delete(name);
    else this.#memos.set(name, { name, version: version + 1, value });
  }
}
