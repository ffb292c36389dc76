/** The composition root: creates an engine from its options and chooses its parts. */
import { hostname } from 'node:os';
import { alertType } from './builtin/alert.ts';
import { backfillType } from './engine/backfill.ts';
import { bulkType } from './engine/bulk.ts';
import { EngineCore } from './engine/engine.ts';
import { buildOf } from './engine/declarations.ts';
import { TypeRegistry } from './engine/declare/type-registry.ts';
import { noBackupHeartbeat, type BackupHeartbeat } from './engine/loops/backup-heartbeat.ts';
import { unboundedYoungGeneration, type YoungGeneration } from './engine/loops/young-generation.ts';
import { creationHook } from './engine/declare/creation-middleware.ts';
import { checkMiddleware, type Middleware } from './engine/declare/middleware.ts';
import { aroundWork } from './engine/declare/work-middleware.ts';
import { firstMemoryId, Stores } from './engine/stores.ts';
import { TypeCatalogue } from './engine/type-catalogue.ts';
import { packagedEntry } from './engine/isolation/host/host.ts';
import { Isolation } from './engine/isolation/isolation.ts';
import type { JobAlert } from './engine/declare/alert.ts';
import type { AnyJobDef } from './engine/declare/job-def.ts';
import type { AnyJobType } from './engine/declare/job-type.ts';
import { silent, neverThrowing, textFirst, type Logger } from './logger.ts';
import { JobWatchers, type OnEnd } from './engine/attempt/job-watchers.ts';
import { Tracing } from './engine/attempt/tracing.ts';
import { instanceName, systemRandom, type Random } from './random.ts';
import { Jobs } from './jobs.ts';
import { checkFields, checkName, checkOneOf } from './jobs/checks/values.ts';
import { packagedThread, ThreadHeartbeat, type ThreadHeartbeatParts } from './open/backup-heartbeat.ts';
import { BoundedYoungGeneration } from './open/bounded-young-generation.ts';
import { entryUrls, type EngineEntries } from './open/entries.ts';
import { openStore } from './open/store.ts';
import { storeUrl } from './open/store-url.ts';
import { Refusal } from './refusal.ts';
import type { Codec } from './store/coded/codec.ts';
import { codedStore } from './store/coded/coded-store.ts';
import { MemoryStore } from './store/memory/store.ts';
import type { Store } from './store/store.ts';
import { systemClock, type Clock } from './time/clock.ts';
import { durationMs, type Duration } from './time/duration.ts';
import { version } from './version.ts';

