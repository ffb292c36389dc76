/** The latest runs of definitions. Implements `latestEnds` and `startedRuns` of `port/reading.ts`. */
import { isOpen, type EndedJob, type Job } from '../../model/job.ts';
import { openMax, startedMax, type LatestEnd } from '../store.ts';
import type { Records } from './records.ts';

export function latestEnds(records: Records, defs: readonly string[]): Map<string, LatestEnd> {
  const ended = runsOf(records, defs).filter((run) => !isOpen(run));
  return new Map([...Map.groupBy(ended, ({ def }) => def!)].map(([def, runs]) => [def, lastOf(runs)]));
}

function lastOf(runs: readonly EndedJob[]): LatestEnd {
  const { id, fate, endedAt } = runs.reduce((best, run) => (run.endedAt >= best.endedAt ? run : best));
  return { id, fate, endedAt };
}

export function startedRuns(records: Records, defs: readonly string[]): Map<string, readonly number[]> {
  const open = Map.groupBy(runsOf(records, defs).filter(isOpen), ({ def }) => def!);
  const started = [...open].map(([def, runs]) => [def, runs.slice(0, openMax).filter(hasStarted).slice(-startedMax)] as const);
  return new Map(started.filter(([, runs]) => runs.length > 0).map(([def, runs]) => [def, runs.map(({ id }) => id).toReversed()]));
}

const hasStarted = ({ fence, cancel }: Job): boolean => fence > 0 || cancel !== null;

/** Returns the runs of these definitions in the order of their ids. */
function runsOf(records: Records, defs: readonly string[]): Job[] {
  const wanted = new Set(defs);
  return records.byId(({ kind, def }) => kind === 'run' && def !== null && wanted.has(def));
}
