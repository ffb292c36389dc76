/**
 * The contract: every route with its role, and the shape of what goes in and comes out. Server, client, OpenAPI
 * document and dashboard take their types from here and from nowhere else. Times are milliseconds since 1970 by the
 * store's clock; where one is asked for, ISO 8601 with a zone will do too.
 */
import { z } from 'zod';

export const apiPath = '/api/v1';

/** What a caller may do. An operator is also a viewer and a producer; an admin is everything. */
export const roles = ['viewer', 'producer', 'worker', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

export const standingWords = ['pending', 'held', 'running', 'succeeded', 'failed', 'cancelled'] as const;
const stateWords = ['pending', 'held', 'running', 'ended'] as const;
const kindWords = ['run', 'task', 'bedrock', 'mock', 'def', 'audit'] as const;
const runStateWords = ['PENDING', 'RUNNING', 'DONE', 'CANCELLING', 'CANCELLED'] as const;
const bedrockWords = ['QUEUED', 'RUNNING', 'RUNQUEUED', 'PAUSED', 'FINISHED', 'FAILED', 'CANCELLED'] as const;
const statusWords = ['SCHEDULED', 'RUNNING', 'DISABLED', 'COMPLETED', 'STOPPED', 'FAILED', 'NOT_STARTED'] as const;
const scheduledWords = ['creating', 'pending', 'starting', 'started', 'completed', 'failed', 'cancelled'] as const;
const progressWords = ['RUNNING', 'SUCCESS', 'ERROR', 'CANCELLED'] as const;
const errorWords = [
  'unknown', 'crashed', 'automation', 'timed out', 'missing output', 'not permitted', 'could not start',
] as const;
const levelWords = ['debug', 'info', 'warn', 'error'] as const;
const phaseWords = ['prepare', 'run', 'gather'] as const;
export const bulkActions = ['cancel', 'stop', 'retry', 'delete', 'pause', 'resume'] as const;

// The parts that asks are made of.

/** In a query string, several values are one text with commas between them. */
const listOf = <S extends z.ZodType>(item: S) =>
  z.preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(item).max(1000));
/** In a query string a name may stand once or several times. */
const repeated = <S extends z.ZodType>(item: S) =>
  z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item).max(100));
const flag = z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean());
const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const time = z.union([z.number(), z.string().max(64)]).meta({ description: 'milliseconds since 1970, or ISO 8601' });
const duration = z
  .union([z.number(), z.string().max(64)])
  .meta({ description: 'milliseconds, or such as 30s or 1h30m' });
const name = z.string().min(1).max(255);
const tags = z.record(z.string(), z.string());
const fence = z.number().int().min(1);
const why = z.string().min(1).max(1000);

const RunParams = z.strictObject({ id: whole(1, Number.MAX_SAFE_INTEGER) });
const DefParams = z.strictObject({ name });
const InstanceParams = z.strictObject({ id: name });

export const RunFilter = z
  .strictObject({
    state: listOf(z.enum([...standingWords, 'open', 'ended'])).optional(),
    type: listOf(name).optional().meta({ description: 'names, or one GLOB pattern such as mail*' }),
    def: name.optional(),
    kind: listOf(z.enum(kindWords)).optional().meta({ description: 'default: run, bedrock' }),
    parent: whole(1, Number.MAX_SAFE_INTEGER).optional(),
    tag: repeated(z.string().max(600)).optional().meta({ description: 'name:value; several must all fit' }),
    from: time.optional().meta({ description: 'created at or after' }),
    before: time.optional().meta({ description: 'created before' }),
    dueBefore: time.optional(),
    error: z.string().min(1).max(1000).optional().meta({ description: "a part of the newest error's message" }),
    payload: z.string().min(1).max(2000).optional().meta({ description: 'path:value, such as customer.id:42' }),
    q: z.string().min(1).max(1000).optional().meta({ description: 'a part of type, definition, key, error or tag' }),
  })
  .meta({ id: 'RunFilter' });
export type RunFilter = z.infer<typeof RunFilter>;

const pageFields = {
  after: whole(1, Number.MAX_SAFE_INTEGER).optional().meta({ description: 'the `next` of the page before' }),
  limit: whole(1, 1000).optional(),
  order: z.enum(['newest', 'oldest']).optional(),
};

const RunListQuery = RunFilter.extend({
  ...pageFields,
  with: listOf(z.enum(['progress'])).optional().meta({ description: 'progress: outline and task counts of open runs' }),
  inMemory: flag.optional().meta({ description: 'the runs that live in this process alone' }),
}).meta({ id: 'RunListQuery' });

const Unique = z.union([
  z.string().min(1).max(512),
  z.strictObject({
    key: z.string().min(1).max(512), onTaken: z.enum(['keep', 'update']).optional(), for: duration.optional(),
  }),
]);

const runAskFields = {
  input: z.unknown().optional(),
  dueTime: time.optional(),
  delay: duration.optional(),
  startBy: duration.optional(),
  priority: z.number().int().optional(),
  unique: Unique.optional(),
  tags: tags.optional(),
};

export const RunAsk = z
  .strictObject({ type: name.optional(), def: name.optional(), ...runAskFields })
  .refine(({ type, def }) => (type === undefined) !== (def === undefined), 'name either a type or a def')
  .meta({ id: 'RunAsk' });
const DefRunAsk = z.strictObject(runAskFields).meta({ id: 'DefRunAsk' });
const Act = z.strictObject({ why: why.optional() }).meta({ id: 'Act' });
const CancelAsk = z.strictObject({ why: why.optional(), grace: duration.optional() }).meta({ id: 'CancelAsk' });
const RetryAsk = z.strictObject({ why: why.optional(), only: z.literal('failed').optional() }).meta({ id: 'RetryAsk' });
const RunEdit = z
  .strictObject({
    priority: z.number().int().optional(), dueTime: time.optional(), tags: tags.nullable().optional(),
    why: why.optional(),
  })
  .meta({ id: 'RunEdit' });

