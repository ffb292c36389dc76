// A run with tasks that hangs once, in the phase that its input names, so that its instance can be killed there.
import { jobType, typed, type Context } from '../../../../src/index.ts';
import { hang, isFirst, of, tell } from './ledger.ts';

export interface PhasedInput {
  readonly tasks: number;
  readonly hangsIn: 'nothing' | 'prepare' | 'planning' | 'task' | 'gather';
}

const plannedBeforeHanging = 1_100;

async function work(phase: string, hangsIn: string, context: Context): Promise<void> {
  tell('start', { ...of(context), phase });
  if (phase === hangsIn && isFirst(`${phase} of ${context.run.id}`)) {
    tell('hangs', { ...of(context), phase });
    await hang(context.signal);
  }
}

export const phased = jobType('phased', {
  input: typed<PhasedInput>(),
  jobDetails: async (context) => {
    await work('prepare', context.input.hangsIn, context);
    return { factor: 2 };
  },
  taskDetails: async function* ({ input, ...context }) {
    for (let task = 0; task < input.tasks; task++) {
      if (task === plannedBeforeHanging && input.hangsIn === 'planning' && isFirst(`planning of ${context.run.id}`)) {
        tell('hangs', { ...of(context), phase: 'planning' });
        await hang(context.signal);
      }
      yield task;
    }
  },
  taskResults: async ({ task, details, ...context }) => {
    await work('task', context.input.hangsIn, context);
    tell('done', of(context));
    return task * details.factor;
  },
  jobResults: async ({ tasks, ...context }) => {
    await work('gather', context.input.hangsIn, context);
    let sum = 0;
    for await (const { result } of tasks) sum += result ?? 0;
    tell('done', of(context));
    return sum;
  },
});

export const simple = jobType('simple', {
  run: (context) => {
    tell('start', of(context));
    tell('done', of(context));
    return context.run.id;
  },
});

export const types = [phased, simple];
