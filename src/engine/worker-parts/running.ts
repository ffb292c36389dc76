/** The running part of a worker: slots that start claimed jobs, the runner, and the writers of outcomes and notes. */
import type { Jobs } from '../../jobs.ts';
import type { RunningJob } from '../../model/job.ts';
import type { LoopParts } from '../../time/loop.ts';
import type { MaybePromise } from '../../time/maybe-promise.ts';
import type { TypeRegistry } from '../declare/type-registry.ts';
import type { AroundWork } from '../declare/work-middleware.ts';
import type { Isolation } from '../isolation/isolation.ts';
import type { InstanceCommands } from '../loops/instance-commands.ts';
import type { InstanceLease } from '../loops/lease.ts';
import { Slots } from '../loops/slots.ts';
import { Notes } from '../progress/notes.ts';
import { Attempts } from '../attempt/attempts.ts';
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
  /** Whether the logger must not receive messages of handlers' errors, because stored payloads are encoded. */
  readonly hidesErrors: boolean;
  readonly tracing: Tracing;
  readonly watchers: JobWatchers;
  readonly slots: number;
  readonly timeLimits: TimeLimits;
  readonly hasNewerBuildWith: (type: string) => Promise<boolean>;
  /** Absent for the worker of memory: only the worker of the database receives commands. */
  readonly instanceCommands?: InstanceCommands;
}

export interface RunningPart {
  readonly attempts: Attempts;
  readonly finisher: Finisher;
  readonly notes: Notes;
  readonly runner: Runner;
  readonly slots: Slots<RunningJob>;
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
  const notes = new Notes({ store: jobs.store, clock, onLost });
  const onOutcomeStored = ({ tick }: RunningJob): MaybePromise<void> =>
    tick?.isAwaited ? follow(tick.def) : undefined;
  const runner = new Runner({ ...parts, by, attempts, finisher, notes, onOutcomeStored });
  const mayStart = (): boolean => lease.isSafe && !isDraining();
  const slots = new Slots(parts.slots, { work: workOn(parts, runner, finisher, follow), mayStart });
  return { attempts, finisher, notes, runner, slots };
}

function workOn(
  { instanceCommands }: RunningNeeds,
  runner: Runner,
  finisher: Finisher,
  follow: (def: number) => Promise<void>,
) {
  const followAndRun = async (job: RunningJob, def: number): Promise<void> => {
    await follow(def);
    await runner.run(job);
  };
  const execute = async (job: RunningJob, commands: InstanceCommands): Promise<void> => {
    const command = await commands.execute(job);
    await new Promise((resolve) => finisher.finish({ job, command }, resolve));
  };
  return (job: RunningJob): MaybePromise<void> => {
    if (job.type === instanceCommands?.type) return execute(job, instanceCommands);
    return job.tick?.isAwaited ? followAndRun(job, job.tick.def) : runner.run(job);
  };
}