const scheduleText = z.string().min(1).max(1000);
export const ScheduleAsk = z
  .union([
    z.strictObject({
      cron: scheduleText,
      zone: z.string().optional(),
      gap: z.enum(['next', 'shift', 'skip']).optional(),
      overlap: z.enum(['first', 'last', 'both']).optional(),
      spread: duration.optional(),
    }),
    z.strictObject({
      every: duration,
      from: z.enum(['scheduled', 'started', 'finished']).optional(),
      spread: duration.optional(),
    }),
    z.strictObject({ repeat: scheduleText }),
    z.strictObject({ at: time }),
    z.looseObject({
      kind: z.enum(['cron', 'every', 'repeat', 'at']) }).meta({ description: 'as a definition tells it',
    }),
  ])
  .meta({ id: 'ScheduleAsk' });
export type ScheduleAsk = z.infer<typeof ScheduleAsk>;

const Misfire = z.strictObject({
  policy: z.enum(['skip', 'once', 'all']),
  windowMs: z.number().int(),
  cap: z.number().int(),
  graceMs: z.number().int().optional(),
});
const Overlap = z.enum(['allow', 'skip', 'queue', 'replace']);
const Retry = z.strictObject({
  attempts: z.number().int().optional(),
  backoff: z.enum(['fixed', 'linear', 'exponential']).optional(),
  base: duration.optional(),
  max: duration.optional(),
  jitter: z.number().optional(),
  crashes: z.number().int().optional(),
});

const DefCreation = z
  .strictObject({
    name,
    type: name,
    params: z.unknown().optional(),
    schedules: z.array(ScheduleAsk).max(100).optional(),
    overlap: Overlap.optional(),
    misfire: z.enum(['skip', 'once', 'all']).optional(),
    concurrency: z.number().int().min(1).optional(),
    enabled: z.boolean().optional(),
    manualRuns: z.boolean().optional(),
    leaderOnly: z.boolean().optional(),
    onePerType: z.boolean().optional(),
    priority: z.number().int().optional(),
    timeout: duration.optional(),
    retention: duration.optional(),
    retry: Retry.optional(),
    tags: tags.optional(),
  })
  .meta({ id: 'DefCreation' });

/** An operator's word: what is left out stays the code's. */
const DefOverride = z
  .strictObject({
    params: z.unknown().optional(),
    schedules: z.array(ScheduleAsk).max(100).optional(),
    policy: z.record(z.string(), z.unknown()).optional(),
    priority: z.number().int().optional(),
    overlap: Overlap.optional(),
    misfire: Misfire.optional(),
    onePerType: z.boolean().optional(),
    manualRuns: z.boolean().optional(),
    tags: tags.nullable().optional(),
    gate: z.strictObject({
      typeMax: z.number().int().optional(), defMax: z.number().int().optional(),
    }).nullable().optional(),
    limitKey: z.string().nullable().optional(),
    why: why.optional(),
  })
  .meta({ id: 'DefOverride' });

const BulkAsk = z
  .strictObject({
    action: z.enum(bulkActions),
    filter: RunFilter,
    dryRun: z.boolean().optional(),
    only: z.literal('failed').optional().meta({ description: 'of runs with tasks, retry only those that failed' }),
    fingerprint: z.string().regex(/^[0-9a-f]{16}$/).optional()
      .meta({ description: 'only failures of this group; of tasks, the runs they belong to are retried' }),
    why: why.optional(),
  })
  .meta({ id: 'BulkAsk' });

// What comes out.

const count = z.number().int();
const instant = z.number().meta({ description: 'milliseconds since 1970' });

export const JobErrorView = z
  .object({ code: z.enum(errorWords), message: z.string(), data: z.unknown().optional(), stack: z.string().optional() })
  .meta({ id: 'JobError' });

export const TaskCounts = z
  .object({ total: count, succeeded: count, failed: count, cancelled: count })
  .meta({ id: 'TaskCounts' });

export const ProgressOutline = z
  .object({
    status: z.enum(progressWords).nullable(),
    process: z.string().nullable(),
    stage: z
      .object({
        description: z.string().nullable(),
        status: z.enum(progressWords),
        total: count.nullable(),
        settled: count,
        done: count,
        failed: count,
        skipped: count,
        running: count,
        startedAt: instant,
        until: instant,
      })
      .nullable(),
    stages: count,
    percent: z.number().nullable(),
    working: z.array(z.string()),
  })
  .meta({ id: 'ProgressOutline' });

const node = {
  status: z.enum(progressWords),
  description: z.string().nullable(),
  summary: z.string().nullable(),
  error: z.string().nullable(),
  startedAt: instant,
  completedAt: instant.nullable(),
};
const failurePolicy = z.enum(['FAIL', 'SKIP_STAGE', 'SKIP_ITEM', 'SKIP_ITEM_OUTLIER']);
export const ProgressView = z
  .object({
    processes: z.array(
      z.object({
        ...node,
        cancelledAt: instant.nullable(),
        stagesDropped: count,
        stages: z.array(
          z.object({
            ...node,
            total: count.nullable(),
            policy: failurePolicy,
            done: count,
            failed: count,
            skipped: count,
            started: count,
            items: z.array(z.object({
              ...node, item: z.union([z.string(), z.number()]).nullable(), policy: failurePolicy,
            })),
          }),
        ),
      }),
    ),
    processesDropped: count,
    cancelledAt: instant.nullable(),
    aborted: z.boolean(),
    cause: z.string().nullable(),
    skipStage: z.boolean(),
    updatedAt: instant.nullable(),
  })
  .meta({ id: 'Progress' });
export type ProgressView = z.infer<typeof ProgressView>;

