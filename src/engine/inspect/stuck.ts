/** Stuck jobs: jobs that do not proceed because of a fault, or because no live engine can process them. */
import type { Jobs } from '../../jobs.ts';
import { instanceCommandType } from '../declare/instance-command.ts';
import { knowsVersion } from '../../model/type-version.ts';
import { openStandings, type Tally } from '../../store/query.ts';
import { isLive, type WaitingVersion } from '../../store/store.ts';

export interface Stuck {
  /** Jobs whose lease has lapsed and that have not been repaired. */
  readonly lapsed: readonly number[];
  /** Jobs that wait for their children, although no child is open. */
  readonly unsettled: readonly number[];
  /** The types that no live instance has, each with the number of its due jobs. */
  readonly unknownTypes: ReadonlyMap<string, number>;
}

const scannedMax = 100;
const engineKinds = ['run', 'task'] as const;
const isEngineKind = ({ kind }: Tally): boolean => engineKinds.some((one) => one === kind);

/** Finds stuck jobs. `open`: the counts of open jobs with their `due` fields, if the caller has already read them. */
export async function findStuck({ store }: Jobs, open?: readonly Tally[]): Promise<Stuck> {
  const now = store.now();
  const lapsed = await store.lapsed(scannedMax);
  const unsettled = await store.settleable(scannedMax);
  const live = (await store.instances()).filter((each) => isLive(each, now));
  const known = new Set(live.flatMap(({ id, about }) => [...about.types, instanceCommandType(id)]));
  const tallies = open ?? (await store.count({ kinds: engineKinds, standings: openStandings }, now));
  const unknownTypes = new Map<string, number>();
  for (const { type, due = 0 } of tallies.filter(isEngineKind)) {
    if (due > 0 && !known.has(type)) unknownTypes.set(type, (unknownTypes.get(type) ?? 0) + due);
  }
  return { lapsed: lapsed.map(({ id }) => id), unsettled: unsettled.map(({ id }) => id), unknownTypes };
}

/** Returns the waiting jobs of types that a live instance has, in versions that none knows. */
export async function findUnknownVersions({ store }: Jobs): Promise<readonly WaitingVersion[]> {
  const now = store.now();
  const live = (await store.instances()).filter((each) => isLive(each, now));
  const types = [...new Set(live.flatMap(({ about }) => about.types))];
  const isKnown = ({ type, typeVersion }: WaitingVersion): boolean =>
    live.some(({ about }) => about.types.includes(type) && knowsVersion(about.versions ?? [], type, typeVersion));
  return (await store.waitingVersions(types)).filter((waiting) => !isKnown(waiting));
}
