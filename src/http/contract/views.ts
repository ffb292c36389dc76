/** The schemas of responses other than runs: definitions, types, queues, instances, statistics, failures, problems. */
import { z } from 'zod';
import { AfterFailure, FollowOn, Overlap, tags } from './requests.ts';
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
    typeVersion: count.optional()
      .meta({ description: 'the version of the type for which `params` were made; absent: the first' }),
    schedules: z.array(z.looseObject({ kind: z.string() })),
    after: z.array(z.string()).optional().meta({ description: 'the definitions that it follows; absent: none' }),
    on: FollowOn.optional(),
    afterFailure: AfterFailure.optional(),
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
    undeclared: z.boolean()
      .meta({ description: 'code declared it, and no living instance has that code any more' }),
    status: z.enum(['SCHEDULED', 'RUNNING', 'DISABLED']),
    lastExecuted: instant.nullable(),
    lastExecutedStatus: z.enum(['COMPLETED', 'STOPPED', 'FAILED', 'NOT_STARTED']),
    lastRun: z.number().int().nullable(),
    nextExecutionTime: instant.nullable(),
    schedules: z.array(ScheduleView),
    spec: SpecView.meta({ description: 'the settings in effect: the declared ones with the override' }),
    code: SpecView,
    override: SpecView.partial().nullable(),
    followers: z.array(z.string()).meta({ description: 'the definitions that follow it' }),
    version: count,
    createdAt: instant,
    changedAt: instant,
  })
  .meta({ id: 'Def' });
export type DefView = z.infer<typeof DefView>;

export const DefPage = pageOf('DefPage', DefView);

export const DefPlanView = z
  .object({
    definitions: z.array(z.object({
      name: z.string(),
      action: z.enum(['create', 'change', 'delete', 'unchanged']),
      list: z.enum(['definitions', 'overrides']),
      fields: z.array(z.object({ field: z.string(), before: z.unknown().optional(), after: z.unknown().optional() })),
    })),
    digest: z.string().meta({ description: 'pass it to apply exactly this plan' }),
  })
  .meta({ id: 'DefPlan' });
export const DefNames = z.object({ names: z.array(z.string()) }).meta({ id: 'DefNames' });

export const TickView = z
  .object({
    n: count.meta({ description: 'the number of the event that records it' }),
    at: instant,
    schedule: count,
    nominal: instant,
    run: z.number().int().nullable(),
    lateMs: z.number().nullable(),
    skipped: z.string().nullable(),
    to: instant.nullable().meta({ description: 'the last of a range of skipped ticks' }),
    count: count.nullable(),
    followers: z.array(z.object({
      def: z.string(),
      run: z.number().int().nullable(),
      skipped: z.enum(['disabled', 'undeclared', 'refused', 'predecessor']).nullable(),
    })).meta({ description: 'the runs of the definitions that follow it, created with its run' }),
  })
  .meta({ id: 'Tick' });

export const PastTickView = z
  .object({
    schedule: count,
    nominal: instant,
    shown: z.string().meta({ description: 'the time in the zone of the schedule' }),
    remark: z.string().nullable(),
    outcome: z.enum(['run', 'skipped', 'missing', 'due'])
      .meta({ description: 'missing: neither a run nor a skip is known; due: the schedule will handle it' }),
    run: z.number().int().nullable(),
    standing: z.enum(standingWords).nullable().meta({ description: 'null: the run was deleted, or there is none' }),
    skipped: z.string().nullable(),
    backfill: z.number().int().nullable().meta({ description: 'the backfill that created the run' }),
  })
  .meta({ id: 'PastTick' });

export const BackfillView = z
  .object({
    from: instant,
    to: instant,
    ticks: count.meta({ description: 'how many ticks the schedules have in the range' }),
    missing: count.meta({ description: 'those without a run, which get one' }),
    existing: count,
    inGaps: count.meta({ description: 'those that do not run because of a clock change' }),
    leftToSchedule: count.meta({ description: 'those that are due now' }),
    unknown: count.meta({ description: 'those that may have had runs under an earlier name of the definition' }),
    operation: z.number().int().nullable().meta({ description: 'the run that creates them; null: a dry run' }),
  })
  .meta({ id: 'Backfill' });

