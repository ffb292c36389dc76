/**
 * The canary share: an instance of a new build starts at most a share of the jobs that other instances could start, too.
 * Those instances publish with their heartbeats how many attempts have ended. With a share of 5 %, this instance starts a
 * job of a type for every 19 attempts of the type that have ended elsewhere since it started.
 */
import type { Job } from '../../model/job.ts';
import { versionsOf, knowsVersion, type TypeVersions } from '../../model/type-version.ts';
import { isLive, type Instance, type Store, type TypeAttempts } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';

export interface CanaryParts {
  readonly store: Pick<Store, 'instances' | 'now'>;
  readonly clock: Clock;
  readonly instance: string;
  readonly versions: readonly TypeVersions[];
  readonly share: number;
}

/** Jobs to claim: at most `limit` of these types, of the versions that the instance knows or of `versions`. */
export interface Want {
  readonly types: readonly string[];
  readonly limit: number;
  readonly versions?: readonly TypeVersions[];
}

/** How old the counts of the other instances may be. Heartbeats are no more frequent. */
const readMs = 500;

export class CanaryShare {
  readonly #parts: CanaryParts;
  readonly #started = new Map<string, number>();
  readonly #endedElsewhere = new Map<string, number>();
  /** The counts of each other process that were added to `#endedElsewhere`, by type. */
  #added = new Map<string, Map<string, number>>();
  /** The other instances without a share that start jobs, by the types that they execute. */
  #executing: ReadonlyMap<string, readonly Instance[]> = new Map();
  #beganAt: number | null = null;
  #readAt = -Infinity;

  constructor(parts: CanaryParts) {
    this.#parts = parts;
  }

  /** Reads what the other instances have published, unless it was read just now. */
  async read(): Promise<void> {
    const { store, clock, instance } = this.#parts;
    const now = clock.monotonic();
    if (now - this.#readAt < readMs) return;
    this.#readAt = now;
    const others = (await store.instances()).filter(({ id, about }) => id !== instance && about.canary === undefined);
    this.#beganAt ??= store.now();
    this.#added = new Map(others.map((other) => [processOf(other), this.#add(other, this.#beganAt!)]));
    this.#executing = byType(others.filter((other) => startsJobs(other, store.now())));
  }

  /** Returns what this instance may claim now of the jobs that it wants. */
  narrowed({ types, limit }: Want): readonly Want[] {
    const own = types.filter((type) => !this.#executing.has(type));
    const shared = types.filter((type) => this.#executing.has(type));
    const withRoom = shared.filter((type) => this.#room(type) > 0);
    const room = Math.min(limit, ...withRoom.map((type) => this.#room(type)));
    const versions = shared.filter((type) => this.#room(type) <= 0).flatMap((type) => this.#newVersions(type));
    const wants = [
      { types: own, limit },
      { types: withRoom, limit: room },
      { types: versions.map(({ type }) => type), limit, versions },
    ];
    return wants.filter((want) => want.types.length > 0);
  }

  /** Call for the jobs that were claimed. Jobs that only this instance knows do not count. */
  noteStarted(jobs: readonly Job[]): void {
    for (const { type, typeVersion } of jobs) {
      const isShared = this.#executing.get(type)?.some(({ about }) => knowsVersion(about.versions ?? [], type, typeVersion));
      if (isShared) this.#started.set(type, (this.#started.get(type) ?? 0) + 1);
    }
  }

  #room(type: string): number {
    const { share } = this.#parts;
    const allowed = Math.floor((share / (1 - share)) * (this.#endedElsewhere.get(type) ?? 0));
    return allowed - (this.#started.get(type) ?? 0);
  }

  /** The versions of a type that are newer than those of all other instances. Nobody else starts their jobs. */
  #newVersions(type: string): readonly TypeVersions[] {
    const { from, to } = versionsOf(this.#parts.versions, type);
    const newest = Math.max(...this.#executing.get(type)!.map(({ about }) => versionsOf(about.versions ?? [], type).to));
    return to > newest ? [{ type, from: Math.max(from, newest + 1), to }] : [];
  }

  /** Adds the attempts of another process that have ended since the last reading, and returns its counts. */
  #add(other: Instance, beganAt: number): Map<string, number> {
    const added = this.#added.get(processOf(other));
    const counts = new Map(added);
    for (const attempts of other.about.attempts ?? []) {
      const { type } = attempts;
      const ended = endedOf(attempts);
      const isNew = added === undefined && other.started < beganAt;
      const before = isNew ? ended : (counts.get(type) ?? 0);
      this.#endedElsewhere.set(type, (this.#endedElsewhere.get(type) ?? 0) + ended - before);
      counts.set(type, ended);
    }
    return counts;
  }
}

/**
 * Whether an instance without a share could lead instead of this one. An instance with a share must not: nobody else could
 * start the runs with `leaderOnly`, and it would start only some of them.
 */
export async function canOthersLead(store: Pick<Store, 'instances' | 'now'>, instance: string): Promise<boolean> {
  const instances = await store.instances();
  return instances.some((other) =>
    other.id !== instance && other.about.canary === undefined && startsJobs(other, store.now()) && other.about.types.length > 0);
}

/** Whether an instance lives and claims jobs. */
const startsJobs = (instance: Instance, now: number): boolean => isLive(instance, now) && !instance.about.draining;

const byType = (instances: readonly Instance[]): ReadonlyMap<string, readonly Instance[]> => {
  const pairs = instances.flatMap((instance) => instance.about.types.map((type) => ({ type, instance })));
  const grouped = Map.groupBy(pairs, ({ type }) => type);
  return new Map(Array.from(grouped, ([type, group]) => [type, group.map(({ instance }) => instance)]));
};

const endedOf = ({ succeeded, failed }: TypeAttempts): number => succeeded + failed;

const processOf = ({ id, about: { boot } }: Instance): string => `${id} ${boot}`;
