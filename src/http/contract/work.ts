/** The schemas of the worker API. */
import { z } from 'zod';
import { dueFields, duration, fence, name, tags, time } from './requests.ts';
import { count, instant, RunView } from './run-views.ts';
import { errorWords, kindWords, levelWords, phaseWords, standingWords } from './words.ts';

export const WorkClaimRequest = z
  .strictObject({
    worker: z.string().min(1).max(100).meta({ description: 'a unique name of the worker' }),
    types: z.array(name).min(1).max(1000),
    versions: z
      .array(z.strictObject({ type: name, from: z.number().int().min(1), to: z.number().int().min(1) }))
      .max(1000).optional()
      .meta({
        description: 'the versions of its types that the worker knows; of other types, it gets jobs of the version with ' +
          'which new runs are created',
      }),
    limit: z.number().int().min(1).max(100).optional(),
    leaseMs: z.number().int().min(1000).max(86_400_000).optional().meta({ description: 'default: 30 seconds' }),
    waitMs: z.number().int().min(0).max(60_000).optional().meta({ description: 'how long to wait for work' }),
  })
  .meta({ id: 'WorkClaimRequest' });

export const ClaimedView = z
  .object({
    id: z.number().int(),
    fence: count.meta({ description: 'send it with every write' }),
    type: z.string(),
    typeVersion: count.meta({ description: 'the version of the type for which the input was made' }),
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
      .meta({ description: 'the first 1000 ended children, when a parent is claimed again after them' }),
  })
  .meta({ id: 'Claimed' });
export type ClaimedView = z.infer<typeof ClaimedView>;

export const HeartbeatRequest = z
  .strictObject({ fence, leaseMs: z.number().int().min(1000).max(86_400_000).optional() })
  .meta({ id: 'HeartbeatRequest' });
export const HeartbeatReply = z
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
export const ProgressRequest = z
  .strictObject({ fence, steps: z.array(ProgressStep).min(1).max(1000) })
  .meta({ id: 'ProgressRequest' });
export const LogLinesRequest = z
  .strictObject({
    fence,
    lines: z.array(z.strictObject({
      level: z.enum(levelWords).optional(), text: z.string().max(16_000),
    })).min(1).max(1000),
  })
  .meta({ id: 'LogLinesRequest' });
const ChildRequest = z.strictObject({
  type: name,
  key: z.string().min(1).max(512).optional(),
  input: z.unknown().optional(),
  ...dueFields,
  priority: z.number().int().optional(),
  tags: tags.optional(),
});
export const ChildrenRequest = z
  .strictObject({ fence, children: z.array(ChildRequest).min(1).max(1000) })
  .meta({ id: 'ChildrenRequest' });
export const CompleteRequest = z
  .strictObject({ fence, result: z.unknown().optional() })
  .meta({ id: 'CompleteRequest' });
export const FailRequest = z
  .strictObject({
    fence,
    error: z.strictObject({
      message: z.string().max(16_000),
      code: z.enum(errorWords).optional(),
      name: z.string().max(200).optional(),
      id: z.string().max(200).optional().meta({ description: 'your own code of the error' }),
      data: z.unknown().optional(),
      stack: z.string().max(64_000).optional(),
    }),
    retryable: z.boolean().optional(),
    retryAt: time.optional(),
    retryAfter: duration.optional().meta({ description: 'the wait until the retry, by the clock of the server' }),
  })
  .refine(({ retryAt, retryAfter }) => retryAt === undefined || retryAfter === undefined,
    'specify either retryAt or retryAfter')
  .meta({ id: 'FailRequest' });
export const ReleaseRequest = z
  .strictObject({
    fence,
    ...dueFields,
    delay: duration.optional().meta({ description: 'the wait until the job is due again, by the clock of the server' }),
    rateLimited: z.strictObject({ limit: name, retryAfter: duration }).optional().meta({
      description: 'closes a named limit of the job for this long, at most 24 hours, for all jobs; the job is due again after it',
    }),
  })
  .refine(({ delay, dueTime, dueAt, due }) => delay === undefined || (dueTime ?? dueAt ?? due) === undefined,
    'specify either a due time or a delay')
  .meta({ id: 'ReleaseRequest' });
export const SpendRequest = z.strictObject({ fence, limit: name, cost: z.number() }).meta({ id: 'SpendRequest' });
export const WorkReply = z
  .object({ id: z.number().int(), standing: z.enum(standingWords), isCancelled: z.boolean() })
  .meta({ id: 'WorkReply' });
