/** What is answered: how runs, definitions, instances and the rest are shown. */
import { z } from 'zod';
import { Overlap, tags } from './asks.ts';
import {
  bedrockWords, bulkActions, errorWords, kindWords, levelWords, phaseWords, progressWords, roles, runStateWords,
  scheduledWords, standingWords, stateWords, statusWords,
} from './words.ts';

export const count = z.number().int();
export const instant = z.number().meta({ description: 'milliseconds since 1970' });

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

export const pageOf = <S extends z.ZodType>(id: string, item: S) =>
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

export const RunStats = z
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
export const Health = z.object({ status: z.enum(['ok', 'failing']), version: z.string() }).meta({ id: 'Health' });
export const Nothing = z.object({}).meta({ id: 'Nothing' });