export const RunView = z
  .object({
    id: z.number().int(),
    kind: z.enum(kindWords),
    type: z.string(),
    def: z.string().nullable(),
    parent: z.number().int().nullable(),
    key: z.string().nullable(),
    inMemory: z.boolean(),
    state: z.enum(stateWords),
    standing: z.enum(standingWords).meta({ description: 'the state, with ended told by its fate' }),
    hold: z.enum(['pause', 'parent', 'children']).nullable(),
    phase: z.enum(phaseWords),
    words: z
      .object({
        runState: z.enum(runStateWords),
        bedrock: z.enum(bedrockWords),
        stage: z.enum(['create', 'queue', 'run', 'done']),
        fate: z.enum(['complete', 'error', 'terminate']).nullable(),
        status: z.enum(statusWords),
        scheduled: z.enum(scheduledWords),
      })
      .meta({ description: 'the same in the words of each vocabulary' }),
    priority: z.number().int(),
    attempt: count,
    crashes: count,
    generation: count,
    fence: count,
    lease: z.object({ holder: z.string(), until: instant.nullable(), doing: z.string() }).nullable(),
    cancel: z
      .object({ by: z.string(), at: instant, code: z.string(), why: z.string().nullable(), stopAt: instant.nullable() })
      .nullable(),
    error: JobErrorView.pick({ code: true, message: true }).nullable(),
    tick: z.object({ schedule: count, nominal: instant }).nullable(),
    tags,
    version: count,
    createdAt: instant,
    dueAt: instant,
    startedAt: instant.nullable(),
    endedAt: instant.nullable(),
    changedAt: instant,
    tasks: TaskCounts.nullable().meta({ description: 'null: not asked for, or it has none' }),
    progress: ProgressOutline.nullable(),
  })
  .meta({ id: 'Run' });
export type RunView = z.infer<typeof RunView>;

export const AttemptView = z
  .object({
    start: instant,
    end: instant.nullable(),
    worker: z.string().nullable(),
    phase: z.enum(phaseWords),
    error: JobErrorView.nullable(),
    endedBy: z.string().nullable(),
  })
  .meta({ id: 'Attempt' });

export const RunDetail = RunView.extend({
  error: JobErrorView.nullable(),
  input: z.unknown(),
  result: z.unknown(),
  details: z.unknown(),
  policy: z.record(z.string(), z.unknown()),
  attempts: z.array(AttemptView).meta({ description: 'newest first, at most 100' }),
}).meta({ id: 'RunDetail' });
export type RunDetail = z.infer<typeof RunDetail>;

const nextSays = 'what to pass as `after`; null: this was the last page. A page before it may be short, even empty';

const pageOf = <S extends z.ZodType>(id: string, item: S) =>
  z.object({ items: z.array(item), next: z.number().int().nullable().meta({ description: nextSays }) }).meta({ id });

export const RunPage = pageOf('RunPage', RunView);
export type RunPage = z.infer<typeof RunPage>;

export const RunCreated = z
  .object({
    run: RunView.nullable().meta({ description: 'null: it had been deleted, and its key is taken for a while' }),
    id: z.number().int(),
    outcome: z.enum(['created', 'existing', 'updated']),
    warning: z.string().nullable(),
  })
  .meta({ id: 'RunCreated' });

