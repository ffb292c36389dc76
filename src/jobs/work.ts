/** Working on jobs: claim, finish, fail, give back, plan tasks, hand off. Every write carries the fence of its claim. */
import { applyEach, applyTogether, claim, unknownJob, type Answer, type Ask, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Job, RunningJob } from '../model/job.ts';
import { step } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { Batch, Store } from '../store/store.ts';
import type { WorkAsk } from './ask.ts';
import { settleAfter } from './settle.ts';

/** The jobs now held. What turned out to be cancelled or too late ended instead and is not among them. */
export async function claimJobs(store: Store, { holder, leaseMs, ...ask }: WorkAsk): Promise<readonly RunningJob[]> {
  const changes = await claim(store, ask, holder, leaseMs);
  await settleAfter(store, changes, { by: holder });
  return changes.map(({ after }) => after!).filter((job): job is RunningJob => job.state === 'running');
}

/** Outcomes of several jobs in as few writes as possible; each answer is a change or a refusal. */
export async function conclude(store: Store, asks: readonly Ask[], asker: Asker): Promise<readonly Answer[]> {
  const answers = await applyEach(store, asks, asker);
  await settleAfter(store, answers.filter((answer): answer is Change => !(answer instanceof Refusal)), asker);
  return answers;
}

interface Planning {
  readonly fence: number;
  /** JSON text that the tasks share. */
  readonly details?: string;
  readonly by: string;
}

/** Stores a run's tasks and lets it wait for them, in one commit. */
export const planTasks = (store: Store, run: Job, planning: Planning & { readonly tasks: readonly Change[] }): Promise<Job> =>
  plan(store, run, { ...planning, count: planning.tasks.length }, planning.tasks);

/** The same for tasks that were staged in pieces. */
export const planStaged = (store: Store, run: Job, planning: Planning & { readonly count: number }): Promise<Job> =>
  plan(store, run, planning, [], { parent: run.id, fence: planning.fence });

async function plan(
  store: Store,
  run: Job,
  { fence, details, by, count }: Planning & { readonly count: number },
  births: readonly Change[],
  staged?: Batch['staged'],
): Promise<Job> {
  let seen: Job | undefined = run;
  const command = { do: 'plan', fence, tasks: count, ...(details === undefined ? {} : { details }) } as const;
  const decide = async (): Promise<readonly Change[] | Refusal> => {
    const job: Job | undefined = seen ?? (await store.load([run.id]))[0];
    seen = undefined;
    if (!job) return unknownJob(run.id);
    const planned = step(job, command, { by, now: store.now() });
    if (planned instanceof Refusal) return planned;
    return planned.after?.state === 'ended' ? [planned] : [planned, ...births];
  };
  // A run that was cancelled while it prepared ends, and its tasks are never born.
  const [change] = await applyTogether(store, decide, ([planned]) => (planned?.after?.state === 'ended' ? undefined : staged));
  return change!.after!;
}
