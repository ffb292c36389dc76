/**
 * Working on jobs: claim, finish, fail, release, plan tasks. The commands of a worker after the claim have the fence of
 * the claim.
 */
import {
  applyEach, applyTogether, claim, isChange, unknownJob, type CommandAnswer, type CommandRequest, type Asker,
} from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import type { Edit } from '../model/event.ts';
import type { Job, RunningJob } from '../model/job.ts';
import { step, steps, type Asking } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { Batch, Store } from '../store/store.ts';
import type { WorkRequest } from './checks/claim.ts';
import { openChildren, settleAfter } from './settle.ts';

export interface ClaimedJobs {
  /**
   * The claimed jobs. A job ends instead of being claimed if it or its parent was asked to cancel, or if it is past its
   * `startBy`. Such a job is not in this list.
   */
  readonly jobs: readonly RunningJob[];
  /** The store time of the search. Pass it to `nextDue`, so that jobs that became due after the search are found. */
  readonly searchedAt: number;
}

export async function claimJobs(store: Store, { holder, leaseMs, ...request }: WorkRequest): Promise<ClaimedJobs> {
  const { changes, searchedAt } = await claim(store, request, holder, leaseMs);
  await settleAfter(store, changes, { by: holder });
  const jobs = changes.map(({ after }) => after!).filter((job): job is RunningJob => job.state === 'running');
  return { jobs, searchedAt };
}

/** Stores the outcomes of several jobs, if possible in one commit; returns the change or the refusal of each. */
export async function conclude(
  store: Store,
  requests: readonly CommandRequest[],
  asker: Asker,
): Promise<readonly CommandAnswer[]> {
  const answers = [...(await applyEach(store, requests, asker))];
  for (let index = 0; index < answers.length; index += 1) {
    if (isWaitedFor(answers[index]!)) answers[index] = await releaseChildren(store, requests[index]!, asker);
  }
  await settleAfter(store, answers.filter(isChange), asker);
  return answers;
}

/** Whether the outcome `succeed` was refused because the job has children that wait for it. */
const isWaitedFor = (answer: CommandAnswer): boolean =>
  answer instanceof Refusal && answer.detail['childrenWait'] === true;

/**
 * Handles the success of a parent whose children wait for it: the children can be claimed now, and the parent waits for
 * them. When the last child has ended, the parent becomes due once more.
 */
async function releaseChildren(store: Store, { job, command }: CommandRequest, asker: Asker): Promise<CommandAnswer> {
  const id = typeof job === 'number' ? job : job.id;
  const fence = 'fence' in command ? (command.fence ?? 0) : 0;
  try {
    const [change] = await applyTogether(store, () => childReleases(store, id, fence, { ...asker, now: store.now() }));
    return change!;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

async function childReleases(
  store: Store,
  id: number,
  fence: number,
  asking: Asking,
): Promise<readonly Change[] | Refusal> {
  const [parent] = await store.load([id]);
  if (!parent) return unknownJob(id);
  const children = (await Array.fromAsync(openChildren(store, id))).flat();
  const planned = step(parent, { do: 'plan', fence, tasks: children.length }, asking);
  if (planned instanceof Refusal) return planned;
  const isWaiting = planned.after?.state === 'held';
  return [planned, ...(isWaiting ? children.map((child) => step(child, { do: 'free' }, asking)).filter(isChange) : [])];
}

export interface Planning {
  readonly fence: number;
  /** JSON text of data that the tasks share. */
  readonly details?: string;
  readonly by: string;
  /** An edit of the run in the same commit. */
  readonly edit?: Pick<Edit, 'input' | 'typeVersion'>;
}

/** Stores the tasks of a run and makes the run wait for them, in one commit. */
export const planTasks = (
  store: Store,
  run: Job,
  planning: Planning & { readonly tasks: readonly Change[] },
): Promise<Job> => plan(store, run, { ...planning, count: planning.tasks.length }, planning.tasks);

/** Makes a run wait for tasks that were staged before, and makes the tasks visible, in one commit. */
export const planStaged = (store: Store, run: Job, planning: Planning & { readonly count: number }): Promise<Job> =>
  plan(store, run, planning, [], { parent: run.id, fence: planning.fence });

async function plan(
  store: Store,
  run: Job,
  { fence, details, by, count, edit }: Planning & { readonly count: number },
  newJobs: readonly Change[],
  staged?: Batch['staged'],
): Promise<Job> {
  let seen: Job | undefined = run;
  const command = { do: 'plan', fence, tasks: count, ...(details === undefined ? {} : { details }) } as const;
  const decide = async (): Promise<readonly Change[] | Refusal> => {
    const job: Job | undefined = seen ?? (await store.load([run.id]))[0];
    seen = undefined;
    if (!job) return unknownJob(run.id);
    const before: readonly Command[] = edit === undefined ? [] : [{ do: 'edit', edit, fence }];
    const planned = steps(job, [...before, command], { by, now: store.now() });
    if (planned instanceof Refusal) return planned;
    return planned.after?.state === 'ended' ? [planned] : [planned, ...newJobs];
  };
  // A run that was asked to cancel while it planned its tasks ends here, and its tasks are not created.
  const [change] = await applyTogether(store, decide, ([planned]) =>
    (planned?.after?.state === 'ended' || staged === undefined ? {} : { staged }),
  );
  return change!.after!;
}
