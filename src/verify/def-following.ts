/**
 * S48: a definition that follows another one is in its list of followers, and the reverse. Each run of a follower that a
 * tick records belongs to that follower and follows other runs, if it was not deleted.
 */
import { followedBy, followersOf } from '../model/def-graph.ts';
import { isOpen, type Job } from '../model/job.ts';
import { definitionJobs } from '../store/definition-jobs.ts';
import type { Store } from '../store/store.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

const portion = 500;

export async function checkDefFollowing(store: Store, stored: JobWithHistory): Promise<Violation[]> {
  const wrong = [...(await linkFaults(store, stored.job)), ...(await runFaults(store, stored))];
  return wrong.map((sentence) => violation('S48', stored.job.id, `definition ${stored.job.def}: ${sentence}`));
}

async function linkFaults(store: Store, job: Job): Promise<readonly string[]> {
  if (!isOpen(job)) return [];
  const [after, followers] = [followedBy(job), followersOf(job)];
  if (after.length === 0 && followers.length === 0) return [];
  const others = await definitionJobs(store, [...new Set([...after, ...followers])]);
  const lists = (name: string, listOf: (job: Job) => readonly string[]): boolean =>
    others.has(name) && listOf(others.get(name)!).includes(job.def!);
  return [
    ...after.filter((name) => !lists(name, followersOf)).map((name) => `it follows ${name}, which does not know it`),
    ...followers.filter((name) => !lists(name, followedBy)).map((name) => `its follower ${name} does not follow it`),
  ];
}

async function runFaults(store: Store, { events }: JobWithHistory): Promise<readonly string[]> {
  const named = events.flatMap((event) => (event.kind === 'ticked' ? event.ticks : []))
    .flatMap((tick) => ('run' in tick ? (tick.followers ?? []) : []))
    .flatMap((one) => ('run' in one ? [one] : []));
  const faults: string[] = [];
  for (let from = 0; from < named.length; from += portion) {
    const some = named.slice(from, from + portion);
    const runs = new Map((await store.load(some.map(({ run }) => run))).map((run) => [run.id, run]));
    const isWrong = ({ def, run }: (typeof some)[number]): boolean =>
      runs.has(run) && (runs.get(run)!.def !== def || runs.get(run)!.follows === null);
    faults.push(...some.filter(isWrong).map(({ def, run }) => `run ${run} is not the run of its follower ${def}`));
  }
  return faults;
}
