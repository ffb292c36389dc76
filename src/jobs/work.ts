/** Working on jobs: claim, finish, fail, give back, plan tasks, hand off. Every write carries the fence of its claim. */
import { applyEach, applyTogether, claim, type Answer, type Ask, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import type { Job, RunningJob } from '../model/job.ts';
import { step } from '../model/machine.ts';
import { Refusal } from '../refusal.ts';
import type { ClaimAsk, Store } from '../store/store.ts';
import { settleAfter } from './settle.ts';

export interface WorkAsk extends ClaimAsk {
  readonly holder: string;
  /** How long the lease lasts; null: as long as the holder's instance lives. */
  readonly leaseMs: number | null;
}

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

/** Stores a run's tasks and lets it wait for them, in one commit. */
export async function planTasks(store: Store, run: Job, fence: number, tasks: readonly Change[], by: string): Promise<Job> {
  return planned(store, run, { fence, tasks: tasks.length, by }, tasks);
}

/** The same for tasks that were staged in pieces. */
export async function planStaged(store: Store, run: Job, fence: number, count: number, by: string): Promise<Job> {
  return planned(store, run, { fence, tasks: count, by }, [], { parent: run.id, fence });
}

async function planned(
  store: Store,
  run: Job,
  { fence, tasks, by }: { fence: number; tasks: number; by: string },
  births: readonly Change[],
  staged?: { parent: number; fence: number },
): Promise<Job> {
  let seen: Job | undefined = run;
  const [change] = await applyTogether(
    store,
    async () => {
      const job: Job | undefined = seen ?? (await store.load([run.id]))[0];
      seen = undefined;
      if (!job) return new Refusal('unknown.job', `there is no job ${run.id}`, { id: run.id });
      const plan = step(job, { do: 'plan', fence, tasks }, { by, now: store.now() });
      if (plan instanceof Refusal) return plan;
      return plan.after?.state === 'ended' ? [plan] : [plan, ...births];
    },
    staged,
  );
  return change!.after!;
}
