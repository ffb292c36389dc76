/** The schemas of requests: filters, new runs and definitions, and actions on them. */
import { z } from 'zod';
import { bulkActions, kindWords, standingWords } from './words.ts';

/** A list. In a query string, the list is one parameter, with commas between the values. */
export const listOf = <S extends z.ZodType>(item: S) =>
  z.preprocess((value) => (typeof value === 'string' ? value.split(',') : value), z.array(item).max(1000));
/** A list. In a query string, the parameter is repeated for each value. */
const repeated = <S extends z.ZodType>(item: S) =>
  z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item).max(100));
export const flag = z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean());
/**
 * An integer. In a path or query string, only decimal digits are accepted: 0x1, 1e0, +1 and 01 are refused. A negative
 * number is read as a number, so that its refusal names the bound.
 */
export const whole = (min: number, max: number) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^(?:0|-?[1-9]\d{0,15})$/.test(value) ? Number(value) : value),
    z.number().int().min(min).max(max),
  );
export const time = z
  .union([z.number(), z.string().max(64)])
  .meta({ description: 'milliseconds since 1970, or ISO 8601' });
export const duration = z
  .union([z.number(), z.string().max(64)])
  .meta({ description: 'milliseconds, or a duration such as 30s or 1h30m' });
export const name = z.string().min(1).max(255).regex(/^[^\0]*$/, 'it must not contain NUL');
export const tags = z.record(z.string(), z.string());
export const fence = z.number().int().min(1);
export const why = z.string().min(1).max(1000);

export const RunParams = z.strictObject({ id: whole(1, Number.MAX_SAFE_INTEGER) });
export const DefParams = z.strictObject({ name });
export const InstanceParams = z.strictObject({ id: name });

export const RunFilter = z
  .strictObject({
    state: listOf(z.enum([...standingWords, 'open', 'ended'])).optional(),
    type: listOf(name).optional().meta({ description: 'names, or one GLOB pattern such as mail*' }),
    def: name.optional(),
    kind: listOf(z.enum(kindWords)).optional().meta({ description: 'default: run, bedrock' }),
    parent: whole(1, Number.MAX_SAFE_INTEGER).optional(),
    tag: repeated(z.string().max(600)).optional().meta({ description: 'name:value; with several, all must match' }),
    from: time.optional().meta({ description: 'created at or after' }),
    before: time.optional().meta({ description: 'created before' }),
    dueBefore: time.optional(),
    error: z.string().min(1).max(1000).optional().meta({ description: 'text in the message of the last error' }),
    payload: z.string().min(1).max(2000).optional().meta({ description: 'path:value, such as customer.id:42' }),
    q: z.string().min(1).max(1000).optional().meta({ description: 'text in type, definition, key, error or tags' }),
  })
  .meta({ id: 'RunFilter' });
export type RunFilter = z.infer<typeof RunFilter>;

export const pageFields = {
  after: whole(1, Number.MAX_SAFE_INTEGER).optional().meta({ description: 'the `next` of the previous page' }),
  limit: whole(1, 1000).optional(),
  order: z.enum(['newest', 'oldest']).optional(),
};

export const RunListQuery = RunFilter.extend({
  ...pageFields,
  with: listOf(z.enum(['progress'])).optional().meta({ description: 'progress: outline and task counts of open runs' }),
  inMemory: flag.optional().meta({ description: 'only runs that exist in this process, or only runs that do not' }),
}).meta({ id: 'RunListQuery' });

const Unique = z.union([
  z.string().min(1).max(512),
  z.strictObject({
    key: z.string().min(1).max(512), onTaken: z.enum(['keep', 'update']).optional(), for: duration.optional(),
  }),
]);

/** The due time of a job. `dueAt` (its name in answers) and `due` (its name in `Job`) are accepted, too. */
export const dueFields = {
  dueTime: time.optional(),
  dueAt: time.optional().meta({ description: 'another name of dueTime' }),
  due: time.optional().meta({ description: 'another name of dueTime' }),
};

export const FollowOn = z.enum(['succeeded', 'failed', 'ended']);
export const AfterFailure = z.enum(['cancel', 'run', 'wait']);