export const CalendarView = z
  .object({
    zone: z.string(),
    hours: z.array(z.object({
      at: instant,
      shown: z.string().meta({ description: 'the beginning of the hour in the zone' }),
      ticks: count,
      definitions: count,
      load: z.number().nullable()
        .meta({ description: 'how many runs of the busiest definitions execute at a time on average; null: unknown' }),
      most: z.array(z.object({ name: z.string(), ticks: count })),
    })),
    busiest: z.array(z.object({
      name: z.string(), ticks: count, lastRunMs: z.number().nullable(), overlapsItself: z.boolean(),
    })),
    definitions: count,
    unknown: count.meta({ description: 'definitions whose ticks count from their runs' }),
  })
  .meta({ id: 'Calendar' });

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
    before: z.unknown().meta({ description: 'the target before the action; null: it did not exist' }),
    after: z.unknown(),
  })
  .meta({ id: 'Audit' });

export const inboxStandings = ['waiting', 'refused'] as const;

export const InboxRequestView = z
  .object({
    id: z.number().int(),
    at: instant,
    type: z.string(),
    input: z.unknown().meta({ description: 'null: the request has no input, or its input is null' }),
    options: z.unknown(),
    refused: z.object({ at: instant, code: z.string(), message: z.string() }).nullable()
      .meta({ description: 'null: the request is waiting' }),
  })
  .meta({ id: 'InboxRequest' });

export const ResumeSpread = z.object({ by: z.string(), why: z.string().nullable(), from: instant }).meta({ id: 'ResumeSpread' });

export const PauseView = z
  .object({
    type: z.string(),
    key: z.string().nullable().meta({ description: 'null: the whole type is paused' }),
    by: z.string(),
    why: z.string().nullable(),
    since: instant,
    until: instant.nullable().meta({ description: 'null: until somebody resumes it' }),
    spread: ResumeSpread.nullable()
      .meta({ description: 'who has resumed it, if what piled up is let out evenly until `until`; null: all of it is held back' }),
  })
  .meta({ id: 'Pause' });
export type PauseView = z.infer<typeof PauseView>;

export const TypeView = z
  .object({
    name: z.string(),
    isLocal: z.boolean().meta({ description: 'whether this server has the code of the type' }),
    hasTasks: z.boolean().nullable().meta({ description: 'null: no instance has registered the type' }),
    isolate: z.enum(['thread', 'process']).nullable(),
    batch: z.object({ size: count, waitMs: count }).nullable()
      .meta({ description: 'how many of its jobs are handled at once; null: one by one' }),
    onePerType: z.boolean(),
    concurrency: count.nullable(),
    instances: z.array(z.string()).meta({ description: 'live instances with the type' }),
    counts: z.partialRecord(z.enum(standingWords), count).meta({ description: 'open jobs by standing' }),
  })
  .meta({ id: 'Type' });
export type TypeView = z.infer<typeof TypeView>;

