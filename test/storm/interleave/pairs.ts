// Pairs of operations that meet on the same jobs: the scene, what both do, and what may come of it.
import type { Jobs } from '../../../src/jobs.ts';
import { declare, override } from '../../../src/jobs/define.ts';
import type { Draft } from '../../../src/jobs/draft.ts';
import { tickDue } from '../../../src/jobs/tick.ts';
import { planTasks } from '../../../src/jobs/work.ts';
import { reap } from '../../../src/engine/loops/reaper.ts';
import { every } from '../../../src/index.ts';
import type { Spec } from '../../../src/model/definition.ts';
import type { Event } from '../../../src/model/event.ts';
import type { Job, RunningJob } from '../../../src/model/job.ts';
import { born } from './scene.ts';

export interface Pair {
  readonly name: string;
  /** Sets the scene on an undisturbed store; `pass` lets time go by. */
  readonly scene: (jobs: Jobs, pass: Pass) => Promise<Scene>;
}

export type Pass = (ms: number) => Promise<void>;

export interface Scene {
  readonly deeds: readonly [Deed, Deed];
  /** What is wrong with what came of it, beyond what every store must hold; null: nothing. */
  readonly wrong: (outcome: Outcome) => string | null;
}

export type Deed = (jobs: Jobs) => Promise<unknown>;

export interface Outcome {
  /** What each deed answered; a refusal is an answer. */
  readonly answers: readonly [unknown, unknown];
  readonly jobs: readonly Job[];
  readonly history: (id: number) => readonly Event[];
}

const asker = { by: 'someone' };
const plain: Draft = { type: 'plain' };
const result = '{"done":true}';

const create = async (jobs: Jobs, draft: Draft = plain): Promise<number> => (await jobs.create(draft, 'someone')).id;

const claim = (holder: string, more: object = {}): ((jobs: Jobs) => Promise<readonly RunningJob[]>) => (jobs) =>
  jobs.claim({ kinds: ['run', 'task'], names: { glob: '*' }, limit: 1, holder, leaseMs: 60_000, ...more });

async function held(jobs: Jobs, draft: Draft = plain, leaseMs = 60_000): Promise<RunningJob> {
  await create(jobs, draft);
  return (await claim('ann', { leaseMs })(jobs))[0]!;
}

/** Held, and the lease is over. */
async function late(jobs: Jobs, pass: Pass): Promise<RunningJob> {
  const job = await held(jobs, plain, 1);
  await pass(10);
  return job;
}

/** A run that waits for two tasks, both held. */
async function family(jobs: Jobs): Promise<readonly RunningJob[]> {
  const run = await held(jobs, { ...plain, phase: 'prepare' });
  const tasks = await born(jobs, run.id, 2);
  await planTasks(jobs.store, run, { fence: run.fence, by: 'ann', tasks });
  return jobs.claim({ kinds: ['task'], names: { glob: '*' }, limit: 2, holder: 'ann', leaseMs: 60_000 });
}

const misfire = { policy: 'all', windowMs: 60_000, cap: 100 } as const;
const spec: Spec = {
  type: 'plain', params: null, schedules: [every('1s')], policy: {}, priority: 0, overlap: 'allow', misfire,
  onePerType: false, inMemory: false, manualRuns: true, tags: null, phase: 'run', gate: null, limitKey: null,
};

/** A definition that has ticks to answer. */
async function overdue(jobs: Jobs, pass: Pass): Promise<void> {
  await declare(jobs, 'def', spec, true, 'someone');
  await pass(1_050);
}

const stateOf = ({ jobs }: Outcome, id: number): string => {
  const job = jobs.find((each) => each.id === id);
  return job === undefined ? 'gone' : job.state === 'ended' ? job.fate : job.state;
};
const count = (outcome: Outcome, id: number, kind: Event['kind']): number =>
  outcome.history(id).filter((event) => event.kind === kind).length;
const isRefused = (answer: unknown): boolean => answer instanceof Error;
const oneOf = (found: string, ...allowed: readonly string[]): string | null =>
  allowed.includes(found) ? null : `it is ${found}, and not ${allowed.join(' or ')}`;

const takenBy = ({ answers }: Outcome): number[] => answers.flatMap((jobs) => (jobs as Job[]).map(({ id }) => id));

