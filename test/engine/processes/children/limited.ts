// Types and definitions with limits that hold for all instances together.
import { setTimeout as sleep } from 'node:timers/promises';
import { jobDef, jobType, limit, typed, type Context } from '../../../../src/index.ts';
import { gate, of, tell } from './ledger.ts';

async function work(context: Context): Promise<void> {
  tell('start', { ...of(context), type: context.run.type });
  await sleep(20);
  tell('done', { ...of(context), type: context.run.type });
}

export const twoAtATime = jobType('two', { concurrency: 2, run: work });

export const perTenant = jobType('tenant', {
  input: typed<{ tenant: string }>(),
  limit: { key: ({ tenant }) => tenant, concurrency: 1 },
  run: work,
});

export const spacing = limit('spacing', { rate: '50/s', burst: 4, concurrency: 3 });
export const spaced = jobType('spaced', { limits: [spacing], run: work });
export const spacedToo = jobType('spaced-too', { limits: [spacing], run: work });

export const fan = jobType('fan', {
  taskConcurrency: 3,
  taskDetails: () => Array.from({ length: 30 }, (_, index) => index),
  taskResults: work,
});

const plain = jobType('plain', { run: work });
export const oneAfterTheOther = jobDef('one after the other', plain, { overlap: 'queue' });
export const threeOfTheDefinition = jobDef('three', plain, { overlap: 'allow', concurrency: 3 });

export const alone = jobType('alone', {
  onePerType: true,
  run: async (context) => {
    tell('start', of(context));
    await gate('go', context.signal);
  },
});

export const forLeader = jobDef('for the leader', plain, { overlap: 'allow', leaderOnly: true });

export const types = [twoAtATime, perTenant, spaced, spacedToo, fan, alone];
export const defs = [oneAfterTheOther, threeOfTheDefinition, forLeader];
