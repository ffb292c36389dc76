// Two job types, one of them with tasks, and a definition with a schedule.
import { every, jobDef, jobType } from 'stint';
import { z } from 'zod';

export const greet = jobType('greet', {
  input: z.object({ name: z.string() }),
  run: ({ input, log }) => {
    log.info(`greeting ${input.name}`);
    return { greeting: `Hello, ${input.name}!` };
  },
});

export const squares = jobType('squares', {
  input: z.object({ upTo: z.int().max(10_000) }),
  *taskDetails({ input }) {
    for (let number = 1; number <= input.upTo; number++) yield { number };
  },
  taskResults: ({ task }) => task.number ** 2,
  jobResults: async ({ tasks, counts }) => {
    let sum = 0;
    for await (const { result } of tasks) sum += result ?? 0;
    return { sum, of: counts.total };
  },
});

export const minutely = jobDef('greet every minute', greet, { params: { name: 'world' }, schedules: every('1m') });
