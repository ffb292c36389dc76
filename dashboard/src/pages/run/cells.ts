/** The cells of the task matrix: the standing of every task of a run, read in pages and changed by events. */
import type { Changed, MatrixView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { standings, type Standing } from '../../state/run-status.ts';

export const letters = standings.map((standing) => standing[0]!).join('');

export interface CellCounts extends Readonly<Record<Standing, number>> {
  readonly total: number;
}

/** How many tasks are read at first. More are read only if the user requests them. */
export const cellsMax = 100_000;
const pageSize = 10_000;

export class Cells {
  readonly ids: number[] = [];
  /** The standing of each task, as an index into `standings`. */
  readonly states: number[] = [];
  readonly ranMs: (number | null)[] = [];
  /** The key of the next page; null: all pages are read. */
  next: number | null = null;
  /** The index of each task, by its id. */
  readonly #indexes = new Map<number, number>();
  /** The time at which a task was claimed, by its index. */
  readonly #claimedAt = new Map<number, number>();

  add({ ids, standings: initials, ranMs, next }: MatrixView): void {
    for (const [index, id] of ids.entries()) {
      this.#indexes.set(id, this.ids.length);
      this.ids.push(id);
      this.states.push(letters.indexOf(initials[index]!));
      this.ranMs.push(ranMs[index]!);
    }
    this.next = next;
  }

  /**
   * Applies events to the cells; returns the indexes of the changed cells, and whether there are tasks without a cell.
   */
  apply(changes: readonly Changed[], run: number): { readonly changed: readonly number[]; readonly hasNew: boolean } {
    const changed: number[] = [];
    let hasNew = false;
    for (const { job, parent, event } of changes) {
      if (parent !== run) continue;
      const index = this.#indexes.get(job);
      const state = standingAfter(event);
      if (index === undefined) hasNew = true;
      if (index === undefined || state === null || this.states[index] === state) continue;
      this.#time(index, event);
      this.states[index] = state;
      changed.push(index);
    }
    return { changed, hasNew };
  }

  #time(index: number, { kind, at }: Changed['event']): void {
    const claimedAt = this.#claimedAt.get(index);
    if (kind === 'claimed') this.#claimedAt.set(index, at);
    else if (claimedAt !== undefined) this.ranMs[index] = at - claimedAt;
  }

  counts(): CellCounts {
    const sums = standings.map(() => 0);
    for (const state of this.states) sums[state]! += 1;
    const named = Object.fromEntries(standings.map((standing, index) => [standing, sums[index]!]));
    return { ...(named as Record<Standing, number>), total: this.ids.length };
  }

  slowest(count: number): { readonly id: number; readonly ms: number }[] {
    const timed = this.ids.flatMap((id, index) => {
      const ms = this.ranMs[index];
      return ms == null ? [] : [{ id, ms }];
    });
    return timed.sort((a, b) => b.ms - a.ms).slice(0, count);
  }
}

export async function readCells(run: number, signal: AbortSignal, max = cellsMax): Promise<Cells> {
  const cells = new Cells();
  do {
    const after = cells.next === null ? {} : { after: cells.next };
    cells.add(await call('getMatrix', { params: { id: run }, query: { limit: pageSize, ...after } }, signal));
  } while (cells.next !== null && cells.ids.length < max);
  return cells;
}

const standingAfterEvent: Readonly<Record<string, Standing>> = {
  claimed: 'running', handedOff: 'running',
  released: 'pending', slept: 'pending', lapsed: 'pending', retried: 'pending', settled: 'pending',
  freed: 'pending', resumed: 'pending', repeated: 'pending', planned: 'held', paused: 'held', succeeded: 'succeeded',
  failed: 'failed', cancelled: 'cancelled',
};

/** Returns the index of a task's standing after an event; null: the event does not change the standing. */
function standingAfter({ kind, data }: Changed['event']): number | null {
  const isFirst = kind === 'created' || kind === 'reopened';
  const standing = isFirst ? (data['hold'] === undefined ? 'pending' : 'held') : standingAfterEvent[kind];
  return standing === undefined ? null : standings.indexOf(standing);
}
