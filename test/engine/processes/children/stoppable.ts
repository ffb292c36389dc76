// Handlers to be cancelled and stopped from elsewhere: one that listens, some that never will.
import { jobType, typed } from '../../../../src/index.ts';
import { gate, hang, of, tell } from './ledger.ts';

const module = import.meta.url;

export const listening = jobType('listening', {
  run: async ({ signal, ...context }) => {
    tell('start', of(context));
    try {
      return await hang(signal);
    } catch (error) {
      tell('aborted', { ...of(context), reason: (error as Error).name, why: (error as Error).message });
      throw error;
    }
  },
});

/** Two tasks run at a time: the rest is waiting. */
export const tasks = jobType('tasks', {
  input: typed<{ tasks: number }>(),
  taskConcurrency: 2,
  taskDetails: ({ input }) => Array.from({ length: input.tasks }, (_, index) => index),
  taskResults: async ({ signal, ...context }) => {
    tell('start', of(context));
    await hang(signal).catch(() => tell('aborted', of(context)));
  },
  jobResults: () => 'gathered',
});

export const deaf = jobType('deaf', {
  run: async (context) => {
    tell('start', of(context));
    await gate('go');
    tell('done', of(context));
    return 'heard nothing';
  },
});

/** Says every now and then that it is still there. */
function loopForEver(): never {
  for (let told = 0; ; ) {
    if (Date.now() - told < 50) continue;
    told = Date.now();
    tell('still');
  }
}

export const endlessThread = jobType('endless-thread', {
  module,
  isolate: 'thread',
  run: (context) => {
    tell('start', of(context));
    loopForEver();
  },
});

export const endlessProcess = jobType('endless-process', {
  module,
  isolate: 'process',
  run: (context) => {
    tell('start', of(context));
    loopForEver();
  },
});

export const types = [listening, tasks, deaf, endlessThread, endlessProcess];