export interface EngineOptions {
  /**
   * `sqlite:FILE`, `postgres://…`, `memory:`, or a store. Default: the URL in `STINT_DATABASE_URL`, in the file
   * that `STINT_DATABASE_URL_FILE` names, or in `DATABASE_URL`, else the SQLite file `.stint/jobs.db`.
   */
  readonly store?: string | Store;
  /** The job types that this instance can execute, in addition to those of `defs`. */
  readonly types?: readonly AnyJobType[];
  /** The definitions to declare. */
  readonly defs?: readonly AnyJobDef[];
  /** The alerts to declare, made with `jobAlert`. */
  readonly alerts?: readonly JobAlert[];
  /** Addresses and ranges that alerts may be sent to although they are not public, such as 10.0.0.0/8. Default: none. */
  readonly alertAllow?: readonly string[];
  /** How many handlers run at a time; as many again for in-memory runs. Default: 16. */
  readonly slots?: number;
  /** The time from the last heartbeat of an instance until others take over its jobs. Default: 15s; at least 1s. */
  readonly lease?: Duration;
  /**
   * How long a handler may block the event loop before the instance counts as hung and other instances take over its
   * jobs. The timeouts of attempts are enforced even while the event loop is blocked. Default: 10m.
   */
  readonly blockedMax?: Duration;
  /**
   * How long a run is kept after its end, unless its type or definition sets a retention. Default: 30d; null: without
   * limit. In-memory runs without a retention of their own are kept for at most 1h, whatever is set here.
   */
  readonly retention?: Duration | null;
  /** Receives reports of background failures. Default: none. */
  readonly logger?: Logger;
  /** For tests: a virtual clock, see `stint/testing`. */
  readonly clock?: Clock;
  /** For tests: the source of random numbers. */
  readonly random?: Random;
  /**
   * The id of this program as it is deployed, such as a commit. If several builds run at a time, the newest declares
   * the types and definitions. The newest build is the one whose first start is the latest. Default: a hash of the
   * types and definitions.
   */
  readonly build?: string;
  /**
   * For an instance of a new build: the largest share of the jobs of each type that it starts while instances without
   * `canary` execute the type, such as 0.05. It starts all jobs that no other instance can start. Default: no limit.
   */
  readonly canary?: number;
  /**
   * The effect of a tick of a definition that code declared earlier but that no living instance declares now: `tick`
   * (default) creates a run; `stop` disables the definition until an instance declares it again.
   */
  readonly undeclaredDefs?: 'tick' | 'stop';
  /**
   * Functions around the creation of runs and around the attempts of handlers; the first is the outermost. See
   * docs/guides/middleware.md.
   */
  readonly middleware?: readonly Middleware[];
  /**
   * Encodes the payloads of jobs before they are stored, and decodes them when they are read. The codec
   * `encrypt({ keys, current })` encrypts them. See docs/guides/encryption.md.
   */
  readonly codec?: Codec;
  /** For a program in a bundle: the files that the engine starts as threads and processes. */
  readonly entries?: EngineEntries;
  /** The name of this instance; no other live instance may have it. Default: a random name. */
  readonly instance?: string;
  /**
   * `bounded` (default): while the engine drains hundreds of jobs a second, V8 does not let its young generation grow beyond
   * 2 × 16 MiB and does not pretenure, in the whole process. `unbounded`: leaves V8 alone. See docs/scaling.md.
   */
  readonly youngGeneration?: 'bounded' | 'unbounded';
}

const leaseDefault: Duration = '15s';
const leaseMinMs = 1_000;
const blockedMaxDefault: Duration = '10m';
const feedRetention: Duration = '1d';
const slotsDefault = 16;
const retentionDefault: Duration = '30d';
/** The worker of the database and the worker of memory have `slots` slots each, so twice as many attempts can run. */
const attemptsFactor = 2;

export class Engine extends EngineCore {
  constructor(options: EngineOptions = {}) {
    super(partsOf(options));
  }
}

/** All option names: any other name is refused as misspelt. `satisfies` makes the compiler report a missing one. */
const optionNames = Object.keys({
  store: 0, types: 0, defs: 0, alerts: 0, alertAllow: 0, slots: 0, lease: 0, blockedMax: 0, retention: 0, logger: 0, clock: 0, random: 0, build: 0,
  canary: 0, undeclaredDefs: 0, middleware: 0, codec: 0, entries: 0, instance: 0, youngGeneration: 0,
} satisfies Record<keyof EngineOptions, 0>);

