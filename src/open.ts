/** Opens an engine: the parts it is made of, chosen once, here. */
import { hostname } from 'node:os';
import { bulkType } from './engine/bulk.ts';
import { EngineCore } from './engine/engine.ts';
import { Handlers } from './engine/declare/handlers.ts';
import { noBackupHeartbeat, type BackupHeartbeat } from './engine/loops/backup-heartbeat.ts';
import { firstMemoryId } from './engine/stores.ts';
import { Isolation } from './engine/isolation/isolation.ts';
import type { AnyJobDef } from './engine/declare/job-def.ts';
import type { AnyJobType } from './engine/declare/job-type.ts';
import { silent, unfailing, type Logger } from './logger.ts';
import { JobWatchers } from './engine/work/job-watchers.ts';
import { Tracing } from './engine/work/tracing.ts';
import { instanceName, systemRandom, type Random } from './random.ts';
import { Jobs } from './jobs.ts';
import { ThreadHeartbeat } from './open/backup-heartbeat.ts';
import { openStore, storeUrl } from './open/store.ts';
import { Refusal } from './refusal.ts';
import { MemoryStore } from './store/memory/store.ts';
import type { Store } from './store/store.ts';
import { systemClock, type Clock } from './time/clock.ts';
import { durationMs, type Duration } from './time/duration.ts';
import { version } from './version.ts';

export interface EngineOptions {
  /** `sqlite:FILE`, `postgres://…`, `memory:`, or a store. Default: the environment's, else a file in `.stint`. */
  readonly store?: string | Store;
  /** The job types whose code is here; those of `defs` need not be named again. */
  readonly types?: readonly AnyJobType[];
  /** The definitions that this code declares. */
  readonly defs?: readonly AnyJobDef[];
  /** How many handlers run at a time. Default: 16. */
  readonly slots?: number;
  /** How long an instance may be silent before others take over its jobs. Default: 15s; at least 1s. */
  readonly lease?: Duration;
  /** How long ended runs are kept when they do not say it themselves. Default: null, for ever. */
  readonly retention?: Duration | null;
  /** Hears of what goes wrong in the background. Default: nobody does. */
  readonly logger?: Logger;
  /** For tests: see `stint/testing`. */
  readonly clock?: Clock;
  /** For tests: where chance comes from. */
  readonly random?: Random;
  /** The name of this instance; it must not be that of another that lives. */
  readonly instance?: string;
}

const leaseDefault: Duration = '15s';
const leaseMinMs = 1_000;
const feedKept: Duration = '1d';
const slotsDefault = 16;

export class Engine extends EngineCore {
  constructor(options: EngineOptions = {}) {
    super(partsOf(options));
  }
}

function partsOf({
  store, types = [], defs = [], slots = slotsDefault, lease = leaseDefault, retention = null, logger: given = silent,
  clock = systemClock, random = systemRandom, instance = instanceName(random),
}: EngineOptions): ConstructorParameters<typeof EngineCore>[0] {
  const logger = unfailing(given);
  const leaseMs = checkLease(durationMs(lease));
  const url = typeof store === 'object' ? null : storeUrl(store);
  const jobs = new Jobs(typeof store === 'object' ? store : openStore(url!, { clock }));
  return {
    jobs,
    memory: new Jobs(new MemoryStore(clock, firstMemoryId)),
    handlers: new Handlers([...types, bulkType(jobs)], defs),
    defs,
    slots: checkSlots(slots),
    leaseMs,
    backupHeartbeat: url === null ? noBackupHeartbeat : heartFor(url, instance, leaseMs, logger),
    retention: { jobsMs: retention === null ? null : durationMs(retention), feedMs: durationMs(feedKept) },
    isolation: new Isolation(),
    tracing: new Tracing(),
    watchers: new JobWatchers(clock),
    instance,
    host: hostname(),
    version,
    logger,
    clock,
    random,
  };
}

/** A store inside this process needs no second heartbeat. */
const heartFor = (url: string, instance: string, leaseMs: number, logger: Logger): BackupHeartbeat =>
  url.startsWith('memory:') || url.includes(':memory:') ? noBackupHeartbeat : new ThreadHeartbeat({ url, instance, leaseMs, logger });

function checkSlots(slots: number): number {
  if (Number.isSafeInteger(slots) && slots > 0 && slots <= 10_000) return slots;
  throw new Refusal('malformed.number', 'slots must be a whole number from 1 to 10000', { slots });
}

function checkLease(leaseMs: number): number {
  if (leaseMs >= leaseMinMs) return leaseMs;
  throw new Refusal('malformed.duration', 'lease must be at least 1s', { leaseMs });
}