export const TypeDetail = TypeView.extend({
  version: count.meta({ description: 'the version with which new runs are created' }),
  versions: z
    .array(z.object({ version: count, waiting: count, instances: z.array(z.string()) }))
    .meta({ description: 'versions of waiting jobs and of live instances: jobs that wait, up to 10,000, and instances that know it' }),
  oldInstances: z.array(z.string()).meta({ description: 'live instances whose code is of an older version than others' }),
  isSafeToStopOld: z.boolean()
    .meta({ description: 'whether the other live instances know the versions of all open jobs of the type' }),
  builds: z
    .array(z.object({ id: z.string(), firstSeen: instant, instances: z.array(z.string()), succeeded: count, failed: count }))
    .meta({ description: 'builds of live instances, newest first: attempts of this type since the instances started' }),
  taskConcurrency: count.nullable(),
  keyConcurrency: count.nullable().meta({ description: 'limit for runs with the same limit key' }),
  fairness: z.object({
    key: z.string().meta({ description: 'the path of the key in the input; `code`: only the code of the type computes it' }),
    weight: z.union([z.number().int(), z.string()]).meta({ description: 'the weight of each key, its path, or `code`' }),
  }).nullable().meta({ description: 'under which key its runs take turns, and how many start per turn' }),
  taskFairness: z.enum(['run']).nullable().meta({ description: 'run: its runs take turns with their tasks' }),
  shares: z
    .array(z.object({
      of: z.enum(['runs', 'tasks']),
      key: z.string().meta({ description: 'empty: the jobs without a key' }),
      weight: count,
      running: count.meta({ description: 'jobs that have started and not ended' }),
      part: z.number().meta({ description: 'the part of the key in all of these, from 0 to 1' }),
      fairPart: z.number().meta({ description: 'the part of its weight in the weights of these keys, from 0 to 1' }),
    }))
    .meta({ description: 'the fairness keys with running jobs, at most 100 of runs and of tasks, most jobs first' }),
  priority: z.number().int().meta({ description: 'default priority of its runs' }),
  timeoutMs: z.number().nullable(),
  attempts: count.nullable().meta({ description: 'attempts in total, if the type limits them' }),
  schema: z.record(z.string(), z.unknown()).nullable().meta({ description: 'JSON Schema of its input, if known' }),
}).meta({ id: 'TypeDetail' });
export type TypeDetail = z.infer<typeof TypeDetail>;

export const LimitView = z
  .object({
    scope: z.enum(['type', 'tasks', 'definition', 'key']),
    name: z.string().nullable().meta({ description: 'the definition or the key' }),
    max: count.nullable().meta({ description: 'null: unknown to this server' }),
    taken: count,
  })
  .meta({ id: 'Limit' });
export type LimitView = z.infer<typeof LimitView>;

/** The numbers of open jobs of one type, and the instances, slots and limits for them. */
export const QueueView = z
  .object({
    type: z.string(),
    ready: count.meta({ description: 'due and not claimed' }),
    later: count.meta({ description: 'due later' }),
    held: count,
    running: count,
    oldestReady: z.object({ id: z.number().int(), ageMs: z.number() }).nullable(),
    instances: count.meta({ description: 'live instances with the type that are not draining' }),
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
    canary: z.number().nullable().meta({ description: 'the largest share of the jobs that it starts; null: no limit' }),
    isLeader: z.boolean().meta({ description: 'whether it does the maintenance, as of its last heartbeat' }),
  })
  .meta({ id: 'Instance' });
export type InstanceView = z.infer<typeof InstanceView>;

/** The response to a drain or resume of an instance. The instance receives the command within seconds. */
export const Ordered = z
  .object({ order: z.number().int().meta({ description: 'the run that carries the command' }) })
  .meta({ id: 'Ordered' });

export const StatsView = z
  .object({
    now: instant,
    open: z.partialRecord(z.enum(standingWords), count),
    ended: z.partialRecord(z.enum(standingWords), count).nullable().meta({ description: 'null: not requested' }),
    types: z.array(z.object({ type: z.string(), kind: z.enum(kindWords), standing: z.enum(standingWords), count })),
    oldestReady: z.object({ id: z.number().int(), type: z.string(), dueAt: instant, ageMs: z.number() }).nullable(),
    instances: z.object({ alive: count, slots: count, busy: count }),
  })
  .meta({ id: 'Stats' });
export type StatsView = z.infer<typeof StatsView>;

export const seriesRanges = ['15m', '1h', '6h', '1d', '7d', '90d'] as const;
export type SeriesRange = (typeof seriesRanges)[number];

const ofFew = 'of fewer than 100 in the interval, also of up to ten intervals before it';
const quantiles = z.object({ p50: z.number(), p95: z.number(), p99: z.number() }).nullable();
const seriesCounts = {
  created: count, succeeded: count, failed: count, cancelled: count, retried: count, lapsed: count,
};
export const SeriesView = z
  .object({
    since: instant
      .meta({ description: 'when this server started to count; older values are estimated from the newest jobs' }),
    bucketMs: z.number(),
    points: z.array(z.object({
      at: instant,
      ...seriesCounts,
      wait: quantiles.meta({ description: `milliseconds from due to claimed, of all types; ${ofFew}` }),
      run: quantiles.meta({ description: `milliseconds of an attempt, of all types; ${ofFew}` }),
    })),
    types: z.array(z.object({ type: z.string(), ...seriesCounts })).meta({ description: 'most failures first' }),
  })
  .meta({ id: 'Series' });
