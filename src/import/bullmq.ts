/**
 * Reads the waiting jobs and the job schedulers of BullMQ 5 and 6 from Redis, with the `ioredis` of the user's project.
 * The lists are read from the end that workers take from, so that new jobs do not move what has not been read.
 */
import { cronEntry } from './cron-dialect.ts';
import { openRedis, type Redis } from './redis.ts';
import type { ForeignJob, ForeignSchedule, JobFilter, LeftOut, ForeignSource } from './source.ts';
import type { ScheduleEntry } from '../time/schedule-entry.ts';

export interface BullmqOptions {
  readonly prefix?: string;
  /** The time zone of schedulers that have none. BullMQ uses that of the worker's process. */
  readonly zone?: string;
}

const pageSize = 500;

export async function openBullmq(
  url: string,
  { prefix = 'bull', zone = 'UTC' }: BullmqOptions = {},
): Promise<ForeignSource> {
  const redis = await openRedis(url);
  return {
    system: 'bullmq',
    place: `${addressOf(url)} ${prefix}`,
    jobs: (filter) => jobsIn(redis, prefix, filter),
    schedules: () => schedulesIn(redis, prefix, zone),
    close: async () => redis.disconnect(),
  };
}

/** Host, port and number of the database, without user and password. */
function addressOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || '6379'}/${pathname.slice(1) || '0'}`;
}

/** Every queue has a hash `meta`. */
async function queuesIn(redis: Redis, prefix: string): Promise<readonly string[]> {
  const queues = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${escapedPattern(prefix)}:*:meta`, 'COUNT', pageSize);
    for (const key of keys) queues.add(key.slice(prefix.length + 1, -':meta'.length));
    cursor = next;
  } while (cursor !== '0');
  return [...queues].toSorted();
}

const escapedPattern = (text: string): string => text.replace(/[*?[\]\\]/g, '\\$&');

/** Where jobs wait, in the order in which BullMQ would start them. */
const lists = ['active', 'paused', 'wait'] as const;
const sets = ['prioritized', 'delayed', 'waiting-children'] as const;
type WaitingKey = (typeof lists)[number] | (typeof sets)[number];

async function* jobsIn(
  redis: Redis,
  prefix: string,
  { queues, includesActive }: JobFilter,
): AsyncGenerator<readonly (ForeignJob | LeftOut)[]> {
  for (const queue of queues ?? (await queuesIn(redis, prefix))) {
    const line = new Line();
    for (const place of [...lists, ...sets]) {
      for await (const ids of idsIn(redis, `${prefix}:${queue}:${place}`, place)) {
        const hashes = await Promise.all(ids.map(({ id }) => redis.hgetall(`${prefix}:${queue}:${id}`)));
        yield ids.flatMap(({ id, score }, index) =>
          line.found({ queue, id, score, place, hash: hashes[index]! }, includesActive));
      }
    }
  }
}

interface FoundId {
  readonly id: string;
  readonly score: number | null;
}

async function* idsIn(redis: Redis, key: string, place: WaitingKey): AsyncGenerator<readonly FoundId[]> {
  const isList = (lists as readonly string[]).includes(place);
  for (let start = 0; ; start += pageSize) {
    const ids = isList
      ? (await redis.lrange(key, -start - pageSize, -start - 1)).toReversed().map((id) => ({ id, score: null }))
      : pairs(await redis.zrange(key, start, start + pageSize - 1, 'WITHSCORES'));
    if (ids.length > 0) yield ids;
    if (ids.length < pageSize) return;
  }
}

const pairs = (flat: readonly string[]): readonly FoundId[] =>
  Array.from({ length: flat.length / 2 }, (_, index) => ({ id: flat[2 * index]!, score: Number(flat[2 * index + 1]) }));

/** The fields of a job or a scheduler. */
type Hash = Readonly<Record<string, string>>;