function partsOf(options: EngineOptions): ConstructorParameters<typeof EngineCore>[0] {
  const {
    store, types = [], defs = [], alerts = [], alertAllow = [], slots = slotsDefault, lease = leaseDefault, blockedMax = blockedMaxDefault,
    retention = retentionDefault,
    logger: ownLogger = silent, clock = systemClock, random = systemRandom, instance = instanceName(random), build,
    canary, undeclaredDefs = 'tick', middleware: givenMiddleware = [], codec, entries = {}, youngGeneration = 'bounded',
  } = checkFields('an engine', options, optionNames);
  const { heartbeat, isolation } = entryUrls(entries, { heartbeat: packagedThread, isolation: packagedEntry });
  checkName('instance', instance);
  const logger = neverThrowing(textFirst(ownLogger));
  const leaseMs = checkLease(durationMs(lease));
  const opened = coded(typeof store === 'object' ? store : openStore(storeUrl(store), { clock }), codec);
  const middleware = checkMiddleware(givenMiddleware);
  const creating = creationHook(middleware, (type) => catalogue.rulesInForce(type));
  const jobs = new Jobs(opened, creating);
  const memory = new Jobs(new MemoryStore(clock, firstMemoryId), creating);
  const builtIn = [bulkType(jobs), backfillType(jobs, clock), alertType(jobs, alertAllow)];
  const registry = new TypeRegistry([...types, ...builtIn], defs);
  const catalogue = new TypeCatalogue({ stores: new Stores(jobs, memory), registry, clock });
  return {
    jobs,
    memory,
    registry,
    defs,
    alerts,
    slots: checkSlots(slots),
    canary: canary === undefined ? null : checkCanary(canary),
    leaseMs,
    backupHeartbeat: backupHeartbeatFor(opened, {
      instance, leaseMs, logger, blockedMaxMs: durationMs(blockedMax), attempts: attemptsFactor * slots,
      entry: heartbeat,
    }),
    retention: { jobsMs: retention === null ? null : durationMs(retention), feedMs: durationMs(feedRetention) },
    youngGeneration: youngGenerationFor(checkOneOf('youngGeneration', youngGeneration, ['bounded', 'unbounded'])),
    isolation: new Isolation({ entry: isolation }),
    tracing: new Tracing(),
    aroundWork: aroundWork(middleware),
    hidesErrors: codec !== undefined,
    watchers: new JobWatchers(clock, endsIn(opened)),
    instance,
    host: hostname(),
    version,
    build: build === undefined ? buildOf(registry.entries, defs, registry.namedLimits) : checkName('build', build),
    boot: random.hex(8),
    undeclaredDefs: checkOneOf('undeclaredDefs', undeclaredDefs, ['tick', 'stop']),
    logger,
    clock,
    random,
  };
}

/**
 * Returns a function that registers a callback for the end of a job of the store. It registers nothing if the store
 * has no `onEnd`, or if the job is in memory.
 */
const endsIn = (store: Store): OnEnd => (id, call) =>
  (id < firstMemoryId ? store.onEnd?.(id, call) : undefined) ?? (() => {});

/**
 * Returns the heartbeat thread if another thread can open the store; if not, no backup heartbeat. A store in the memory
 * of this process needs no backup heartbeat: no other process can take over its jobs.
 */
const backupHeartbeatFor = (
  { address }: Store,
  parts: Omit<ThreadHeartbeatParts, 'address'>,
): BackupHeartbeat => (address === undefined ? noBackupHeartbeat : new ThreadHeartbeat({ ...parts, address }));

/** Returns the function that makes what each worker tells how busy it is. */
const youngGenerationFor = (wanted: 'bounded' | 'unbounded') => (): YoungGeneration =>
  (wanted === 'bounded' ? new BoundedYoungGeneration() : unboundedYoungGeneration);

/** Returns the store with the codec; without a codec, the store itself. */
function coded(store: Store, codec: Codec | undefined): Store {
  if (codec === undefined) return store;
  const { encode, decode } = checkFields('a codec', codec, ['encode', 'decode']);
  if (typeof encode === 'function' && typeof decode === 'function') return codedStore(store, codec);
  throw new Refusal('malformed.option', 'a codec must have the functions encode and decode', {});
}

function checkSlots(slots: number): number {
  if (Number.isSafeInteger(slots) && slots > 0 && slots <= 10_000) return slots;
  throw new Refusal('malformed.number', 'slots must be a whole number from 1 to 10000', { slots });
}

function checkCanary(share: number): number {
  if (typeof share === 'number' && share > 0 && share < 1) return share;
  throw new Refusal('malformed.number', 'canary must be a share above 0 and below 1, such as 0.05', { canary: share });
}

function checkLease(leaseMs: number): number {
  if (leaseMs >= leaseMinMs) return leaseMs;
  throw new Refusal('malformed.duration', 'lease must be at least 1s', { leaseMs });
}
