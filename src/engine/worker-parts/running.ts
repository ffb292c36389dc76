/** The running part of a worker: slots that start claimed jobs, the runner, and the writers of outcomes and notes. */
import type { Jobs } from '../../jobs.ts';
import type { Job, RunningJob } from '../../model/job.ts';
import type { Holding } from '../../store/store.ts';
import type { LoopParts } from '../../time/loop.ts';
import type { MaybePromise } from '../../time/maybe-promise.ts';
import { batchWaitMs } from '../declare/batch.ts';
import type { TypeRegistry } from '../declare/type-registry.ts';
import type { AroundWork } from '../declare/work-middleware.ts';
import type { Isolation } from '../isolation/isolation.ts';
import { Gathering } from '../loops/gathering.ts';
import type { InstanceCommands } from '../loops/instance-commands.ts';
import type { InstanceLease } from '../loops/lease.ts';
import { Slots } from '../loops/slots.ts';
import { StartingJobs } from '../loops/starting-jobs.ts';
import { Notes } from '../progress/notes.ts';
import { AttemptCounts } from '../attempt/attempt-counts.ts';
import { Attempts } from '../attempt/attempts.ts';
import type { DraftChild } from '../attempt/child-runs.ts';
import { JobBatch, type SlotWork } from '../attempt/job-batch.ts';
import { Finisher } from '../attempt/finisher.ts';
import type { JobWatchers } from '../attempt/job-watchers.ts';
import { Runner } from '../attempt/runner.ts';
import type { TimeLimits } from '../attempt/time-limits.ts';
import type { Tracing } from '../attempt/tracing.ts';

export interface RunningNeeds extends LoopParts {
  readonly jobs: Jobs;
  readonly instance: string;
  readonly registry: TypeRegistry;
  readonly isolation: Isolation;
  readonly aroundWork: AroundWork | null;
  /** Stands before the idempotency keys of in-memory jobs, whose ids start anew with each process. */
  readonly keyPrefix?: string;
  /** Whether the logger must not receive messages of handlers' errors, because stored payloads are encoded. */
  readonly hidesErrors: boolean;
  readonly tracing: Tracing;
  readonly watchers: JobWatchers;
  readonly slots: number;
  readonly timeLimits: TimeLimits;
  /** Call before the jobs of a batch start that may have been gathered for some time. */
  readonly beforeStart: (jobs: readonly Holding[]) => Promise<void>;
  readonly draftChildren: () => DraftChild;
  readonly mayOthersAccept: (job: Job) => Promise<boolean>;
  /** Absent for the worker of memory: only the worker of the database receives commands. */
  readonly instanceCommands?: InstanceCommands;
}

export interface RunningPart {
  readonly attempts: Attempts;
  readonly counts: AttemptCounts;
  readonly finisher: Finisher;
  readonly notes: Notes;
  readonly runner: Runner;
  readonly slots: Slots<SlotWork>;
  readonly gathering: Gathering;
  readonly starting: StartingJobs;
}

/**
 * Creates the running part. `follow` plans the next tick of a definition. It is called for runs whose schedule counts
 * from the start or the end of the run: when the run starts, and when its outcome is stored.
 */
export function running(
  parts: RunningNeeds,
  lease: InstanceLease,
  follow: (def: number) => Promise<void>,
  isDraining: () => boolean,
): RunningPart {
  const { jobs, instance: by, clock } = parts;
  const attempts = new Attempts(parts.random);
  const finisher = new Finisher(jobs, by, parts);
  const onLost = (id: number, fence: number): void => attempts.under({ id, fence })?.revoke();
  const notes = new Notes({ store: jobs.store, clock, onLost, onOutput: (id) => parts.watchers.notify([id]) });
  const onOutcomeStored = ({ tick }: RunningJob): MaybePromise<void> =>
    tick?.isAwaited ? follow(tick.def) : undefined;
  const counts = new AttemptCounts();
  const runner = new Runner({ ...parts, by, leaseEpoch: () => lease.epoch, attempts, finisher, notes, counts, onOutcomeStored });
  const starting = new StartingJobs(lease, (job) => finisher.release(job));
  const mayStart = (): boolean => lease.isSafe && !isDraining();
  const slots = new Slots<SlotWork>(parts.slots, { work: workOn(parts, runner, finisher, starting, follow), mayStart });
  const gathering = new Gathering({
    clock,
    typeOf: (name) => parts.registry.require(name),
    now: () => jobs.store.now(),
    start: (work) => slots.add([work]),
    freeSlots: () => slots.unreserved,
    postpone: (job, ms) => finisher.release(job, jobs.store.now() + ms),
  });
  return { attempts, counts, finisher, notes, runner, slots, gathering, starting };
}

function workOn(
  { instanceCommands, jobs, logger, beforeStart }: RunningNeeds,
  runner: Runner,
  finisher: Finisher,
  starting: StartingJobs,
  follow: (def: number) => Promise<void>,
) {
  const execute = async (job: RunningJob, commands: InstanceCommands): Promise<void> => {
    const command = await commands.execute(job);
    await new Promise((resolve) => finisher.finish({ job, command }, resolve));
  };
  /** Drops jobs that were stopped, and releases those that were cancelled, while the batch was gathered. */
  const dropCancelled = async (batch: JobBatch): Promise<void> => {
    const current = new Map((await jobs.store.load(batch.jobs.map(({ id }) => id))).map((job) => [job.id, job]));
    const isHeld = ({ id, fence }: RunningJob): boolean =>
      current.get(id)?.state === 'running' && current.get(id)!.fence === fence;
    const cancelled = batch.jobs.filter((job) => isHeld(job) && current.get(job.id)!.cancel !== null);
    batch.drop((job) => !isHeld(job) || cancelled.includes(job));
    await Promise.all(cancelled.map((job) => finisher.release(job)));
  };
  const prepareBatch = async (batch: JobBatch): Promise<void> => {
    await beforeStart(batch.jobs).catch((error: unknown) => {
      logger.warn('cannot store that a batch starts; a crash may not count as a crash of its jobs', { error });
    });
    await dropCancelled(batch).catch((error: unknown) => {
      logger.warn('cannot find out which jobs of a batch were cancelled; they are told when it runs', { error });
    });
  };
  const beforeBatch = async (batch: JobBatch): Promise<void> => {
    if (batchWaitMs(batch.type.options.batch!) > 0) await prepareBatch(batch);
    for (const { tick } of batch.jobs.filter((job) => job.tick?.isAwaited)) await follow(tick!.def);
  };
  return (job: SlotWork): MaybePromise<void> => {
    if (job instanceof JobBatch) return starting.startAfter(job, () => beforeBatch(job), () => runner.runBatch(job));
    if (job.type === instanceCommands?.type) return execute(job, instanceCommands);
    const { tick } = job;
    return tick?.isAwaited ? starting.startAfter(job, () => follow(tick.def), () => runner.run(job)) : runner.run(job);
  };
}
