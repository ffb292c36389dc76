// The workload: the job types and definitions of the simulation, and the ledger of what their handlers did.
import type { AnyJobDef } from '../../src/engine/declare/job-def.ts';
import type { AnyJobType } from '../../src/engine/declare/job-type.ts';
import { cron, every, jobDef, jobType, RateLimited, Snooze, typed, type Context } from '../../src/index.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import type { Limits } from '../../src/model/gate.ts';
import type { Start } from '../../src/verify.ts';
import { askingJobType } from './asking.ts';
import { BatchLedger, refusedMessage } from './batches.ts';
import { completingJobTypes } from './completing.ts';
import { deployedJobType, type DeployedParts } from './deploys.ts';
import { familyTypes } from './families.ts';
import { followingDefs, linkedJobType } from './following-defs.ts';
import { crowdConcurrency, crowdType, sharedConcurrency, sharedType } from './shares.ts';
import type { RandomStream, RandomStreams } from './random-streams.ts';
import type { SimProcess } from './process.ts';

/** What handlers saw and did, recorded outside the store. */
export class Ledger {
  readonly starts: Start[] = [];
  /** Tokens of jobs that were handed off: with its token a client can finish a job. */
  readonly tokens: string[] = [];
  readonly batches = new BatchLedger();
  /** The number of tasks or children, and of those received, when runs gathered. */
  readonly gathered: { readonly run: number; readonly total: number; readonly seen: number }[] = [];
}

export interface WorkloadParts {
  readonly process: SimProcess;
  readonly streams: RandomStreams;
  readonly ledger: Ledger;
  /** Called when a handler starts. */
  readonly onStart: (start: Start) => void;
  readonly hasPoison: boolean;
  readonly isMetered: boolean;
  readonly isBatching: boolean;
  readonly isAsking: boolean;
  readonly isSharing: boolean;
  readonly isCrowding: boolean;
  readonly hasFamilies: boolean;
  readonly hasFollowers: boolean;
  /** The version of the code, and what to do if it gets a payload of another; null: the code has no versions. */
  readonly deployed: Omit<DeployedParts, 'clock' | 'begin'> | null;
  /** What to do when `complete` says that the lease is lost; null: no type completes. */
  readonly onCompletionLost: (() => void) | null;
  /** Whether runs are created that must start at once. */
  readonly isProbed: boolean;
  readonly typeNames: readonly TypeName[];
  readonly defNames: readonly DefName[];
  readonly crash: (process: SimProcess) => void;
}

export interface Workload {
  readonly types: readonly AnyJobType[];
  readonly defs: readonly AnyJobDef[];
}

export const typeNames = [
  'quick', 'flaky', 'slow', 'hung', 'limited', 'tenant', 'fan', 'strict', 'narrow', 'poison', 'snoozing', 'handed',
] as const;
export type TypeName = (typeof typeNames)[number];

export const defNames = ['minutely', 'steady', 'queued', 'replaced', 'following', 'double'] as const;
export type DefName = (typeof defNames)[number];

/** The type whose runs use named limits, in the simulations that draw it. */
export const meteredType = 'metered';

/** The type whose runs are handled in batches, in the simulations that draw it. */
export const batchedType = 'batched';
const batchSize = 8;

/** Few of the runs crash their process. */
export const drawBatched = (random: RandomStream): readonly Draft[] =>
  Array.from({ length: random.integer(1, 12) }, () => ({
    type: batchedType, inputText: JSON.stringify({ isPoison: random.isTrue(0.01) }), policy: { attemptsMax: 3, batchMax: batchSize },
  }));

/** The type whose runs must start at once. */
export const probedType = 'probed';

export const limits: Limits = {
  types: new Map([['limited', 2], ['narrow', 1], ['narrow tasks', 3], [sharedType, sharedConcurrency], [`${crowdType} tasks`, crowdConcurrency]]),
  defs: new Map(),
  keys: new Map([['tenant', 1]]),
};

const retry = { attempts: 3, base: '1s', max: '20s' } as const;

