/** A Redis client of the user's project. Stint has none of its own: only an import from BullMQ needs one. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Refusal } from '../refusal.ts';

/** The commands that an import uses; all of them only read. */
export interface Redis {
  connect(): Promise<void>;
  scan(cursor: string, match: 'MATCH', pattern: string, count: 'COUNT', size: number): Promise<[string, string[]]>;
  lrange(key: string, start: number, stop: number): Promise<string[]>;
  zrange(key: string, start: number, stop: number, ...options: 'WITHSCORES'[]): Promise<string[]>;
  /** Seconds and microseconds. */
  time(): Promise<readonly [number | string, number | string]>;
  hgetall(key: string): Promise<Record<string, string>>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  disconnect(): void;
}

type RedisClass = new (url: string, options: object) => Redis;

export async function openRedis(url: string): Promise<Redis> {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Refusal('malformed.option', '--from must be a URL such as redis://127.0.0.1:6379/0', {});
  }
  const Client = await loadClient();
  const redis = new Client(url, { lazyConnect: true, maxRetriesPerRequest: 3, retryStrategy: () => null });
  let cause = '';
  redis.on('error', (error) => (cause = error.message));
  try {
    await redis.connect();
    return redis;
  } catch (error) {
    const message = cause || (error instanceof Error ? error.message : String(error));
    throw new Refusal('unavailable.store', `cannot connect to the Redis of --from: ${message}`, {});
  }
}

/** `ioredis` is resolved from the working directory, since the user's project has it with BullMQ. */
async function loadClient(): Promise<RedisClass> {
  let file: string;
  try {
    file = createRequire(join(process.cwd(), 'package.json')).resolve('ioredis');
  } catch {
    const message =
      'an import from BullMQ needs the package ioredis: run this command in the folder of your project, ' +
      'or npm install ioredis there first';
    throw new Refusal('malformed.option', message, {});
  }
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown; readonly Redis?: unknown };
  const inner = module.default as { readonly Redis?: unknown } | undefined;
  return (module.Redis ?? inner?.Redis ?? module.default) as RedisClass;
}
