// Types of runs with tasks flow from phase to phase; nothing here is ever called.
import { z } from 'zod';
import { jobDef, jobType, type EndedTask, type Engine, type TaskCounts } from '../../src/index.ts';
import { exactly } from './same.ts';

interface Row {
  readonly sku: string;
  readonly price: number;
}

declare function rows(url: string): AsyncGenerator<Row>;

const catalog = jobType('catalog', {
  input: z.object({ url: z.string() }),
  jobDetails: async ({ input }) => {
    exactly<{ url: string }>()(input);
    return Promise.resolve({ etag: 'x', factor: 2 });
  },
  taskDetails: ({ input, details }) => {
    exactly<{ etag: string; factor: number }>()(details);
    return rows(input.url);
  },
  taskResults: ({ input, details, task, key }) => {
    exactly<{ url: string }>()(input);
    exactly<Row>()(task);
    exactly<string | null>()(key);
    return { sku: task.sku, total: task.price * details.factor };
  },
  jobResults: async ({ details, tasks, counts }) => {
    exactly<AsyncIterable<EndedTask<Row, { sku: string; total: number }>>>()(tasks);
    exactly<TaskCounts>()(counts);
    let sum = 0;
    for await (const { result, task } of tasks) sum += (result?.total ?? 0) + task.price;
    return { sum, etag: details.etag };
  },
  taskKey: ({ sku }) => sku,
  taskPriority: ({ price }) => Math.floor(price),
  isTaskErrorRetryable: (error) => error instanceof TypeError,
});

const streamed = jobType('streamed', {
  taskDetails: async function* () {
    yield { id: 1 };
    yield { id: 2 };
  },
  taskResults: ({ task, details }) => {
    exactly<{ id: number }>()(task);
    exactly<unknown>()(details);
    return task.id;
  },
});

const listed = jobType('listed', {
  taskDetails: () => ['a', 'b'],
  taskResults: ({ task }) => task.length,
  jobResults: ({ counts }) => counts.total,
});

export async function results(engine: Engine): Promise<void> {
  const run = await engine.createJobRun(catalog, { input: { url: 'x' } });
  exactly<{ sum: number; etag: string }>()(await run.result());
  exactly<undefined>()(await (await engine.createJobRun(streamed)).result());
  exactly<number>()(await (await engine.createJobRun(listed)).result());
  const def = jobDef('nightly', catalog, { params: { url: 'x' }, onTaskFailure: { toleratePercent: 5 } });
  exactly<{ sum: number; etag: string }>()(await (await engine.createJobRun(def)).result());
  // @ts-expect-error -- a wrong payload
  await engine.createJobRun(catalog, { input: { url: 7 } });
}

// @ts-expect-error -- a task's work is missing
jobType('half', { taskDetails: () => [1] });

jobType('wrong', {
  taskDetails: () => [{ id: 1 }],
  // @ts-expect-error -- a task has no name
  taskResults: ({ task }) => task.name,
});