export type SeriesView = z.infer<typeof SeriesView>;

/** The tasks of a run in the order of their creation. The form is compact, for charts of thousands of tasks. */
export const MatrixView = z
  .object({
    ids: z.array(z.number().int()),
    standings: z.string().meta({ description: 'one letter per task: the first letter of its standing' }),
    ranMs: z.array(z.number().nullable()).meta({ description: 'duration of ended tasks, from start to end' }),
    next: z.number().int().nullable(),
  })
  .meta({ id: 'Matrix' });
export type MatrixView = z.infer<typeof MatrixView>;

export const FailureGroupView = z
  .object({
    fingerprint: z.string(),
    type: z.string(),
    code: z.enum(errorWords),
    message: z.string().meta({ description: 'the message of the newest failure' }),
    failed: count,
    retrying: count.meta({ description: 'jobs that failed and wait for a retry' }),
    firstAt: instant,
    lastAt: instant,
    buckets: z.array(count).meta({ description: 'number of failures per bucket of time' }),
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
    total: count.nullable().meta({ description: 'how many jobs matched when it was requested; null: unknown' }),
    done: count.nullable().meta({ description: 'null: the operation has not ended' }),
    refused: z.record(z.string(), count).meta({ description: 'number of refusals by code' }),
  })
  .meta({ id: 'Operation' });
export type OperationView = z.infer<typeof OperationView>;

export const BulkStarted = z
  .object({
    count: count
      .meta({ description: 'number of runs that match the filter now; for a group of failures, at most 10,000' }),
    operation: z.number().int().nullable().meta({ description: 'the run that executes the operation; null: dry run' }),
  })
  .meta({ id: 'BulkStarted' });

/** An error response in the format of RFC 9457, with the code of the refusal. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    code: z.string(),
    detail: z.string(),
    about: z.record(z.string(), z.unknown()).optional(),
    /** Unexpected errors only: the id under which the server logged the error. */
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
    priorityMax: z.number().int().nullable()
      .meta({ description: 'the highest priority that you may give; null: every one' }),
  })
  .meta({ id: 'Me' });
export const TokenView = z
  .object({
    name: z.string(),
    role: z.enum(roles),
    seesPayloads: z.boolean(),
    created: instant.nullable().meta({ description: 'null: unknown' }),
    expires: instant.nullable().meta({ description: 'null: never' }),
    priorityMax: z.number().int().nullable()
      .meta({ description: 'the highest priority that its holder may give; null: the limit of the role' }),
    lastUsed: instant.nullable().meta({ description: 'null: not since this server started' }),
  })
  .meta({ id: 'TokenView' });
export const Health = z.object({
  status: z.enum(['ok', 'failing']),
  reason: z.string().optional().describe('why the store takes no writes'),
  version: z.string(),
}).meta({ id: 'Health' });
export const StoreView = z
  .object({
    bytes: count.nullable().meta({ description: 'size of the data; null: unknown' }),
    logBytes: count.nullable()
      .meta({ description: 'size of the write-ahead log file of SQLite; null: another database' }),
    oldestTransactionMs: z.number().nullable(),
    pool: z.object({ open: count, idle: count, waiting: count, max: count }).nullable()
      .meta({ description: 'connections of this server' }),
    connections: z.object({ open: count, max: count }).nullable().meta({ description: 'connections of all programs' }),
    parts: z.array(z.object({ name: z.string(), live: count, dead: count }))
      .meta({ description: 'live and dead rows' }),
  })
  .meta({ id: 'Store' });
export type StoreView = z.infer<typeof StoreView>;
export const Nothing = z.object({}).meta({ id: 'Nothing' });
