/** The rows that a claim has locked, found by the ids of their jobs. */

interface LockedRow {
  readonly id: number;
  readonly row_ctid: string;
  /** Whether the job has not changed since its creation, see `RowWithCtid`. */
  readonly is_fresh: boolean;
}

export class LockedRows {
  readonly #rows: readonly LockedRow[];
  /** The index after the row that was found last. */
  #next = 0;
  #byId: ReadonlyMap<number, LockedRow> | null = null;

  constructor(rows: readonly LockedRow[]) {
    this.#rows = rows;
  }

  ctidOf(id: number): string {
    return this.#rowOf(id).row_ctid;
  }

  isFresh(id: number): boolean {
    return this.#rowOf(id).is_fresh;
  }

  /** All rows are usually asked for in their order, from the first one: then no map is needed. */
  #rowOf(id: number): LockedRow {
    const next = this.#next < this.#rows.length ? this.#next : 0;
    if (this.#rows[next]!.id !== id) return this.#mapped.get(id)!;
    this.#next = next + 1;
    return this.#rows[next]!;
  }

  get #mapped(): ReadonlyMap<number, LockedRow> {
    this.#byId ??= new Map(this.#rows.map((row) => [row.id, row]));
    return this.#byId;
  }
}
