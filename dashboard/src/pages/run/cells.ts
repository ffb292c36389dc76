/** The cells of a matrix: how every task of a run stands, kept small, read in pages and changed by events. */
import type { Changed, MatrixView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { standings, type Standing } from '../../state/run-words.ts';

export const letters = standings.map((standing) => standing[0]!).join('');

export interface Counts extends Readonly<Record<Standing, number>> {
  readonly total: number;
}

/** More are read only if asked for. */
export const cellsMax = 100_000;
const pageSize = 10_000;

export class Cells {
  readonly ids: number[] = [];
  /** By number in `standings`. */
  readonly states: number[] = [];
  readonly ranMs: (number | null)[] = [];
  /** Where the next page begins; null: all are here. */
  next: number | null = null;
  readonly #places = new Map<number, number>();
  readonly #begun = new Map<number, number>();

  add({ ids, standings: said, ranMs, next }: MatrixView): void {
    for (const [index, id] of ids.entries()) {
      this.#places.set(id, this.ids.length);
      this.ids.push(id);
      this.states.push(letters.indexOf(said[index]!));
      this.ranMs.push(ranMs[index]!);
    }
    this.next = next;
  }

  /** Answers which cells changed, and whether there are tasks that it does not know. */
  apply(changes: readonly Changed[], run: number): { readonly places: readonly number[]; readonly hasNew: boolean } {
    const places: number[] = [];
    let hasNew = false;
    for (const { job, parent, event } of changes) {
      if (parent !== run) continue;
      const place = this.#places.get(job);
      const state = standingAfter(event);
      if (place === undefined) hasNew = true;
      if (place === undefined || state === null || this.states[place] === state) continue;
      this.#time(place, event);
      this.states[place] = state;
      places.push(place);
    }
    return { places, hasNew };
  }

  #time(place: number, { kind, at }: Changed['event']): void {
    const begun = this.#begun.get(place);
    if (kind === 'claimed') this.#begun.set(place, at);
    else if (begun !== undefined) this.ranMs[place] = at - begun;
  }

  counts(): Counts {
    const sums = standings.map(() => 0);
    for (const state of this.states) sums[state]! += 1;
    const named = Object.fromEntries(standings.map((standing, index) => [standing, sums[index]!]));
    return { ...(named as Record<Standing, number>), total: this.ids.length };
  }

  slowest(count: number): { readonly id: number; readonly ms: number }[] {
    const timed = this.ids.flatMap((id, place) => {
      const ms = this.ranMs[place];
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

const after: Readonly<Record<string, Standing>> = {
  claimed: 'running', handedOff: 'running',
  released: 'pending', lapsed: 'pending', retried: 'pending', settled: 'pending',
  freed: 'pending', resumed: 'pending', repeated: 'pending', planned: 'held', paused: 'held', succeeded: 'succeeded',
  failed: 'failed', cancelled: 'cancelled',
};

/** The number of its standing; null: the event changes none. */
function standingAfter({ kind, data }: Changed['event']): number | null {
  const isFirst = kind === 'created' || kind === 'reopened';
  const standing = isFirst ? (data['hold'] === undefined ? 'pending' : 'held') : after[kind];
  return standing === undefined ? null : standings.indexOf(standing);
}