export const EventView = z
  .object({
    n: count,
    at: instant,
    by: z.string(),
    why: z.string().nullable(),
    kind: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event' });
export type EventView = z.infer<typeof EventView>;

/** One event of the stream. */
export const Changed = z
  .object({
    job: z.number().int(),
    kind: z.enum(kindWords),
    type: z.string(),
    parent: z.number().int().nullable(),
    event: EventView,
  })
  .meta({ id: 'Changed' });
export type Changed = z.infer<typeof Changed>;

export const LogLine = z
  .object({ n: count, at: instant, level: z.enum(levelWords), text: z.string() })
  .meta({ id: 'LogLine' });
export type LogLine = z.infer<typeof LogLine>;

const RunStats = z
  .object({
    tasksByState: z.object({ PENDING: count, RUNNING: count, DONE: count, CANCELLED: count }),
    tasksTotal: count,
    tasksSucceeded: count,
    tasksFailed: count,
    percentDone: z.number(),
    percentSuccess: z.number().nullable(),
    totalMs: z.number().nullable(),
    prepareMs: z.number().nullable(),
    finalizeMs: z.number().nullable(),
  })
  .meta({ id: 'RunStats' });

export const ReasonView = z
  .object({ code: z.string(), says: z.string(), detail: z.record(z.string(), z.unknown()).optional() })
  .meta({ id: 'Reason' });

export const ScheduleView = z
  .object({
    words: z.string(),
    schedule: z.looseObject({ kind: z.enum(['cron', 'every', 'repeat', 'at']) }),
    next: z.object({ nominal: instant, due: instant }).nullable(),
    lastNominal: instant.nullable(),
  })
  .meta({ id: 'Schedule' });

const SpecView = z
  .object({
    type: z.string(),
    params: z.unknown(),
    schedules: z.array(z.looseObject({ kind: z.string() })),
    policy: z.record(z.string(), z.unknown()),
    priority: z.number().int(),
    overlap: Overlap,
    misfire: z.looseObject({ policy: z.enum(['skip', 'once', 'all']), windowMs: z.number(), cap: z.number() }),
    onePerType: z.boolean(),
    inMemory: z.boolean(),
    manualRuns: z.boolean(),
    tags: tags.nullable(),
    phase: z.enum(['run', 'prepare']),
    gate: z.object({ typeMax: count.optional(), defMax: count.optional() }).nullable(),
    limitKey: z.string().nullable(),
  })
  .meta({ id: 'Spec' });

export const DefView = z
  .object({
    name: z.string(),
    id: z.number().int(),
    type: z.string(),
    enabled: z.boolean(),
    inMemory: z.boolean(),
    status: z.enum(['SCHEDULED', 'RUNNING', 'DISABLED']),
    lastExecuted: instant.nullable(),
    lastExecutedStatus: z.enum(['COMPLETED', 'STOPPED', 'FAILED', 'NOT_STARTED']),
    lastRun: z.number().int().nullable(),
    nextExecutionTime: instant.nullable(),
    schedules: z.array(ScheduleView),
    spec: SpecView.meta({ description: 'what counts: the code with the override laid over it' }),
    code: SpecView,
    override: SpecView.partial().nullable(),
    version: count,
    createdAt: instant,
    changedAt: instant,
  })
  .meta({ id: 'Def' });
export type DefView = z.infer<typeof DefView>;

export const DefPage = pageOf('DefPage', DefView);

export const TickView = z
  .object({
    n: count.meta({ description: 'the number of the event that tells of it' }),
    at: instant,
    schedule: count,
    nominal: instant,
    run: z.number().int().nullable(),
    lateMs: z.number().nullable(),
    skipped: z.string().nullable(),
    to: instant.nullable().meta({ description: 'the last of a range of skipped occurrences' }),
    count: count.nullable(),
  })
  .meta({ id: 'Tick' });

export const PreviewTick = z
  .object({ nominal: instant, due: instant, shown: z.string(), remark: z.string().nullable(), skipped: z.boolean() })
  .meta({ id: 'PreviewTick' });

export const AuditView = z
  .object({
    id: z.number().int(),
    at: instant,
    by: z.string(),
    why: z.string().nullable(),
    action: z.string(),
    job: z.number().int().nullable(),
    def: z.string().nullable(),
    before: z.unknown().meta({ description: 'what it was done to, as it was; null: there was none' }),
    after: z.unknown(),
  })
  .meta({ id: 'Audit' });

export const TypeView = z
  .object({
    name: z.string(),
    isLocal: z.boolean().meta({ description: 'whether this server has its code' }),
    hasTasks: z.boolean().nullable().meta({ description: 'null: its code is not here' }),
    isolate: z.enum(['thread', 'process']).nullable(),
    onePerType: z.boolean(),
    concurrency: count.nullable(),
    instances: z.array(z.string()).meta({ description: 'living instances that know it' }),
    counts: z.partialRecord(z.enum(standingWords), count).meta({ description: 'of open jobs' }),
  })
  .meta({ id: 'Type' });
export type TypeView = z.infer<typeof TypeView>;

export const TypeDetail = TypeView.extend({
  taskConcurrency: count.nullable(),
  keyConcurrency: count.nullable().meta({ description: 'of runs with the same limit key' }),
  timeoutMs: z.number().nullable(),
  attempts: count.nullable().meta({ description: 'all tries together, where the type says so' }),
  schema: z.record(z.string(), z.unknown()).nullable().meta({ description: 'JSON Schema of its input, where known' }),
}).meta({ id: 'TypeDetail' });
export type TypeDetail = z.infer<typeof TypeDetail>;

export const LimitView = z
  .object({
    scope: z.enum(['type', 'tasks', 'definition', 'key']),
    name: z.string().nullable().meta({ description: 'of the definition, or the key' }),
    max: count.nullable().meta({ description: 'null: this server does not know it' }),
    taken: count,
  })
  .meta({ id: 'Limit' });
export type LimitView = z.infer<typeof LimitView>;

/** The jobs of one type that are open, and what they wait for. */
export const QueueView = z
  .object({
    type: z.string(),
    ready: count.meta({ description: 'due now, and nobody has taken them' }),
    later: count.meta({ description: 'due later' }),
    held: count,
    running: count,
    oldestReady: z.object({ id: z.number().int(), ageMs: z.number() }).nullable(),
    instances: count.meta({ description: 'living ones that know it and are not draining' }),
    slots: count,
    limits: z.array(LimitView),
  })
  .meta({ id: 'Queue' });
export type QueueView = z.infer<typeof QueueView>;

export const InstanceView = z
  .object({
    id: z.string(),
    isAlive: z.boolean(),
    isSelf: z.boolean(),
    startedAt: instant,
    beatAt: instant,
    leaseUntil: instant,
    host: z.string(),
    pid: z.number().int(),
    version: z.string(),
    types: z.array(z.string()),
    slots: count,
    busy: count,
    isDraining: z.boolean(),
  })
  .meta({ id: 'Instance' });
export type InstanceView = z.infer<typeof InstanceView>;

/** It hears of it within seconds. */
const Ordered = z
  .object({ order: z.number().int().meta({ description: 'the run that asks it' }) })
  .meta({ id: 'Ordered' });

export const StatsView = z
  .object({
    now: instant,
    open: z.partialRecord(z.enum(standingWords), count),
    ended: z.partialRecord(z.enum(standingWords), count).nullable().meta({ description: 'null: not asked for' }),
    types: z.array(z.object({ type: z.string(), kind: z.enum(kindWords), standing: z.enum(standingWords), count })),
    oldestReady: z.object({ id: z.number().int(), type: z.string(), dueAt: instant, ageMs: z.number() }).nullable(),
    instances: z.object({ alive: count, slots: count, busy: count }),
  })
  .meta({ id: 'Stats' });
export type StatsView = z.infer<typeof StatsView>;

export const seriesRanges = ['15m', '1h', '6h', '1d', '7d', '90d'] as const;
export type SeriesRange = (typeof seriesRanges)[number];

const quantiles = z.object({ p50: z.number(), p95: z.number(), p99: z.number() }).nullable();
const seriesCounts = {
  created: count, succeeded: count, failed: count, cancelled: count, retried: count, lapsed: count,
};
export const SeriesView = z
  .object({
    since: instant.meta({ description: 'this server counts from then on; what is older was read from the newest jobs' }),
    bucketMs: z.number(),
    points: z.array(z.object({
      at: instant,
      ...seriesCounts,
      wait: quantiles.meta({ description: 'milliseconds from due to claimed, of all types' }),
      run: quantiles.meta({ description: 'milliseconds of one try, of all types' }),
    })),
    types: z.array(z.object({ type: z.string(), ...seriesCounts })).meta({ description: 'most failures first' }),
  })
  .meta({ id: 'Series' });
export type SeriesView = z.infer<typeof SeriesView>;

/** The tasks of a run in the order they were made, as small as can be: for pictures of thousands. */
export const MatrixView = z
  .object({
    ids: z.array(z.number().int()),
    standings: z.string().meta({ description: 'one letter each: the first of its standing' }),
    ranMs: z.array(z.number().nullable()).meta({ description: 'from start to end, of those that have ended' }),
    next: z.number().int().nullable(),
  })
  .meta({ id: 'Matrix' });
export type MatrixView = z.infer<typeof MatrixView>;

export const FailureGroupView = z
  .object({
    fingerprint: z.string(),
    type: z.string(),
    code: z.enum(errorWords),
    message: z.string().meta({ description: 'of the newest' }),
    failed: count,
    retrying: count.meta({ description: 'failed, and are to be tried again' }),
    firstAt: instant,
    lastAt: instant,
    buckets: z.array(count).meta({ description: 'how many in each stretch of time' }),
    samples: z.array(z.object({
      id: z.number().int(), kind: z.enum(kindWords), parent: z.number().int().nullable(), at: instant,
    })),
  })
  .meta({ id: 'FailureGroup' });
export type FailureGroupView = z.infer<typeof FailureGroupView>;

export const OperationView = z
  .object({
    run: RunView,
    action: z.enum(bulkActions),
    by: z.string(),
    why: z.string().nullable(),
    only: z.literal('failed').nullable(),
    fingerprint: z.string().nullable(),
    query: z.record(z.string(), z.unknown()),
    done: count.nullable().meta({ description: 'null: not ended yet' }),
    refused: z.record(z.string(), count).meta({ description: 'how often each refusal was met' }),
  })
  .meta({ id: 'Operation' });
export type OperationView = z.infer<typeof OperationView>;

const BulkStarted = z
  .object({
    count: count.meta({ description: 'how many fit the filter now; of a group of failures, at most 10,000' }),
    operation: z.number().int().nullable().meta({ description: 'the run that does it; null: it was a dry run' }),
  })
  .meta({ id: 'BulkStarted' });

// For workers.

const ClaimAsk = z
  .strictObject({
    worker: z.string().min(1).max(100).meta({ description: 'a name of its own for each worker' }),
    types: z.array(name).min(1).max(1000),
    limit: z.number().int().min(1).max(100).optional(),
    leaseMs: z.number().int().min(1000).max(86_400_000).optional().meta({ description: 'default: 30 seconds' }),
    waitMs: z.number().int().min(0).max(60_000).optional().meta({ description: 'how long to wait for work' }),
  })
  .meta({ id: 'ClaimAsk' });

export const ClaimedView = z
  .object({
    id: z.number().int(),
    fence: count.meta({ description: 'to be sent with every write' }),
    type: z.string(),
    kind: z.enum(kindWords),
    def: z.string().nullable(),
    parent: z.number().int().nullable(),
    key: z.string().nullable(),
    phase: z.enum(phaseWords),
    input: z.unknown(),
    details: z.unknown(),
    attempt: count,
    tags,
    dueAt: instant,
    leaseUntil: instant.nullable(),
    timeoutMs: z.number().nullable(),
    children: z
      .array(z.object({
        id: z.number().int(), key: z.string().nullable(), fate: z.string(), input: z.unknown(), result: z.unknown(),
      }))
      .meta({ description: 'of a parent that is handed out again after its children: the first 1000' }),
  })
  .meta({ id: 'Claimed' });
export type ClaimedView = z.infer<typeof ClaimedView>;

const HeartbeatAsk = z
  .strictObject({ fence, leaseMs: z.number().int().min(1000).max(86_400_000).optional() })
  .meta({ id: 'HeartbeatAsk' });
const HeartbeatReply = z
  .object({ leaseUntil: instant, isCancelled: z.boolean(), cancel: RunView.shape.cancel })
  .meta({ id: 'HeartbeatReply' });

const line = z.string().max(4000);
const item = z.union([z.string().max(500), z.number()]).optional();
const onFailure = z.enum(['PARENT', 'FAIL', 'SKIP_STAGE', 'SKIP_ITEM', 'SKIP_ITEM_OUTLIER']).optional();
const failure = { error: line, cancelled: z.boolean().optional() };
export const ProgressStep = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('startProcess'), description: line.optional() }),
    z.strictObject({ kind: z.literal('completeProcess'), summary: line.optional() }),
    z.strictObject({ kind: z.literal('failProcess'), ...failure }),
    z.strictObject({
      kind: z.literal('startStage'),
      description: line.optional(),
      total: z.number().int().min(0).optional(),
      policy: onFailure,
    }),
    z.strictObject({ kind: z.literal('completeStage'), summary: line.optional() }),
    z.strictObject({ kind: z.literal('failStage'), ...failure }),
    z.strictObject({ kind: z.literal('startItem'), item, description: line.optional(), policy: onFailure }),
    z.strictObject({ kind: z.literal('completeItem'), item, summary: line.optional() }),
    z.strictObject({ kind: z.literal('failItem'), item, ...failure }),
    z.strictObject({
      kind: z.literal('skipItem'), item, count: z.number().int().min(0).optional(), summary: line.optional(),
    }),
  ])
  .meta({ id: 'ProgressStep' });