const runRequestFields = {
  input: z.unknown().optional(),
  ...dueFields,
  delay: duration.optional(),
  startBy: duration.optional(),
  priority: z.number().int().optional(),
  unique: Unique.optional(),
  tags: tags.optional(),
  after: z.array(z.number().int().min(1)).max(100_000).optional().meta({ description: 'ids of runs that it follows' }),
  on: FollowOn.optional()
    .meta({ description: 'which end of the runs in `after` starts it; default: all have succeeded' }),
  afterFailure: AfterFailure.optional()
    .meta({ description: 'what happens to it if a run in `after` does not succeed; default: cancel' }),
};

const followers = z.boolean().optional()
  .meta({ description: 'false: do not create runs of the definitions that follow the definition; default: true' });

export const RunRequest = z
  .strictObject({ type: name.optional(), def: name.optional(), ...runRequestFields, followers })
  .refine(({ type, def }) => (type === undefined) !== (def === undefined), 'specify either a type or a def')
  .meta({ id: 'RunRequest' });
export const DefRunRequest = z.strictObject({ ...runRequestFields, followers }).meta({ id: 'DefRunRequest' });
const FlowRunRequest = z
  .strictObject({
    name: name.meta({ description: 'unique within the flow' }),
    type: name.optional(),
    def: name.optional(),
    ...runRequestFields,
    input: z.unknown().optional()
      .meta({ description: 'each {"$result": name, "path": [...]} in it becomes the result of the named run, or a part of it' }),
    after: z.array(z.union([name, z.number().int().min(1)])).max(100_000).optional()
      .meta({ description: 'names of runs of the flow, and ids of stored runs, that it follows' }),
  })
  .meta({ id: 'FlowRunRequest' });
export const FlowRequest = z.strictObject({ runs: z.array(FlowRunRequest).max(100_000) }).meta({ id: 'FlowRequest' });
export const Act = z.strictObject({ why: why.optional() }).meta({ id: 'Act' });
export const BackfillRequest = z
  .strictObject({
    from: time,
    to: time,
    only: z.enum(['missing', 'all']).optional()
      .meta({ description: 'all: also retry the runs that have ended; default: missing' }),
    concurrency: whole(1, 1000).optional().meta({ description: 'how many of its runs may be open at a time; default: 1' }),
    followers,
    dryRun: z.boolean().optional().meta({ description: 'only count the ticks' }),
    why: why.optional(),
  })
  .meta({ id: 'BackfillRequest' });
/** The query of DELETE requests, which have no body: the reason for the action. */
export const ReasonQuery = z.strictObject({ why: why.optional() }).meta({ id: 'ReasonQuery' });
const pausedKey = z.string().min(1).max(512)
  .meta({ description: 'only jobs with this key; default: all jobs of the type' });
export const PauseRequest = z
  .strictObject({
    why,
    until: z.union([z.number(), z.string().min(1).max(64)]).optional()
      .meta({ description: 'a duration such as 2h, ISO 8601, or milliseconds since 1970; default: until it is resumed' }),
    key: pausedKey.optional(),
  })
  .meta({ id: 'PauseRequest' });
export const spread = duration
  .meta({ description: 'let out what piled up evenly over this time, such as 10m; default: all may start at once' });
export const ResumeRequest = z
  .strictObject({ why: why.optional(), key: pausedKey.optional(), spread: spread.optional() })
  .meta({ id: 'ResumeRequest' });
export const CancelRequest = z
  .strictObject({ why: why.optional(), grace: duration.optional() })
  .meta({ id: 'CancelRequest' });
export const RetryRequest = z
  .strictObject({
    why: why.optional(),
    only: z.literal('failed').optional(),
    downstream: z.enum(['all', 'failed']).optional(),
    from: z.string().min(1).max(255).optional()
      .meta({ description: 'the first step that the run forgets and executes again' }),
  })
  .meta({ id: 'RetryRequest' });
const GivenError = z.strictObject({
  message: z.string().min(1).max(16_000),
  id: z.string().max(200).optional().meta({ description: 'your own code of the error' }),
  data: z.unknown().optional(),
});
export const RunResult = z
  .strictObject({ result: z.unknown().optional(), why: why.optional() })
  .meta({ id: 'RunResult' });
export const RunFailure = z.strictObject({ error: GivenError, why: why.optional() }).meta({ id: 'RunFailure' });
const handOffToken = z.string().max(100).meta({ description: 'the token of context.handOff()' });
export const HandOffResult = z
  .strictObject({ token: handOffToken, result: z.unknown().optional() })
  .meta({ id: 'HandOffResult' });
