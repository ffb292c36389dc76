// Pairs of calls that act on the same jobs: the setup, both calls, and the allowed outcomes.
import type { Jobs } from '../../../src/jobs.ts';
import { declare, override } from '../../../src/jobs/define.ts';
import type { Draft } from '../../../src/jobs/draft.ts';
import { tickDue } from '../../../src/jobs/tick.ts';
import type { TickKnowledge } from '../../../src/jobs/tick-knowledge.ts';
import { planTasks } from '../../../src/jobs/work.ts';
import { repairLapsed } from '../../../src/jobs/repair.ts';
import { every } from '../../../src/index.ts';
import type { Spec } from '../../../src/model/definition.ts';
import type { Event } from '../../../src/model/event.ts';
import type { Limits } from '../../../src/model/gate.ts';
import type { Job, RunningJob } from '../../../src/model/job.ts';
import { newTasks } from './interleaver.ts';

export interface Pair {
  readonly name: string;
  /** Prepares the jobs on a store without a gate; `advance` moves the clock. */
  readonly setUp: (jobs: Jobs, advance: Advance) => Promise<Setup>;
}

export type Advance = (ms: number) => Promise<void>;

export interface Setup {
  readonly calls: readonly [Call, Call];
  /** Returns the problem with the outcome, in addition to `verify`; null if it is allowed. */
  readonly wrong: (outcome: Outcome) => string | null;
}

export type Call = (jobs: Jobs) => Promise<unknown>;

export interface Outcome {
  /** The result of each call. A refusal is a result. */
  readonly answers: readonly [unknown, unknown];
  readonly jobs: readonly Job[];
  readonly history: (id: number) => readonly Event[];
}

const actor = { by: 'someone' };
const plain: Draft = { type: 'plain' };
const result = '{"done":true}';

const create = async (jobs: Jobs, draft: Draft = plain): Promise<number> => (await jobs.create(draft, 'someone')).id;

const claim = (holder: string, more: object = {}): ((jobs: Jobs) => Promise<readonly RunningJob[]>) => (jobs) =>
  jobs.claim({ kinds: ['run', 'task'], names: { glob: '*' }, limit: 1, holder, leaseMs: 60_000, ...more });

/** Creates a job and claims it. */
type Start = (jobs: Jobs, draft?: Draft, leaseMs?: number) => Promise<RunningJob>;

const running: Start = async (jobs, draft = plain, leaseMs = 60_000) => {
  await create(jobs, draft);
  return (await claim('ann', { leaseMs })(jobs))[0]!;
};

/** The job is claimed together with another, so that both run in one claim on PostgreSQL. */
const runningInClaim: Start = async (jobs, draft = plain, leaseMs = 60_000) => {
  const id = await create(jobs, draft);
  await create(jobs);
  const claimed = await claim('ann', { leaseMs, limit: 2 })(jobs);
  return claimed.find((job) => job.id === id)!;
};

const atGate: Draft = { ...plain, gate: { typeMax: 1 } };
const limitOf = (max: number): Limits => ({ types: new Map([['plain', max]]), defs: new Map(), keys: new Map() });

/** Two jobs that run in one claim on PostgreSQL and fill their gate, at which another waits. */
async function fullGate(jobs: Jobs): Promise<readonly RunningJob[]> {
  await jobs.createMany([atGate, atGate, atGate], 'someone');
  return claim('ann', { limit: 2, limits: limitOf(2) })(jobs);
}

/** A run that waits for two running tasks. */
async function waitingRun(jobs: Jobs): Promise<readonly RunningJob[]> {
  const run = await running(jobs, { ...plain, phase: 'prepare' });
  const tasks = await newTasks(jobs, run.id, 2);
  await planTasks(jobs.store, run, { fence: run.fence, by: 'ann', tasks });
  return jobs.claim({ kinds: ['task'], names: { glob: '*' }, limit: 2, holder: 'ann', leaseMs: 60_000 });
}