const ProgressAsk = z.strictObject({
  fence, steps: z.array(ProgressStep).min(1).max(1000) }).meta({ id: 'ProgressAsk',
});
const LogAsk = z
  .strictObject({
    fence,
    lines: z.array(z.strictObject({
      level: z.enum(levelWords).optional(), text: z.string().max(16_000),
    })).min(1).max(1000),
  })
  .meta({ id: 'LogAsk' });
const ChildAsk = z.strictObject({
  type: name,
  key: z.string().min(1).max(512).optional(),
  input: z.unknown().optional(),
  dueTime: time.optional(),
  priority: z.number().int().optional(),
  tags: tags.optional(),
});
const ChildrenAsk = z.strictObject({ fence, children: z.array(ChildAsk).min(1).max(1000) }).meta({ id: 'ChildrenAsk' });
const CompleteAsk = z.strictObject({ fence, result: z.unknown().optional() }).meta({ id: 'CompleteAsk' });
const FailAsk = z
  .strictObject({
    fence,
    error: z.strictObject({
      message: z.string().max(16_000),
      code: z.enum(errorWords).optional(),
      data: z.unknown().optional(),
      stack: z.string().max(64_000).optional(),
    }),
    retryable: z.boolean().optional(),
    retryAt: time.optional(),
  })
  .meta({ id: 'FailAsk' });