export const HandOffFailure = z.strictObject({ token: handOffToken, error: GivenError }).meta({ id: 'HandOffFailure' });
const waitName = z.string().min(1).max(255).meta({ description: 'the name of the wait' });
export const AnswerRequest = z
  .strictObject({ name: waitName, value: z.unknown(), why: why.optional() })
  .meta({ id: 'AnswerRequest' });
const answerToken = z.string().max(100).meta({ description: 'the token that the handler got in notify' });
export const LinkRequest = z.strictObject({ token: answerToken }).meta({ id: 'LinkRequest' });
export const LinkAnswer = z.strictObject({ token: answerToken, value: z.unknown() }).meta({ id: 'LinkAnswer' });
export const QuestionQuery = z
  .strictObject({
    after: z.string().max(300).regex(/^\d{1,16}:./).optional().meta({ description: 'next of the page before' }),
    limit: whole(1, 200).optional(),
  })
  .meta({ id: 'QuestionQuery' });
export const RunEdit = z
  .strictObject({
    priority: z.number().int().optional(), ...dueFields, tags: tags.nullable().optional(),
    why: why.optional(),
  })
  .meta({ id: 'RunEdit' });

const scheduleText = z.string().min(1).max(1000);
export const ScheduleRequest = z
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
    z.looseObject({ kind: z.enum(['cron', 'every', 'repeat', 'at']) })
      .meta({ description: 'the form in which definitions show it' }),
  ])
  .meta({ id: 'ScheduleRequest' });
export type ScheduleRequest = z.infer<typeof ScheduleRequest>;

const MisfirePolicy = z.enum(['skip', 'once', 'all']);
const Misfire = z.union([
  MisfirePolicy,
  z.strictObject({
    policy: MisfirePolicy,
    window: duration.optional(),
    cap: z.number().int().optional(),
    grace: duration.optional(),
  }),
]);
const StoredMisfire = z.strictObject({
  policy: MisfirePolicy,
  windowMs: z.number().int(),
  cap: z.number().int(),
  graceMs: z.number().int().optional(),
}).meta({ description: 'the form in which definitions show it' });
export const Overlap = z.enum(['allow', 'skip', 'queue', 'replace']);
const retryFields = {
  attempts: z.number().int(),
  backoff: z.enum(['fixed', 'linear', 'exponential']),
  base: duration,
  max: duration,
  jitter: z.number(),
  crashes: z.number().int(),
};
const OnTaskFailure = z.union([
  z.enum(['collect', 'failFast']),
  z.strictObject({ tolerate: z.number().int() }),
  z.strictObject({ toleratePercent: z.number() }),
]);

/**
 * The settings of a definition, with the names of the options of `jobDef`. Used to create and to override a definition.
 */
const defFields = {
  params: z.unknown().meta({
    description: 'each {"$result": name, "path": [...]} in it becomes the result of the named definition in `after`, or a part of it',
  }),
  schedules: z.array(ScheduleRequest).max(100),
  after: z.array(name).max(1000).meta({ description: 'names of definitions that it follows, instead of schedules' }),
  on: FollowOn,
  afterFailure: AfterFailure,
  overlap: Overlap,
  misfire: Misfire,
  concurrency: z.number().int().min(1),
  manualRuns: z.boolean(),
  leaderOnly: z.boolean(),
  onePerType: z.boolean().meta({ description: 'true only if the job type says so; false has no effect' }),
  priority: z.number().int(),
  timeout: duration,
  prepareTimeout: duration,
  retention: duration,
  retry: z.strictObject(retryFields).partial(),
  onTaskFailure: OnTaskFailure,
  tags,
};

export const DefCreation = z
  .strictObject({ name, type: name, enabled: z.boolean().optional(), ...z.object(defFields).partial().shape })
  .meta({ id: 'DefCreation' });

export const defFilterFields = {
  match: z.string().min(1).max(256).optional().meta({ description: 'a GLOB pattern of names, such as mail*' }),
  names: repeated(name).optional().meta({ description: 'only these definitions' }),
  q: z.string().max(255).optional().meta({ description: 'a part of the name; upper and lower case are alike' }),
  type: name.optional(),
  tag: repeated(z.string().max(600)).optional().meta({ description: 'name:value; with several, all must match' }),
  status: z.enum(['enabled', 'disabled', 'undeclared', 'late']).optional()
    .meta({ description: 'late: the next tick was due more than a minute ago' }),
  lastOutcome: z.enum(['COMPLETED', 'STOPPED', 'FAILED', 'NOT_STARTED']).optional()
    .meta({ description: 'how the run that ended last has ended' }),
};

