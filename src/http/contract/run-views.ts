/** The schemas of runs in responses: run, progress, events, log and reasons. */
import { z } from 'zod';
import { tags } from './requests.ts';
import {
  bedrockWords, errorWords, kindWords, levelWords, phaseWords, progressWords, runStateWords, scheduledWords,
  standingWords, stateWords, statusWords,
} from './words.ts';

export const count = z.number().int();
export const instant = z.number().meta({ description: 'milliseconds since 1970' });

export const JobErrorView = z
  .object({
    code: z.enum(errorWords),
    message: z.string(),
    name: z.string().optional().meta({ description: 'the name of its class' }),
    id: z.string().optional().meta({ description: 'the code that the application gave the error, such as ENOENT' }),
    causes: z
      .array(z.object({ message: z.string(), name: z.string().optional(), id: z.string().optional() }))
      .optional()
      .meta({ description: 'causes and inner errors, each before its own causes' }),
    data: z.unknown().optional(),
    stack: z.string().optional(),
  })
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
            runningDropped: z.partialRecord(failurePolicy, count).optional(),
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
    fence: count.nullable()
      .meta({ description: 'the claim that wrote the tree, which may be an earlier one of the run; null: unknown' }),
  })
  .meta({ id: 'Progress' });
export type ProgressView = z.infer<typeof ProgressView>;

export const RunView = z
  .object({
    id: z.number().int(),
    kind: z.enum(kindWords),
    type: z.string(),
    typeVersion: count.meta({ description: 'the version of the type for which the input was made' }),
    def: z.string().nullable(),
    parent: z.number().int().nullable(),
    key: z.string().nullable(),
    inMemory: z.boolean(),
    state: z.enum(stateWords),
    standing: z.enum(standingWords).meta({ description: 'the state; for ended runs, the fate' }),
    hold: z.enum(['pause', 'parent', 'children', 'runs']).nullable(),
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
      .meta({ description: 'the state in the words of each vocabulary' }),
    priority: z.number().int(),
    attempt: count,
    crashes: count,
    generation: count,
    fence: count,
    isHandedOff: z.boolean().meta({ description: 'whether another system finishes it, with a token' }),
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
    tasks: TaskCounts.nullable().meta({ description: 'null: not requested, or the run has no tasks' }),
    progress: ProgressOutline.nullable(),
  })
  .meta({ id: 'Run' });
export type RunView = z.infer<typeof RunView>;

export const AttemptView = z
  .object({
    fence: count.nullable()
      .meta({ description: 'the number of its claim, from 1; null: the run failed without being executed' }),
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
  queuePosition: count.nullable()
    .meta({
      description: 'how many claimable runs of its type precede it, counted up to 10,000; null: it is not pending',
    }),
  waitedMs: z.number().nullable()
    .meta({ description: 'how long it waited for its first start, from due to claimed; null: it has not started' }),
  flow: z.number().int().nullable().meta({ description: 'the flow that it belongs to; null: none' }),
  createdBy: z.string().meta({ description: 'http:NAME: with the token of this name' }),
  attempts: z.array(AttemptView).meta({ description: 'newest first, at most 100' }),
}).meta({ id: 'RunDetail' });
export type RunDetail = z.infer<typeof RunDetail>;

const nextDescription =
  'pass it as `after`; null: this was the last page. Earlier pages may be short or even empty';

export const pageOf = <S extends z.ZodType>(id: string, item: S) =>
  z
    .object({ items: z.array(item), next: z.number().int().nullable().meta({ description: nextDescription }) })
    .meta({ id });

export const RunPage = pageOf('RunPage', RunView);
export type RunPage = z.infer<typeof RunPage>;

export const RunCreated = z
  .object({
    run: RunView.nullable().meta({ description: 'null: the run was deleted, but its unique key is still in use' }),
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

/** The data of the event `change` in the stream of all changes. */
export const Changed = z
  .object({
    job: z.number().int(),
    kind: z.enum(kindWords),
    type: z.string(),
    def: z.string().nullable().meta({ description: 'the definition of the job, or the one that it is' }),
    parent: z.number().int().nullable(),
    event: EventView,
  })
  .meta({ id: 'Changed' });
export type Changed = z.infer<typeof Changed>;

export const LogLineView = z
  .object({
    n: count,
    at: instant,
    level: z.enum(levelWords),
    text: z.string(),
    fence: count.nullable()
      .meta({ description: 'the claim under which the line was written: 1 is the first attempt; null: unknown' }),
  })
  .meta({ id: 'LogLine' });
export type LogLineView = z.infer<typeof LogLineView>;

export const StepView = z
  .object({
    n: count.meta({ description: 'the place among the steps of the run, in the order in which they were stored' }),
    name: z.string(),
    kind: z.enum(['step', 'sleep', 'wait']),
    startedAt: instant,
    endedAt: instant.meta({ description: 'for a sleep: when it ends' }),
    fence: count.meta({ description: 'the claim under which the step was stored' }),
    result: z.unknown(),
  })
  .meta({ id: 'Step' });
export type StepView = z.infer<typeof StepView>;

export const OutputChunkView = z
  .object({
    position: z.string().meta({ description: 'pass it as `after`, or in the header Last-Event-ID, to read on behind the chunk' }),
    fence: count.meta({ description: 'the claim under which the chunk was written: 1 is the first attempt' }),
    at: instant,
    step: z.string().nullable().meta({ description: 'the step that wrote the chunk; null: it was written outside of steps' }),
    isFirst: z.boolean().meta({ description: 'whether the chunk replaces all chunks before it that have the same `step`' }),
    value: z.unknown(),
  })
  .meta({ id: 'OutputChunk' });
export type OutputChunkView = z.infer<typeof OutputChunkView>;

export const OutputPage = z
  .object({
    items: z.array(OutputChunkView),
    next: z.string().nullable().meta({ description: 'pass it as `after`; null: no chunk is stored behind `after` yet' }),
  })
  .meta({ id: 'OutputPage' });

export const QuestionView = z
  .object({
    run: z.number().int(),
    type: z.string(),
    name: z.string(),
    ask: z.string().nullable(),
    schema: z.record(z.string(), z.unknown()).nullable().meta({ description: 'JSON Schema of the answer; null: any JSON' }),
    role: z.enum(['producer', 'operator', 'admin']).meta({ description: 'the role that is needed to answer' }),
    notBy: z.array(z.string()).meta({ description: 'who must not answer; empty for links, and for callers who do not see payloads' }),
    askedAt: instant,
    until: instant.nullable().meta({ description: 'when the wait times out; null: never' }),
  })
  .meta({ id: 'Question' });
export type QuestionView = z.infer<typeof QuestionView>;

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