/** The handlers of one process: they use its clock and stop when it crashes. */
export function createWorkload(parts: WorkloadParts): Workload {
  const { process, streams, ledger, hasPoison, onCompletionLost, crash } = parts;
  const { clock } = process;
  /** Records the start; returns a number in [0, 1) that depends only on the attempt. */
  const begin = ({ fence, idempotencyKey }: Pick<Context, 'fence' | 'idempotencyKey'>): number => {
    const job = Number(idempotencyKey.split('.')[0]);
    ledger.starts.push({ job, fence });
    parts.onStart({ job, fence });
    return streams.numberFor('handler', job, fence);
  };
  const work = (fromMs: number, toMs: number) => async (context: Context): Promise<{ took: number }> => {
    const chance = begin(context);
    const took = fromMs + chance * (toMs - fromMs);
    await clock.sleep(took, context.signal);
    context.signal.throwIfAborted();
    return { took };
  };
  const quick = work(0, 2_000);
  const types = {
    quick: jobType('quick', { retry, run: quick }),
    flaky: jobType('flaky', {
      retry,
      run: async (context) => {
        context.progress.startingStage('trying');
        const { took } = await quick(context);
        if (took < 1_000) throw new Error('it did not work this time');
        context.log.info('it worked');
        return took;
      },
    }),
    slow: jobType('slow', { retry, timeout: '10m', run: work(10_000, 90_000) }),
    hung: jobType('hung', {
      retry: { ...retry, attempts: 2 },
      timeout: '40s',
      run: (context) => {
        begin(context);
        return new Promise<never>(() => {});
      },
    }),
    limited: jobType('limited', { retry, concurrency: 2, run: work(500, 20_000) }),
    tenant: jobType('tenant', {
      retry,
      limit: { key: (input) => String((input as { tenant: string }).tenant), concurrency: 1 },
      run: work(200, 8_000),
    }),
    fan: fanType('fan', {}),
    strict: fanType('strict', { onTaskFailure: 'failFast' }),
    narrow: fanType('narrow', { concurrency: 1, taskConcurrency: 3, onTaskFailure: { tolerate: 1 } }),
    poison: jobType('poison', {
      retry: { ...retry, crashes: 2 },
      run: async (context) => {
        const chance = begin(context);
        await clock.sleep(chance * 1_000);
        if (hasPoison && chance < 0.8) crash(process);
        return null;
      },
    }),
    snoozing: jobType('snoozing', {
      retry,
      run: (context) => {
        if (begin(context) < 0.7) throw new Snooze('7s');
        return null;
      },
    }),
    handed: jobType('handed', {
      retry,
      run: (context) => {
        begin(context);
        const handed = context.handOff({ within: '30s' });
        ledger.tokens.push(handed.token);
        return handed;
      },
    }),
  } satisfies Record<TypeName, AnyJobType>;

  function fanType(name: string, options: object): AnyJobType {
    return jobType(name, {
      retry,
      ...options,
      jobDetails: () => ({ shared: name }),
      taskDetails: (context) => {
        const count = Math.floor(begin(context) * 14);
        return Array.from({ length: count }, (_, index) => index);
      },
      taskKey: (task: number) => `task ${task}`,
      taskResults: async (context) => {
        const chance = begin(context);
        await clock.sleep(chance * 3_000, context.signal);
        context.signal.throwIfAborted();
        if (chance < 0.15) throw new Error('the task failed');
        return chance;
      },
      jobResults: async (context) => {
        const seen = await Array.fromAsync(context.tasks);
        ledger.gathered.push({ run: context.run.id, total: context.counts.total, seen: seen.length });
        return seen.length;
      },
    });
  }

  /** A batch with a poisoned job crashes its process, as long as the simulation has poison. */
  const batched = (): AnyJobType => jobType(batchedType, {
    retry,
    batch: { size: batchSize, wait: '5s' },
    input: typed<{ readonly isPoison: boolean }>(),
    runBatch: async ({ jobs, signal }) => {
      const chances = jobs.map(begin);
      await clock.sleep(chances[0]! * 3_000, signal);
      if (hasPoison && jobs.some(({ input }) => input.isPoison)) {
        crash(process);
        return new Promise<never>(() => {});
      }
      return jobs.map((job, n) => {
        const [{ id }, isDone] = [job.run, chances[n]! >= 0.1];
        ledger.batches.said(id, job.fence, isDone);
        return isDone ? job.done(ledger.batches.resultOf(id, job.fence)) : job.failed(refusedMessage);
      });
    },
  });

  /** Some attempts find that the other system refuses requests. */
  const metered = (): AnyJobType => jobType(meteredType, {
    retry,
    run: async (context) => {
      const { took } = await work(500, 20_000)(context);
      if (streams.numberFor('refused by the other system', context.run.id, context.fence) < 0.04) {
        throw new RateLimited('api', '15s');
      }
      return { took };
    },
  });

  const crowd = (): AnyJobType => jobType(crowdType, {
    retry,
    taskConcurrency: crowdConcurrency,
    taskFairness: 'run',
    input: typed<{ readonly tasks: number }>(),
    taskDetails: (context) => {
      begin(context);
      return Array.from({ length: context.input.tasks }, (_, index) => index);
    },
    taskResults: async (context) => {
      const chance = begin(context);
      await clock.sleep(chance * 8_000, context.signal);
      context.signal.throwIfAborted();
      if (chance < 0.1) throw new Error('the task failed');
      return chance;
    },
  });

  const linked = parts.hasFollowers ? linkedJobType({ clock, begin }) : null;
  const defs = {
    minutely: jobDef('minutely', types.quick, { schedules: cron('* * * * *'), overlap: 'allow', misfire: 'all' }),
    steady: jobDef('steady', types.slow, { schedules: every('45s'), overlap: 'skip' }),
    queued: jobDef('queued', types.quick, {
      schedules: every('70s', { spread: '10s' }), overlap: 'queue', misfire: 'all',
    }),
    replaced: jobDef('replaced', types.slow, { schedules: every('2m'), overlap: 'replace' }),
    following: jobDef('following', types.quick, { schedules: every('50s', { from: 'finished' }), overlap: 'skip' }),
    double: jobDef('double', types.quick, {
      schedules: [cron('*/2 * * * *', { zone: 'Europe/Berlin' }), every('3m')], overlap: 'allow', misfire: 'once',
    }),
  } satisfies Record<DefName, AnyJobDef>;
  return {
    types: [
      ...parts.typeNames.map((name) => types[name]),
      ...(parts.isProbed ? [jobType(probedType, { retry, run: work(1_500, 2_500) })] : []),
      ...(parts.isBatching ? [batched()] : []),
      ...(parts.isAsking ? [askingJobType(clock, begin)] : []),
      ...(parts.isMetered ? [metered()] : []),
      ...(parts.isSharing ? [jobType(sharedType, { retry, concurrency: sharedConcurrency, run: work(2_000, 15_000) })] : []),
      ...(parts.isCrowding ? [crowd()] : []),
      ...(linked ? [linked] : []),
      ...(parts.deployed ? [deployedJobType({ clock, begin, ...parts.deployed })] : []),
      ...(parts.hasFamilies ? familyTypes({ clock, begin, ledger }) : []),
      ...(onCompletionLost ? completingJobTypes({ clock, begin, onLeaseLost: onCompletionLost }) : []),
    ],
    defs: [...parts.defNames.map((name) => defs[name]), ...(linked ? followingDefs(linked) : [])],
  };
}
