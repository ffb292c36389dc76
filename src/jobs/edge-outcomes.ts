/** Reads the edges of many runs page by page, and how the runs to which they lead have ended by now. */
import { afterEnds, type Edge, type Following } from '../model/following.ts';
import { isOpen, type Job } from '../model/job.ts';
import type { ManyEdgesQuery, Writer } from '../store/store.ts';

const portion = 500;
const edgePage = 1000;

/** Yields the edges of followers, or the edges to runs. */
export async function* edgePages(
  store: Writer,
  end: ManyEdgesQuery['end'],
  runs: Iterable<number>,
): AsyncGenerator<readonly Edge[], void> {
  const sorted = [...new Set(runs)].sort((a, b) => a - b);
  for (let from = 0; from < sorted.length; from += portion) {
    const ids = sorted.slice(from, from + portion);
    for (let after: Edge | undefined; ; ) {
      const page = await store.edgesOfMany({ end, ids, limit: edgePage, ...(after === undefined ? {} : { after }) });
      yield page;
      if (page.length < edgePage) break;
      after = page.at(-1)!;
    }
  }
}

/** What the edges of a follower would say if they were written now. */
export interface Outcomes {
  /** The runs that are open. */
  readonly open: readonly number[];
  /** The runs that failed or were cancelled. */
  readonly unsuccessful: readonly number[];
  /** The edges that say something else. */
  readonly stale: readonly Edge[];
}

interface OutcomesSoFar {
  readonly open: number[];
  readonly unsuccessful: number[];
  readonly stale: Edge[];
}

/** Reads for each follower how its runs have ended by now. The runs in `reopened` count as open. */
export async function outcomesNow(
  store: Writer,
  followers: Iterable<number>,
  reopened: Pick<ReadonlySet<number>, 'has'>,
): Promise<ReadonlyMap<number, Outcomes>> {
  const outcomes = new Map<number, OutcomesSoFar>();
  for (const follower of followers) outcomes.set(follower, { open: [], unsuccessful: [], stale: [] });
  for await (const page of edgePages(store, 'follower', outcomes.keys())) {
    const followed = page.map((edge) => edge.followed).filter((id) => !reopened.has(id));
    const runs = new Map((await store.load([...new Set(followed)])).map((run) => [run.id, run]));
    for (const edge of page) {
      const current = reopened.has(edge.followed) ? openAgain(edge) : edgeNow(edge, runs.get(edge.followed));
      addOutcome(outcomes.get(edge.follower)!, edge, current);
    }
  }
  return outcomes;
}

export const openAgain = (edge: Edge): Edge => ({ ...edge, outcome: null, result: null });

/** The edge to a run that was deleted keeps what it says. */
function edgeNow(edge: Edge, run: Job | undefined): Edge {
  if (run === undefined) return edge;
  return isOpen(run) ? openAgain(edge) : { ...edge, outcome: run.fate };
}

function addOutcome(outcomes: OutcomesSoFar, before: Edge, current: Edge): void {
  if (current.outcome === null) outcomes.open.push(current.followed);
  else if (current.outcome !== 'succeeded') outcomes.unsuccessful.push(current.followed);
  if (current.outcome !== before.outcome) outcomes.stale.push(current);
}

/** Whether a follower would be cancelled because of these outcomes. */
export const wouldCancel = (follows: Following | null, { open, unsuccessful }: Outcomes): boolean =>
  follows !== null && open.length === 0 && afterEnds(follows, unsuccessful.length) === 'cancel';
