/** How the rest is shown: definitions, types, queues, instances, figures, failures, operations, problems. */
import { z } from 'zod';
import { Overlap, tags } from './requests.ts';
import { count, instant, pageOf, RunView } from './run-views.ts';
import { bulkActions, errorWords, kindWords, roles, standingWords } from './words.ts';

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
export const Ordered = z
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

export const BulkStarted = z
  .object({
    count: count.meta({ description: 'how many fit the filter now; of a group of failures, at most 10,000' }),
    operation: z.number().int().nullable().meta({ description: 'the run that does it; null: it was a dry run' }),
  })
  .meta({ id: 'BulkStarted' });

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

export const Me = z
  .object({
    name: z.string(),
    role: z.enum(roles),
    isLocal: z.boolean(),
    seesPayloads: z.boolean(),
    expires: instant.nullable(),
  })
  .meta({ id: 'Me' });
export const TokenView = z
  .object({
    name: z.string(),
    role: z.enum(roles),
    seesPayloads: z.boolean(),
    created: instant.nullable().meta({ description: 'null: not known' }),
    expires: instant.nullable().meta({ description: 'null: never' }),
    lastUsed: instant.nullable().meta({ description: 'null: not since this server started' }),
  })
  .meta({ id: 'TokenView' });
export const Health = z.object({ status: z.enum(['ok', 'failing']), version: z.string() }).meta({ id: 'Health' });
export const Nothing = z.object({}).meta({ id: 'Nothing' });