const documentFields = {
  definitions: z.array(z.record(z.string(), z.unknown()))
    .meta({ description: 'whole definitions, with the fields of DefCreation' }),
  overrides: z.array(z.record(z.string(), z.unknown()))
    .meta({ description: 'overrides of declared definitions: name, enabled, and the fields of DefOverride' }),
};
export const DefDocument = z.object(documentFields).meta({ id: 'DefDocument' });
export const DefApplication = z
  .strictObject({
    ...z.object(documentFields).partial().shape,
    prune: z.boolean().optional()
      .meta({ description: 'delete definitions, and remove overrides, that the document does not have' }),
    match: z.string().min(1).max(256).optional().meta({ description: 'prune only names that match this pattern' }),
    digest: z.string().max(64).optional()
      .meta({ description: 'of a plan: refused if the definitions have changed since then' }),
    dryRun: z.boolean().optional(),
    why: why.optional(),
  })
  .meta({ id: 'DefApplication' });
export const DefSwitch = z
  .strictObject({ ...defFilterFields, enabled: z.boolean(), dryRun: z.boolean().optional(), why: why.optional() })
  .refine((body) => Object.keys(defFilterFields).some((field) => field in body), 'give match or another filter')
  .meta({ id: 'DefSwitch' });
export const DefClone = z
  .strictObject({ name, enabled: z.boolean().optional(), why: why.optional() })
  .meta({ id: 'DefClone' });
export const DefRename = z.strictObject({ name, why: why.optional() }).meta({ id: 'DefRename' });

const limitMax = z.number().int().nullable().optional();

/**
 * An override, merged into the previous one. Omitted fields stay as they were; null removes a field from the override,
 * so that the declared setting applies again. Exception: `params: null` makes null the input of the runs.
 */
export const DefOverride = z
  .strictObject({
    ...z.object(defFields).partial().shape,
    schedules: defFields.schedules.nullable().optional(),
    after: defFields.after.nullable().optional(),
    on: FollowOn.nullable().optional(),
    afterFailure: AfterFailure.nullable().optional(),
    overlap: Overlap.nullable().optional(),
    misfire: z.union([Misfire, StoredMisfire]).nullable().optional(),
    concurrency: defFields.concurrency.nullable().optional(),
    manualRuns: z.boolean().nullable().optional(),
    leaderOnly: z.boolean().nullable().optional(),
    onePerType: defFields.onePerType.nullable().optional(),
    priority: defFields.priority.nullable().optional(),
    timeout: duration.nullable().optional(),
    prepareTimeout: duration.nullable().optional(),
    retention: duration.nullable().optional(),
    retry: z.strictObject({
      attempts: retryFields.attempts.nullable().optional(),
      backoff: retryFields.backoff.nullable().optional(),
      base: duration.nullable().optional(),
      max: duration.nullable().optional(),
      jitter: retryFields.jitter.nullable().optional(),
      crashes: retryFields.crashes.nullable().optional(),
    }).nullable().optional(),
    onTaskFailure: OnTaskFailure.nullable().optional(),
    tags: tags.nullable().optional(),
    policy: z.record(z.string(), z.unknown()).nullable().optional()
      .meta({ description: 'timeout, retry and the like in the form in which definitions show them' }),
    gate: z.strictObject({ typeMax: limitMax, defMax: limitMax }).nullable().optional()
      .meta({ description: 'concurrency in the form in which definitions show it' }),
    limitKey: z.string().nullable().optional(),
    why: why.optional(),
  })
  .meta({ id: 'DefOverride' });

export const BulkRequest = z
  .strictObject({
    action: z.enum(bulkActions),
    filter: RunFilter,
    dryRun: z.boolean().optional(),
    only: z.literal('failed').optional().meta({ description: 'retry only the failed tasks of runs with tasks' }),
    fingerprint: z.string().regex(/^[0-9a-f]{16}$/).optional()
      .meta({ description: 'only failures of this group; for tasks, their runs are retried' }),
    why: why.optional(),
  })
  .meta({ id: 'BulkRequest' });