const ReleaseAsk = z.strictObject({ fence, dueTime: time.optional() }).meta({ id: 'ReleaseAsk' });
const WorkReply = z
  .object({ id: z.number().int(), standing: z.enum(standingWords), isCancelled: z.boolean() })
  .meta({ id: 'WorkReply' });

/** RFC 9457, with the code of the refusal. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    about: z.record(z.string(), z.unknown()).optional(),
    /** Of an error of the server's own: under this name it stands in its log. */
    trace: z.string().optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof Problem>;

const Me = z
  .object({
    name: z.string(),
    role: z.enum(roles),
    isLocal: z.boolean(),
    seesPayloads: z.boolean(),
    expires: instant.nullable(),
  })
  .meta({ id: 'Me' });
const Health = z.object({ status: z.enum(['ok', 'failing']), version: z.string() }).meta({ id: 'Health' });
const Nothing = z.object({}).meta({ id: 'Nothing' });

// The routes.

export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  /** Any of them will do; null: open to everyone. */
  readonly roles: readonly Role[] | null;
  readonly summary: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** What is answered, if not JSON. */
  readonly as?: 'events' | 'text';
  /** If not 200. */
  readonly status?: 201 | 202 | 204;
}

const look: readonly Role[] = ['viewer'];
const produce: readonly Role[] = ['producer'];
const lookOrProduce: readonly Role[] = ['viewer', 'producer'];
const operate: readonly Role[] = ['operator'];
const work: readonly Role[] = ['worker'];

const Items = <S extends z.ZodType>(id: string, one: S) => z.object({ items: z.array(one) }).meta({ id });
const text = z.string();
/** The path as a type too: whoever has only the types of this file can still not misspell one. */
const at = <const P extends string>(path: P): `${typeof apiPath}${P}` => `${apiPath}${path}`;
const define = <const R extends Record<string, Route>>(table: R): R => table;

