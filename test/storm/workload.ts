// The workload: the job types and definitions of a storm. Each handler records its start and its end in the ledger.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyJobDef } from '../../src/engine/declare/job-def.ts';
import type { AnyJobType } from '../../src/engine/declare/job-type.ts';
import { cron, every, jobDef, jobType, type Context, type Engine } from '../../src/index.ts';
import { of, tell } from '../engine/processes/children/ledger.ts';
import { hashOf } from '../sim/random-streams.ts';
import type { OwnTables } from './own-tables.ts';

export const typeNames = ['simple', 'slow', 'flaky', 'fan', 'limited', 'fragile', 'transfer'] as const;
export type TypeName = (typeof typeNames)[number];
export const defNames = ['every second', 'every two seconds', 'one at a time'] as const;
export type DefName = (typeof defNames)[number];

export interface Workload {
  readonly types: readonly AnyJobType[];
  readonly defs: readonly AnyJobDef[];
}

/** A high crash limit: storms kill handlers often. */
const retry = { attempts: 5, base: '50ms', max: '500ms', crashes: 1_000 } as const;

/** A number in [0, 1) that depends only on the claim. */
const chanceOf = (context: Context): number => hashOf(`${context.idempotencyKey} ${context.fence}`) / 2 ** 32;

const work = (fromMs: number, toMs: number, phase = 'run') => async (context: Context): Promise<number> => {
  tell('start', { ...of(context), phase });
  const ms = fromMs + chanceOf(context) * (toMs - fromMs);
  await sleep(ms);
  tell('done', { ...of(context), phase });
  return ms;
};

export const simple = jobType('simple', { retry, run: work(0, 60) });

/** `services`: for handlers with their own transactions. */
export function createWorkload(services: () => { readonly engine: Engine; readonly tables: OwnTables }): Workload {
  const types = {
    simple,
    slow: jobType('slow', { retry, run: work(1_000, 4_000) }),
    flaky: jobType('flaky', {
      retry,
      run: async (context) => {
        tell('start', of(context));
        await sleep(chanceOf(context) * 40);
        if (chanceOf(context) < 0.5) throw new Error('it did not work this time');
        context.log.info('it worked');
        tell('done', of(context));
      },
    }),
    fan: jobType('fan', {
      retry,
      jobDetails: async (context) => {
        await work(0, 30, 'prepare')(context);
        return { tasks: 2 + Math.floor(chanceOf(context) * 6) };
      },
      taskDetails: ({ details }) => Array.from({ length: details.tasks }, (_, index) => index),
      taskKey: (task: number) => `task ${task}`,
      taskResults: work(0, 150, 'task'),
      jobResults: async (context) => {
        await work(0, 30, 'gather')(context);
        return (await Array.fromAsync(context.tasks)).length;
      },
    }),
    limited: jobType('limited', { retry, concurrency: 2, run: work(10, 80) }),
    fragile: jobType('fragile', { retry: { ...retry, crashes: 1 }, run: work(200, 1_000) }),
    transfer: jobType('transfer', {
      retry: { ...retry, attempts: 1_000 },
      run: async (context) => {
        tell('start', of(context));
        const { job, fence } = of(context);
        const { engine, tables } = services();
        await tables.write('effects', async (transaction) => {
          await engine.in(transaction).createJobRun(simple, { tags: { after: String(job) } });
          return { key: String(job), job, fence };
        });
        tell('done', of(context));
      },
    }),
  } satisfies Record<TypeName, AnyJobType>;
  const defs = {
    'every second': jobDef('every second', simple, { schedules: every('1s'), overlap: 'allow', misfire: 'all' }),
    'every two seconds': jobDef('every two seconds', types.fan, {
      schedules: cron('*/2 * * * * *', { zone: 'UTC' }), overlap: 'allow', misfire: 'once',
    }),
    'one at a time': jobDef('one at a time', types.slow, { schedules: every('1s'), overlap: 'skip' }),
  } satisfies Record<DefName, AnyJobDef>;
  return { types: Object.values(types), defs: Object.values(defs) };
}