const misfire = { policy: 'all', windowMs: 60_000, cap: 100 } as const;
const spec: Spec = {
  type: 'plain', params: null, schedules: [every('1s')], policy: {}, priority: 0, overlap: 'allow', misfire,
  onePerType: false, inMemory: false, manualRuns: true, tags: null, phase: 'run', gate: null, limitKey: null,
};

/** Of job types, without a statement: the scheduler of an engine has it cached. */
const knowledge: TickKnowledge = { typesOf: async () => new Map() };

/** A definition with due ticks. */
async function overdue(jobs: Jobs, advance: Advance): Promise<void> {
  await declare(jobs, { name: 'def', spec, enabled: true, build: null }, 'someone');
  await advance(1_050);
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

const claimedIds = ({ answers }: Outcome): number[] => answers.flatMap((jobs) => (jobs as Job[]).map(({ id }) => id));

/** The pairs about a job that runs, or has run, when they start. */
const pairsOfRunning = (start: Start, how = ''): readonly Pair[] => [
  {
    name: `finish and cancel (S17)${how}`,
    setUp: async (jobs) => {
      const { id, fence } = await start(jobs);
      return {
        calls: [(own) => own.succeed(id, fence, actor, result), (own) => own.cancel(id, actor)],
        wrong: (outcome) => oneOf(stateOf(outcome, id), 'succeeded', 'cancelled'),
      };
    },
  },
  {
    name: `finish and lapse (S4)${how}`,
    setUp: async (jobs, advance) => {
      const { id, fence } = await start(jobs, plain, 1);
      await advance(10);
      return {
        calls: [(own) => own.succeed(id, fence, actor, result), (own) => repairLapsed(own.store, 'bob')],
        wrong: (outcome) =>
          oneOf(stateOf(outcome, id), isRefused(outcome.answers[0]) ? 'pending' : 'succeeded'),
      };
    },
  },
  {
    name: `extend and lapse (S6)${how}`,
    setUp: async (jobs, advance) => {
      const { id, fence } = await start(jobs, plain, 1);
      await advance(10);
      return {
        calls: [(own) => own.extend([{ id, fence }], 60_000), (own) => repairLapsed(own.store, 'bob')],
        wrong: (outcome) => {
          const [isExtended] = outcome.answers[0] as readonly boolean[];
          return oneOf(stateOf(outcome, id), isExtended ? 'running' : 'pending');
        },
      };
    },
  },
  {
    name: `retry and delete${how}`,
    setUp: async (jobs) => {
      const { id, fence } = await start(jobs);
      await jobs.succeed(id, fence, actor, result);
      return {
        calls: [(own) => own.retry(id, actor), (own) => own.delete(id)],
        wrong: (outcome) => oneOf(stateOf(outcome, id), isRefused(outcome.answers[0]) ? 'gone' : 'pending'),
      };
    },
  },
  {
    name: `finish and extend${how}`,
    setUp: async (jobs) => {
      const { id, fence } = await start(jobs);
      return {
        calls: [(own) => own.succeed(id, fence, actor, result), (own) => own.extend([{ id, fence }], 90_000)],
        wrong: (outcome) => oneOf(stateOf(outcome, id), 'succeeded'),
      };
    },
  },
  {
    name: `finish and finish${how}`,
    setUp: async (jobs) => {
      const { id, fence } = await start(jobs);
      return {
        calls: [(own) => own.succeed(id, fence, actor, result), (own) => own.succeed(id, fence, actor, result)],
        wrong: (outcome) => (count(outcome, id, 'succeeded') === 1 ? null : 'it did not end exactly once'),
      };
    },
  },
];

export const pairs: readonly Pair[] = [
  {
    name: 'claim and claim, of one job',
    setUp: async (jobs) => {
      await create(jobs);
      return {
        calls: [claim('ann'), claim('bob')],
        wrong: (outcome) => (claimedIds(outcome).length === 1 ? null : `${claimedIds(outcome).length} hold it`),
      };
    },
  },
  {
    name: 'claim and claim, of two jobs',
    setUp: async (jobs) => {
      await jobs.createMany([plain, plain], 'someone');
      return {
        calls: [claim('ann'), claim('bob')],
        wrong: (outcome) => (new Set(claimedIds(outcome)).size === 2 ? null : 'a job was not claimed'),
      };
    },
  },
  {
    name: 'claim and claim, with a limit of one (S32)',
    setUp: async (jobs) => {
      await jobs.createMany([atGate, atGate], 'someone');
      const limits = limitOf(1);
      return {
        calls: [claim('ann', { limits }), claim('bob', { limits })],
        wrong: (outcome) => (claimedIds(outcome).length === 1 ? null : `${claimedIds(outcome).length} run at a time`),
      };
    },
  },
  {
    name: 'claim and claim, of several jobs with a limit of three (S32)',
    setUp: async (jobs) => {
      await jobs.createMany(Array<Draft>(6).fill(atGate), 'someone');
      const taking = { limit: 2, limits: limitOf(3) };
      return {
        calls: [claim('ann', taking), claim('bob', taking)],
        wrong: (outcome) => (claimedIds(outcome).length === 3 ? null : `${claimedIds(outcome).length} run at a time`),
      };
    },
  },
  {
    name: 'claim at a full gate, and cancel of a job that was claimed with another',
    setUp: async (jobs) => {
      const [held] = await fullGate(jobs);
      return {
        calls: [claim('bob', { limits: limitOf(2) }), (own) => own.cancel(held!.id, actor)],
        wrong: ({ answers: [claimed] }) => oneOf(`${(claimed as Job[]).length} more`, '0 more'),
      };
    },
  },
  {
    name: 'claim at a full gate, and finish of a job that was claimed with another',
    setUp: async (jobs) => {
      const [held] = await fullGate(jobs);
      return {
        calls: [claim('bob', { limits: limitOf(2) }), (own) => own.succeed(held!.id, held!.fence, actor, result)],
        wrong: ({ answers: [claimed] }) => oneOf(`${(claimed as Job[]).length} more`, '0 more', '1 more'),
      };
    },
  },
  {
    name: 'claim and cancel',
    setUp: async (jobs) => {
      const id = await create(jobs);
      return {
        calls: [claim('ann'), (own) => own.cancel(id, actor)],
        wrong: (outcome) => {
          const isCancelled = outcome.jobs[0]!.cancel !== null;
          return isCancelled ? oneOf(stateOf(outcome, id), 'cancelled', 'running') : 'it was not cancelled';
        },
      };
    },
  },
  {
    name: 'claim of a task and cancel of its run (S16)',
    setUp: async (jobs) => {
      const [one, other] = await waitingRun(jobs);
      for (const task of [one!, other!]) await jobs.release(task, task.fence, actor);
      return {
        calls: [claim('bob', { kinds: ['task'] }), (own) => own.cancel(one!.parent!, actor)],
        wrong: ({ jobs: found }) =>
          found.some((job) => job.state === 'running' && job.cancel === null) ? 'a task was not cancelled' : null,
      };
    },
  },
  {
    name: 'finish of the last child and finish of the other last child (S15)',
    setUp: async (jobs) => {
      const [one, other] = await waitingRun(jobs);
      return {
        calls: [
          (own) => own.succeed(one!, one!.fence, actor, result),
          (own) => own.succeed(other!, other!.fence, actor, result),
        ],
        wrong: (outcome) =>
          oneOf(stateOf(outcome, one!.parent!), 'pending') ??
          (count(outcome, one!.parent!, 'settled') === 1 ? null : 'it did not continue exactly once'),
      };
    },
  },
  {
    name: 'create and create, under one key (S11)',
    setUp: async () => {
      const draft = { ...plain, unique: { key: 'only one' } };
      return {
        calls: [(own) => create(own, draft), (own) => create(own, draft)],
        wrong: ({ answers: [one, other], jobs: found }) =>
          one === other && found.length === 1 ? null : `there are ${found.length} jobs, and each call returned its own`,
      };
    },
  },
  {
    name: 'tick and tick (S18)',
    setUp: async (jobs, advance) => {
      await overdue(jobs, advance);
      return {
        calls: [(own) => tickDue(own, actor, knowledge), (own) => tickDue(own, actor, knowledge)],
        wrong: ({ jobs: found }) => {
          const nominals = found.flatMap(({ tick }) => tick?.nominal ?? []);
          return nominals.length > 0 && new Set(nominals).size === nominals.length ? null : `ticks: ${nominals.join()}`;
        },
      };
    },
  },
  {
    name: 'tick and edit of the definition (S22)',
    setUp: async (jobs, advance) => {
      await overdue(jobs, advance);
      return {
        calls: [
          (own) => tickDue(own, actor, knowledge), (own) => override(own, 'def', { schedules: [every('1h')] }, actor),
        ],
        wrong: ({ jobs: found }) => (found.some(({ tick }) => tick !== null) ? null : 'the due tick is lost'),
      };
    },
  },
  {
    name: 'pause and claim',
    setUp: async (jobs) => {
      const id = await create(jobs);
      return {
        calls: [(own) => own.pause(id, actor), claim('bob')],
        wrong: (outcome) => oneOf(stateOf(outcome, id), isRefused(outcome.answers[0]) ? 'running' : 'held'),
      };
    },
  },
  {
    name: 'lapse and lapse',
    setUp: async (jobs, advance) => {
      const { id } = await running(jobs, plain, 1);
      await advance(10);
      return {
        calls: [(own) => repairLapsed(own.store, 'ann'), (own) => repairLapsed(own.store, 'bob')],
        wrong: (outcome) => (count(outcome, id, 'lapsed') === 1 ? null : 'it was not repaired exactly once'),
      };
    },
  },
  {
    name: 'plan and cancel (S13)',
    setUp: async (jobs) => {
      const run = await running(jobs, { ...plain, phase: 'prepare' });
      const tasks = await newTasks(jobs, run.id, 2);
      return {
        calls: [
          (own) => planTasks(own.store, run, { fence: run.fence, by: 'ann', tasks }),
          (own) => own.cancel(run.id, actor),
        ],
        wrong: ({ jobs: found }) => {
          const open = found.filter((job) => job.kind === 'task' && job.state !== 'ended');
          return open.some(({ cancel }) => cancel === null) ? 'a task was not cancelled' : null;
        },
      };
    },
  },
  {
    name: 'create of a child and finish of its parent (S15)',
    setUp: async (jobs) => {
      const { id, fence } = await running(jobs);
      return {
        calls: [
          (own) => own.createChildren(id, [{ ...plain, kind: 'task' }], 'ann', fence),
          (own) => own.succeed(id, fence, actor, result),
        ],
        wrong: (outcome) =>
          oneOf(stateOf(outcome, id), isRefused(outcome.answers[0]) ? 'succeeded' : 'held'),
      };
    },
  },
  {
    name: 'create under a key and finish of the job that has it (S11)',
    setUp: async (jobs) => {
      const draft = { ...plain, unique: { key: 'only one' } };
      const { id, fence } = await running(jobs, draft);
      return {
        calls: [(own) => create(own, draft), (own) => own.succeed(id, fence, actor, result)],
        wrong: ({ answers, jobs: found }) => {
          const keyed = found.filter(({ unique }) => unique !== null);
          return keyed.length === (answers[0] === id ? 1 : 2) ? null : `there are ${keyed.length}`;
        },
      };
    },
  },
  {
    name: 'release and claim',
    setUp: async (jobs) => {
      const { id, fence } = await running(jobs);
      return {
        calls: [(own) => own.release(id, fence, actor), claim('bob')],
        wrong: (outcome) =>
          oneOf(stateOf(outcome, id), (outcome.answers[1] as readonly Job[]).length === 1 ? 'running' : 'pending'),
      };
    },
  },
  ...pairsOfRunning(running),
  ...pairsOfRunning(runningInClaim, ', in a claim'),
];
