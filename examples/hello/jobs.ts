// Three small job types to look at: one that greets, one that fans out, one that a schedule starts.
import { every, jobDef, jobType, typed } from 'stint';

export const greet = jobType('greet', {
  input: typed<{ name: string }>(),
  run: ({ input, log }) => {
    log.info(`greeting ${input.name}`);
    return { greeting: `Hello, ${input.name}!` };
  },
});

export const squares = jobType('squares', {
  input: typed<{ upTo: number }>(),
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
