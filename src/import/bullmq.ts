/**
 * Reads the waiting jobs and the job schedulers of BullMQ 5 and 6 from Redis, with the `ioredis` of the user's project.
 * The lists are read from the end that workers take from, so that new jobs do not move what has not been read.
 */
import { cronEntry } from './cron-dialect.ts';
import { openRedis, type Redis } from './redis.ts';
import type { ForeignJob, ForeignSchedule, JobFilter, LeftOut, ImportSource } from './source.ts';
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
): Promise<ImportSource> {
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

/** Every queue has a hash `meta`. The key of a scheduler or of a deduplication can end like one; no queue has a colon. */
async function queuesIn(redis: Redis, prefix: string): Promise<readonly string[]> {
  const queues = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${escapedPattern(prefix)}:*:meta`, 'COUNT', pageSize);
    for (const key of keys) queues.add(key.slice(prefix.length + 1, -':meta'.length));
    cursor = next;
  } while (cursor !== '0');
  return [...queues].filter((queue) => !queue.includes(':')).toSorted();
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
  const [seconds] = await redis.time();
  for (const queue of queues ?? (await queuesIn(redis, prefix))) {
    const line = new Line(Number(seconds) * 1_000);
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
const dueOf = (score: number | null): number => Math.floor(score! / delayedBits);

/**
 * The line of a queue. Jobs that wait have no due time that says their order: a job that was added in front, or that
 * comes back after a delay, starts before older ones. Each is therefore due at the latest time of those before it.
 */
export class Line {
  readonly #now: number;
  readonly #latest = new Map<number, number>();

  constructor(now: number) {
    this.#now = now;
  }

  /** Returns nothing for an id without a job: a worker has removed the job since, or an old version uses it as a marker. */
  found(entry: FoundEntry, includesActive: boolean): readonly (ForeignJob | LeftOut)[] {
    const { queue, id, score, place, hash } = entry;
    if (hash['name'] === undefined) return [];
    if (place === 'active' && !includesActive) return [{ queue, leftOut: 'active' }];
    if (this.#isNextOfSchedule(entry)) return [{ queue, leftOut: 'schedule' }];
    if (place === 'waiting-children' || hash['parentKey'] !== undefined) return [{ queue, leftOut: 'flow' }];
    const content = contentOf(hash);
    if (content === null) return [{ queue, leftOut: 'unreadable' }];
    const priority = -Number(hash['priority'] ?? 0);
    const key = hash['deid'];
    const { payload, options: { attempts = 1 } } = content;
    return [{
      id,
      queue,
      name: hash['name'],
      addedAt: addedAt(hash),
      payload,
      due: place === 'delayed' ? dueOf(score) : this.#after(priority, addedAt(hash)),
      priority,
      attemptsLeft: Math.max(1, attempts - attemptsMade(hash)),
      ...(key === undefined ? {} : { key }),
    }];
  }

  /** A job of a scheduler that is due, or that has failed and waits for its retry, is not created by the definition. */
  #isNextOfSchedule({ place, score, hash }: FoundEntry): boolean {
    return hash['rjk'] !== undefined && place === 'delayed' && attemptsMade(hash) === 0 && dueOf(score) > this.#now;
  }

  #after(priority: number, time: number): number {
    const latest = Math.max(time, this.#latest.get(priority) ?? 0);
    this.#latest.set(priority, latest);
    return latest;
  }
}

const addedAt = (hash: Hash): number => Number(hash['timestamp'] ?? 0);

const attemptsMade = (hash: Hash): number => Number(hash['atm'] ?? hash['attemptsMade'] ?? 0);

interface Content {
  readonly payload: unknown;
  readonly options: {
    readonly priority?: number;
    readonly attempts?: number;
    readonly repeat?: Readonly<Record<string, unknown>>;
  };
}

/** Null: another program has written something that is not JSON. */
function contentOf(hash: Hash): Content | null {
  try {
    return {
      payload: JSON.parse(hash['data'] ?? '{}') as unknown,
      options: (JSON.parse(hash['opts'] ?? '{}') ?? {}) as Content['options'],
    };
  } catch {
    return null;
  }
}

async function schedulesIn(redis: Redis, prefix: string, zone: string): Promise<readonly ForeignSchedule[]> {
  const schedules: ForeignSchedule[] = [];
  for (const queue of await queuesIn(redis, prefix)) {
    const key = `${prefix}:${queue}:repeat`;
    for (const { id, score } of pairs(await redis.zrange(key, 0, -1, 'WITHSCORES'))) {
      const hash = await redis.hgetall(`${key}:${id}`);
      const template = hasTemplate(hash) ? hash : await redis.hgetall(`${key}:${id}:${score}`);
      schedules.push(foreignSchedule(queue, id, hash, zone, template));
    }
  }
  return schedules;
}

/** A scheduler has data, if it has some, and counts its jobs. A repeatable job has its data only in its next job. */
const hasTemplate = ({ ic: count, data }: Hash): boolean => count !== undefined || data !== undefined;

/**
 * Returns the schedule of a job scheduler, whose hash has the fields that `upsertJobScheduler` was given; or of a
 * repeatable job of BullMQ 5 (`add` with `repeat`), whose next job is the template.
 */
export function foreignSchedule(queue: string, id: string, hash: Hash, zone: string, template = hash): ForeignSchedule {
  const content = contentOf(template);
  const { priority, attempts, repeat } = content?.options ?? {};
  return {
    name: `${queue} ${id}`,
    queue,
    ...(hash['name'] === undefined ? {} : { jobName: hash['name'] }),
    schedule: content === null ? 'its data or its options are not JSON'
      : template['name'] === undefined && hash['name'] !== undefined ? 'its data would be in its next job, which is not there'
      : scheduleOf({ ...repeat, ...hash }, zone),
    payload: content?.payload,
    ...(priority === undefined ? {} : { priority: -priority }),
    ...(attempts === undefined ? {} : { attempts }),
  };
}

function scheduleOf(
  { pattern, every, tz, limit, endDate, startDate }: Readonly<Record<string, unknown>>,
  zone: string,
): ScheduleEntry | string {
  if (limit !== undefined) return 'it has a limit of runs, and a definition has none';
  if (endDate !== undefined) return 'it has an end date, and a definition has none';
  if (startDate !== undefined) return 'it has a start date, and a definition has none';
  if (pattern !== undefined) return cronEntry(pattern as string, (tz as string | undefined) ?? zone);
  if (every !== undefined) return { every: Number(every) };
  return 'it has neither a pattern nor an interval: BullMQ before version 5 stored it in another form';
}