export interface FoundEntry {
  readonly queue: string;
  readonly id: string;
  readonly score: number | null;
  readonly place: WaitingKey;
  readonly hash: Hash;
}

/** Delayed jobs have their due time in the upper bits of the score. */
const delayedBits = 0x1000;

/**
 * The line of a queue. Jobs that wait have no due time that says their order: a job that was added in front, or that
 * comes back after a delay, starts before older ones. Each is therefore due at the latest time of those before it.
 */
export class Line {
  readonly #latest = new Map<number, number>();

  /** Returns nothing for an id without a job: a worker has removed the job since, or an old version uses it as a marker. */
  found({ queue, id, score, place, hash }: FoundEntry, includesActive: boolean): readonly (ForeignJob | LeftOut)[] {
    if (hash['name'] === undefined) return [];
    if (place === 'active' && !includesActive) return [{ queue, leftOut: 'active' }];
    if (hash['rjk'] !== undefined) return [{ queue, leftOut: 'schedule' }];
    if (place === 'waiting-children' || hash['parentKey'] !== undefined) return [{ queue, leftOut: 'flow' }];
    const priority = -Number(hash['priority'] ?? 0);
    const key = hash['deid'];
    const { attempts = 1 } = optionsOf(hash);
    return [{
      id,
      queue,
      name: hash['name'],
      payload: JSON.parse(hash['data'] ?? '{}') as unknown,
      due: place === 'delayed' ? Math.floor(score! / delayedBits) : this.#after(priority, addedAt(hash)),
      priority,
      attemptsLeft: Math.max(1, attempts - Number(hash['atm'] ?? hash['attemptsMade'] ?? 0)),
      ...(key === undefined ? {} : { key }),
    }];
  }

  #after(priority: number, time: number): number {
    const latest = Math.max(time, this.#latest.get(priority) ?? 0);
    this.#latest.set(priority, latest);
    return latest;
  }
}

const addedAt = (hash: Hash): number => Number(hash['timestamp'] ?? 0);

const optionsOf = (hash: Hash): { readonly priority?: number; readonly attempts?: number } =>
  JSON.parse(hash['opts'] ?? '{}') as object;

async function schedulesIn(redis: Redis, prefix: string, zone: string): Promise<readonly ForeignSchedule[]> {
  const schedules: ForeignSchedule[] = [];
  for (const queue of await queuesIn(redis, prefix)) {
    const key = `${prefix}:${queue}:repeat`;
    for (const id of await redis.zrange(key, 0, -1)) {
      schedules.push(foreignSchedule(queue, id, await redis.hgetall(`${key}:${id}`), zone));
    }
  }
  return schedules;
}

/** Returns the schedule of a job scheduler. Its hash has the fields that `upsertJobScheduler` was given. */
export function foreignSchedule(queue: string, id: string, hash: Hash, zone: string): ForeignSchedule {
  const { priority, attempts } = optionsOf(hash);
  return {
    name: `${queue} ${id}`,
    queue,
    ...(hash['name'] === undefined ? {} : { jobName: hash['name'] }),
    schedule: scheduleOf(hash, zone),
    payload: JSON.parse(hash['data'] ?? '{}') as unknown,
    ...(priority === undefined ? {} : { priority: -priority }),
    ...(attempts === undefined ? {} : { attempts }),
  };
}

function scheduleOf(hash: Hash, zone: string): ScheduleEntry | string {
  const { pattern, every, tz, limit, endDate, startDate } = hash;
  if (limit !== undefined) return 'it has a limit of runs, and a definition has none';
  if (endDate !== undefined) return 'it has an end date, and a definition has none';
  if (startDate !== undefined) return 'it has a start date, and a definition has none';
  if (pattern !== undefined) return cronEntry(pattern, tz ?? zone);
  if (every !== undefined) return { every: Number(every) };
  return 'it has neither a pattern nor an interval: BullMQ before version 5 stored it in another form';
}