export const pairs: readonly Pair[] = [
  {
    name: 'claim and claim, of one job',
    scene: async (jobs) => {
      await create(jobs);
      return {
        deeds: [claim('ann'), claim('bob')],
        wrong: (outcome) => (takenBy(outcome).length === 1 ? null : `${takenBy(outcome).length} have it`),
      };
    },
  },
  {
    name: 'claim and claim, of two jobs',
    scene: async (jobs) => {
      await jobs.createMany([plain, plain], 'someone');
      return {
        deeds: [claim('ann'), claim('bob')],
        wrong: (outcome) => (new Set(takenBy(outcome)).size === 2 ? null : 'a job waits though somebody asked for it'),
      };
    },
  },
  {
    name: 'claim and claim, where only one may run (S32)',
    scene: async (jobs) => {
      const draft = { ...plain, gate: { typeMax: 1 } };
      await jobs.createMany([draft, draft], 'someone');
      const limits = { types: new Map([['plain', 1]]), defs: new Map(), keys: new Map() };
      return {
        deeds: [claim('ann', { limits }), claim('bob', { limits })],
        wrong: (outcome) => (takenBy(outcome).length === 1 ? null : `${takenBy(outcome).length} run at a time`),
      };
    },
  },
  {
    name: 'claim and cancel',
    scene: async (jobs) => {
      const id = await create(jobs);
      return {
        deeds: [claim('ann'), (mine) => mine.cancel(id, asker)],
        wrong: (outcome) => {
          const isTold = outcome.jobs[0]!.cancel !== null;
          return isTold ? oneOf(stateOf(outcome, id), 'cancelled', 'running') : 'nobody told it to give up';
        },
      };
    },
  },
  {
    name: 'claim of a task and cancel of its run (S16)',
    scene: async (jobs) => {
      const [one, other] = await family(jobs);
      for (const task of [one!, other!]) await jobs.release(task, task.fence, asker);
      return {
        deeds: [claim('bob', { kinds: ['task'] }), (mine) => mine.cancel(one!.parent!, asker)],
        wrong: ({ jobs: found }) =>
          found.some((job) => job.state === 'running' && job.cancel === null) ? 'a task was not told' : null,
      };
    },
  },
  {
    name: 'finish and cancel (S17)',
    scene: async (jobs) => {
      const { id, fence } = await held(jobs);
      return {
        deeds: [(mine) => mine.succeed(id, fence, asker, result), (mine) => mine.cancel(id, asker)],
        wrong: (outcome) => oneOf(stateOf(outcome, id), 'succeeded', 'cancelled'),
      };
    },
  },
  {
    name: 'finish and lapse (S4)',
    scene: async (jobs, pass) => {
      const { id, fence } = await late(jobs, pass);
      return {
        deeds: [(mine) => mine.succeed(id, fence, asker, result), (mine) => reap(mine, 'bob')],
        wrong: (outcome) =>
          oneOf(stateOf(outcome, id), isRefused(outcome.answers[0]) ? 'pending' : 'succeeded'),
      };
    },
  },
  {
    name: 'extend and lapse (S6)',
    scene: async (jobs, pass) => {
      const { id, fence } = await late(jobs, pass);
      return {
        deeds: [(mine) => mine.extend([{ id, fence }], 60_000), (mine) => reap(mine, 'bob')],
        wrong: (outcome) => {
          const [isExtended] = outcome.answers[0] as readonly boolean[];
          return oneOf(stateOf(outcome, id), isExtended ? 'running' : 'pending');
        },
      };
    },
  },
  {
    name: 'lapse and lapse',
    scene: async (jobs, pass) => {
      const { id } = await late(jobs, pass);
      return {
        deeds: [(mine) => reap(mine, 'ann'), (mine) => reap(mine, 'bob')],
        wrong: (outcome) => (count(outcome, id, 'lapsed') === 1 ? null : 'it was not judged once'),
      };
    },
  },
  {
    name: 'plan and cancel (S13)',
    scene: async (jobs) => {
      const run = await held(jobs, { ...plain, phase: 'prepare' });
      const tasks = await born(jobs, run.id, 2);
      return {
        deeds: [
          (mine) => planTasks(mine.store, run, { fence: run.fence, by: 'ann', tasks }),
          (mine) => mine.cancel(run.id, asker),
        ],
        wrong: ({ jobs: found }) => {
          const open = found.filter((job) => job.kind === 'task' && job.state !== 'ended');
          return open.some(({ cancel }) => cancel === null) ? 'a task was not told to give up' : null;
        },
      };
    },
  },
  {
    name: 'finish of the last child and finish of the other last child (S15)',
    scene: async (jobs) => {
      const [one, other] = await family(jobs);
      return {
        deeds: [
          (mine) => mine.succeed(one!, one!.fence, asker, result),
          (mine) => mine.succeed(other!, other!.fence, asker, result),
        ],
        wrong: (outcome) =>
          oneOf(stateOf(outcome, one!.parent!), 'pending') ??
          (count(outcome, one!.parent!, 'settled') === 1 ? null : 'it did not go on once'),
      };
    },
  },
  {
    name: 'create of a child and finish of its parent (S15)',
    scene: async (jobs) => {
      const { id, fence } = await held(jobs);
      return {
        deeds: [
          (mine) => mine.createChildren(id, [{ ...plain, kind: 'task' }], 'ann', fence),
          (mine) => mine.succeed(id, fence, asker, result),
        ],
        wrong: (outcome) =>
          oneOf(stateOf(outcome, id), isRefused(outcome.answers[0]) ? 'succeeded' : 'held'),
      };
    },
  },
  {
    name: 'create and create, under one key (S11)',
    scene: async () => {
      const draft = { ...plain, unique: { key: 'only one' } };
      return {
        deeds: [(mine) => create(mine, draft), (mine) => create(mine, draft)],
        wrong: ({ answers: [one, other], jobs: found }) =>
          one === other && found.length === 1 ? null : `there are ${found.length}, and both were told of their own`,
      };
    },
  },
  {
    name: 'create under a key and finish of whoever has it (S11)',
    scene: async (jobs) => {
      const draft = { ...plain, unique: { key: 'only one' } };
      const { id, fence } = await held(jobs, draft);
      return {
        deeds: [(mine) => create(mine, draft), (mine) => mine.succeed(id, fence, asker, result)],
        wrong: ({ answers, jobs: found }) =>
          found.length === (answers[0] === id ? 1 : 2) ? null : `there are ${found.length}`,
      };
    },
  },
  {
    name: 'tick and tick (S18)',
    scene: async (jobs, pass) => {
      await overdue(jobs, pass);
      return {
        deeds: [(mine) => tickDue(mine, asker), (mine) => tickDue(mine, asker)],
        wrong: ({ jobs: found }) => {
          const nominals = found.flatMap(({ tick }) => tick?.nominal ?? []);
          return nominals.length > 0 && new Set(nominals).size === nominals.length ? null : `ticks: ${nominals.join()}`;
        },
      };
    },
  },
  {
    name: 'tick and edit of the definition (S22)',
    scene: async (jobs, pass) => {
      await overdue(jobs, pass);
      return {
        deeds: [(mine) => tickDue(mine, asker), (mine) => override(mine, 'def', { schedules: [every('1h')] }, asker)],
        wrong: ({ jobs: found }) => (found.some(({ tick }) => tick !== null) ? null : 'the tick before is lost'),
      };
    },
  },
  {
    name: 'retry and delete',
    scene: async (jobs) => {
      const { id, fence } = await held(jobs);
      await jobs.succeed(id, fence, asker, result);
      return {
        deeds: [(mine) => mine.retry(id, asker), (mine) => mine.delete(id)],
        wrong: (outcome) => oneOf(stateOf(outcome, id), isRefused(outcome.answers[0]) ? 'gone' : 'pending'),
      };
    },
  },
  {
    name: 'release and claim',
    scene: async (jobs) => {
      const { id, fence } = await held(jobs);
      return {
        deeds: [(mine) => mine.release(id, fence, asker), claim('bob')],
        wrong: (outcome) =>
          oneOf(stateOf(outcome, id), (outcome.answers[1] as readonly Job[]).length === 1 ? 'running' : 'pending'),
      };
    },
  },
  {
    name: 'pause and claim',
    scene: async (jobs) => {
      const id = await create(jobs);
      return {
        deeds: [(mine) => mine.pause(id, asker), claim('bob')],
        wrong: (outcome) => oneOf(stateOf(outcome, id), isRefused(outcome.answers[0]) ? 'running' : 'held'),
      };
    },
  },
];
