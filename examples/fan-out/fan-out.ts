// One run with 200 tasks: planned by a generator, retried one by one, followed live, summarized at the end.
import { Engine, jobType } from 'stint';
import { z } from 'zod';

const thumbnails = jobType('thumbnails', {
  input: z.object({ album: z.string(), pictures: z.int().positive() }),
  retry: { attempts: 3, base: '10ms' },
  onTaskFailure: { toleratePercent: 5 },
  taskConcurrency: 8,
  jobDetails: () => ({ width: 320 }),
  *taskDetails({ input }) {
    for (let number = 1; number <= input.pictures; number++) yield { file: `${input.album}-${number}.jpg`, number };
  },
  taskKey: ({ file }) => file,
  taskResults: async ({ task, details, run }) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (task.number % 50 === 0) throw new Error(`${task.file} is broken`);
    if (task.number % 10 === 0 && run.attempt === 1) throw new Error('the disk was busy');
    return { bytes: details.width * 100 };
  },
  jobResults: async ({ tasks, counts }) => {
    let bytes = 0;
    const broken: string[] = [];
    for await (const { key, result } of tasks) {
      if (result) bytes += result.bytes;
      else broken.push(key!);
    }
    return { made: counts.succeeded, bytes, broken };
  },
});

await using engine = new Engine({ store: 'sqlite:.stint/fan-out.db', types: [thumbnails], slots: 8 });
await engine.resume();
const run = await engine.createJobRun(thumbnails, { input: { album: 'alps', pictures: 200 } });

for await (const { tasks } of run.watch()) {
  const done = tasks.succeeded + tasks.failed;
  const bar = '█'.repeat(Math.round((done / (tasks.total || 1)) * 40)).padEnd(40, '░');
  console.log(`${bar} ${done}/${tasks.total}`);
}
console.log(await run.result());