export const routes = define({
  health: {
    method: 'get', path: '/health', roles: null, summary: 'Whether the server lives and reaches its store',
    answer: Health,
  },
  metrics: {
    method: 'get', path: '/metrics', roles: look, summary: 'Figures for Prometheus', answer: text, as: 'text',
  },
  openapi: {
    method: 'get', path: at('/openapi.json'), roles: look, summary: 'This API as an OpenAPI document',
    answer: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApi' }),
  },
  signIn: {
    method: 'post', path: at('/session'), roles: null, summary: 'Begins a session of the browser with a token',
    body: z.strictObject({ token: z.string().min(1).max(500) }).meta({ id: 'SignIn' }), answer: Me,
  },
  signOut: {
    method: 'delete', path: at('/session'), roles, summary: 'Ends the session', answer: Nothing,
  },
  me: { method: 'get', path: at('/me'), roles, summary: 'Who is asking, and what they may do', answer: Me },

  listRuns: {
    method: 'get', path: at('/runs'), roles: look, summary: 'Runs that fit a filter', query: RunListQuery,
    answer: RunPage,
  },
  countRuns: {
    method: 'get', path: at('/runs/count'), roles: look, summary: 'How many jobs fit a filter, by type and standing',
    query: RunFilter,
    answer: z.object({ total: count, items: StatsView.shape.types }).meta({ id: 'RunCount' }),
  },
  createRun: {
    method: 'post', path: at('/runs'), roles: produce, status: 201,
    summary: 'Creates a run of a type or definition; with the header Idempotency-Key, once only', body: RunAsk,
    answer: RunCreated,
  },
  getRun: {
    method: 'get', path: at('/runs/{id}'), roles: lookOrProduce, summary: 'All that is known of a run',
    params: RunParams, answer: RunDetail,
  },
  editRun: {
    method: 'patch', path: at('/runs/{id}'), roles: operate, summary: 'Changes priority, due time or tags',
    params: RunParams, body: RunEdit, answer: RunView,
  },
  deleteRun: {
    method: 'delete', path: at('/runs/{id}'), roles: operate, summary: 'Removes a run that has ended',
    params: RunParams, query: z.strictObject({ why: why.optional() }).meta({ id: 'DeleteQuery' }), answer: Nothing,
  },
  listTasks: {
    method: 'get', path: at('/runs/{id}/tasks'), roles: look, summary: 'The tasks of a run', params: RunParams,
    query: z.strictObject({ ...pageFields, state: RunFilter.shape.state }).meta({ id: 'TaskListQuery' }),
    answer: RunPage,
  },
  getMatrix: {
    method: 'get', path: at('/runs/{id}/matrix'), roles: look, summary: 'How each task of a run stands, in short',
    params: RunParams,
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 20_000).optional() }).meta({ id: 'MatrixQuery' }),
    answer: MatrixView,
  },
  listEvents: {
    method: 'get', path: at('/runs/{id}/events'), roles: look, summary: 'The history of a run', params: RunParams,
    query: z.strictObject({
      from: whole(1, Number.MAX_SAFE_INTEGER).optional(),
      limit: whole(1, 1000).optional() }).meta({ id: 'EventListQuery',
    }),
    answer: pageOf('EventPage', EventView),
  },
  getProgress: {
    method: 'get', path: at('/runs/{id}/progress'), roles: look, summary: 'The tree of progress of a run',
    params: RunParams,
    answer: z.object({ progress: ProgressView.nullable() }).meta({ id: 'ProgressAnswer' }),
  },
  getLog: {
    method: 'get', path: at('/runs/{id}/log'), roles: look, summary: 'The log of a run', params: RunParams,
    query: z.strictObject({
      after: whole(0, Number.MAX_SAFE_INTEGER).optional(), limit: whole(1, 1000).optional() }).meta({ id: 'LogQuery',
    }),
    answer: pageOf('LogPage', LogLine),
  },
  getRunStats: {
    method: 'get', path: at('/runs/{id}/stats'), roles: look, summary: 'Figures of a run and its tasks',
    params: RunParams, answer: RunStats,
  },
  explainRun: {
    method: 'get', path: at('/runs/{id}/explain'), roles: look, summary: 'Why it is not running', params: RunParams,
    answer: Items('Reasons', ReasonView),
  },
  streamRun: {
    method: 'get', path: at('/runs/{id}/stream'), roles: look,
    summary: 'Server-sent events `run`, `progress` and `log` until the run has ended', params: RunParams, answer: text,
    as: 'events',
  },
  cancelRun: {
    method: 'post', path: at('/runs/{id}/cancel'), roles: operate, summary: 'Asks a run to give up', params: RunParams,
    body: CancelAsk, answer: RunView,
  },
  stopRun: {
    method: 'post', path: at('/runs/{id}/stop'), roles: operate, summary: 'Ends a run now', params: RunParams,
    body: Act,
    answer: z.object({ run: RunView, how: z.enum(['terminated', 'disowned', 'idle']) }).meta({ id: 'Stopped' }),
  },
  retryRun: {
    method: 'post', path: at('/runs/{id}/retry'), roles: operate, summary: 'Opens an ended run again',
    params: RunParams, body: RetryAsk, answer: RunView,
  },
  pauseRun: {
    method: 'post', path: at('/runs/{id}/pause'), roles: operate, summary: 'Keeps a pending run from being claimed',
    params: RunParams, body: Act, answer: RunView,
  },
  resumeRun: {
    method: 'post', path: at('/runs/{id}/resume'), roles: operate, summary: 'Lets a paused run go on',
    params: RunParams, body: Act, answer: RunView,
  },
  bulk: {
    method: 'post', path: at('/bulk'), roles: operate, status: 202,
    summary: 'Does one thing to all runs that fit a filter, as a run of its own that shows its progress', body: BulkAsk,
    answer: BulkStarted,
  },
  listOperations: {
    method: 'get', path: at('/operations'), roles: look, summary: 'Bulk operations, newest first',
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 200).optional() }).meta({ id: 'OperationQuery' }),
    answer: pageOf('OperationPage', OperationView),
  },
  listFailures: {
    method: 'get', path: at('/failures'), roles: look, summary: 'The newest failures, grouped by what went wrong',
    query: z.strictObject({ range: z.enum(seriesRanges).optional(), type: name.optional() }).meta({ id: 'FailureQuery' }),
    answer: z
      .object({
        items: z.array(FailureGroupView),
        since: instant,
        bucketMs: z.number(),
        scanned: count.meta({ description: 'how many jobs were looked at' }),
        isCut: z.boolean().meta({ description: 'there are more, older ones' }),
      })
      .meta({ id: 'Failures' }),
  },

  listDefs: {
    method: 'get', path: at('/defs'), roles: look, summary: 'Definitions',
    query: z
      .strictObject({
        after: pageFields.after, limit: whole(1, 1000).optional(), q: z.string().max(255).optional(),
        type: name.optional(),
      })
      .meta({ id: 'DefListQuery' }),
    answer: DefPage,
  },
  createDef: {
    method: 'post', path: at('/defs'), roles: operate, status: 201, summary: 'Creates a definition', body: DefCreation,
    answer: DefView,
  },
  getDef: {
    method: 'get', path: at('/defs/{name}'), roles: look, summary: 'A definition', params: DefParams, answer: DefView,
  },
  overrideDef: {
    method: 'patch', path: at('/defs/{name}'), roles: operate,
    summary: "Lays an operator's word over what the code says",
    params: DefParams, body: DefOverride, answer: DefView,
  },
  resetDef: {
    method: 'delete', path: at('/defs/{name}/override'), roles: operate, summary: "Takes the operator's word back",
    params: DefParams, answer: DefView,
  },
  deleteDef: {
    method: 'delete', path: at('/defs/{name}'), roles: operate, summary: 'Ends a definition; its runs stay',
    params: DefParams, answer: Nothing,
  },
  enableDef: {
    method: 'post', path: at('/defs/{name}/enable'), roles: operate, summary: 'Lets its schedules go on',
    params: DefParams, body: Act, answer: DefView,
  },
  disableDef: {
    method: 'post', path: at('/defs/{name}/disable'), roles: operate, summary: 'Suspends its schedules',
    params: DefParams, body: Act, answer: DefView,
  },
  runDef: {
    method: 'post', path: at('/defs/{name}/run'), roles: produce, status: 201, summary: 'Runs a definition by hand',
    params: DefParams, body: DefRunAsk, answer: RunCreated,
  },
  listTicks: {
    method: 'get', path: at('/defs/{name}/ticks'), roles: look, summary: 'What became of its occurrences, newest first',
    params: DefParams,
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 1000).optional() }).meta({ id: 'TickListQuery' }),
    answer: pageOf('TickPage', TickView),
  },
  previewDef: {
    method: 'get', path: at('/defs/{name}/preview'), roles: look, summary: 'The next occurrences of all its schedules',
    params: DefParams,
    query: z
      .strictObject({
        count: whole(1, 1000).optional(),
        runLasts: duration.optional().meta({ description: 'how long each run is taken to last' }),
        gap: z.enum(['next', 'shift', 'skip']).optional().meta({ description: "tried instead of the schedules' own" }),
        overlap: z.enum(['first', 'last', 'both']).optional(),
      })
      .meta({ id: 'DefPreviewQuery' }),
    answer: Items(
      'DefPreview',
      PreviewTick.extend({ schedule: count, does: z.enum(['runs', 'is skipped', 'waits', 'replaces']) }),
    ),
  },
  previewSchedule: {
    method: 'post', path: at('/schedules/preview'), roles: look,
    summary: 'The next occurrences of a schedule that need not exist',
    body: z
      .strictObject({
        schedule: ScheduleAsk, count: whole(1, 1000).optional(), from: time.optional(), name: name.optional(),
      })
      .meta({ id: 'PreviewAsk' }),
    answer: z.object({ words: z.string(), ticks: z.array(PreviewTick) }).meta({ id: 'Preview' }),
  },

  listTypes: {
    method: 'get', path: at('/types'), roles: look, summary: 'Job types that this server or a living instance knows',
    answer: Items('Types', TypeView),
  },
  getType: {
    method: 'get', path: at('/types/{name}'), roles: look, summary: 'A job type, with the schema of its input',
    params: DefParams, answer: TypeDetail,
  },
  listQueues: {
    method: 'get', path: at('/queues'), roles: look, summary: 'What is open of each type, and the limits it waits at',
    answer: Items('Queues', QueueView),
  },
  listInstances: {
    method: 'get', path: at('/instances'), roles: look, summary: 'Instances and remote workers',
    answer: Items('Instances', InstanceView),
  },
  drainInstance: {
    method: 'post', path: at('/instances/{id}/drain'), roles: operate,
    summary: 'Asks an instance to take no more work; what it runs goes on', params: InstanceParams, body: Act,
    answer: Ordered,
  },
  resumeInstance: {
    method: 'post', path: at('/instances/{id}/resume'), roles: operate, summary: 'Asks an instance to take work again',
    params: InstanceParams, body: Act, answer: Ordered,
  },
  stats: {
    method: 'get', path: at('/stats'), roles: look, summary: 'Figures of the whole',
    query: z.strictObject({ ended: flag.optional() }).meta({ id: 'StatsQuery' }), answer: StatsView,
  },
  series: {
    method: 'get', path: at('/series'), roles: look, summary: 'What happened over time, in buckets',
    query: z.strictObject({ range: z.enum(seriesRanges).optional(), type: name.optional() }).meta({ id: 'SeriesQuery' }),
    answer: SeriesView,
  },
  audit: {
    method: 'get', path: at('/audit'), roles: operate, summary: 'What operators did, newest first',
    query: z.strictObject({
      ...pageFields,
      action: z.string().min(1).max(100).optional(),
      job: whole(1, Number.MAX_SAFE_INTEGER).optional(),
      by: z.string().min(1).max(255).optional(),
    }).meta({ id: 'AuditQuery' }),
    answer: pageOf('AuditPage', AuditView),
  },
  stream: {
    method: 'get', path: at('/stream'), roles: look,
    summary: 'Server-sent events `change`, resumable by Last-Event-ID',
    query: z
      .strictObject({
        run: whole(1, Number.MAX_SAFE_INTEGER).optional(), type: listOf(name).optional(),
        kind: listOf(z.enum(kindWords)).optional(), after: z.string().max(300).optional(),
      })
      .meta({ id: 'StreamQuery' }),
    answer: text, as: 'events',
  },

  claim: {
    method: 'post', path: at('/work/claim'), roles: work, summary: 'Takes work, or waits for some', body: ClaimAsk,
    answer: Items('ClaimedJobs', ClaimedView),
  },
  heartbeat: {
    method: 'post', path: at('/work/{id}/heartbeat'), roles: work, summary: 'Keeps the lease; tells of a cancel',
    params: RunParams, body: HeartbeatAsk, answer: HeartbeatReply,
  },
  tellProgress: {
    method: 'post', path: at('/work/{id}/progress'), roles: work, summary: 'Tells steps of progress', params: RunParams,
    body: ProgressAsk, answer: WorkReply,
  },
  tellLog: {
    method: 'post', path: at('/work/{id}/log'), roles: work, summary: 'Writes to the log', params: RunParams,
    body: LogAsk, answer: WorkReply,
  },
  createChildren: {
    method: 'post', path: at('/work/{id}/children'), roles: work, status: 201,
    summary: 'Creates children, let go when their parent completes',
    params: RunParams, body: ChildrenAsk,
    answer: Items('ChildIds', z.object({ id: z.number().int(), key: z.string().nullable() })),
  },
  complete: {
    method: 'post', path: at('/work/{id}/complete'), roles: work, summary: 'The work is done', params: RunParams,
    body: CompleteAsk, answer: WorkReply,
  },
  fail: {
    method: 'post', path: at('/work/{id}/fail'), roles: work, summary: 'The try failed', params: RunParams,
    body: FailAsk, answer: WorkReply,
  },
  release: {
    method: 'post', path: at('/work/{id}/release'), roles: work, summary: 'Gives the job back without losing a try',
    params: RunParams, body: ReleaseAsk, answer: WorkReply,
  },
});

export type Routes = typeof routes;
export type RouteName = keyof Routes;

type Part<R, K extends string> = R extends Readonly<Record<K, infer S extends z.ZodType>> ? S : never;
type Read<R, K extends string> = [Part<R, K>] extends [never] ? undefined : z.output<Part<R, K>>;
type Said<R, K extends string> = [Part<R, K>] extends [never] ? {} : { readonly [P in K]: z.output<Part<R, K>> };

/** What a handler gets, once it was checked. */
export interface Asked<N extends RouteName> {
  readonly params: Read<Routes[N], 'params'>;
  readonly query: Read<Routes[N], 'query'>;
  readonly body: Read<Routes[N], 'body'>;
}

/** What a client says. */
export type Saying<N extends RouteName> =
  Said<Routes[N], 'params'> & Partial<Said<Routes[N], 'query'>> & Said<Routes[N], 'body'>;

export type Answer<N extends RouteName> = z.output<Routes[N]['answer']>;
