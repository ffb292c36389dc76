// A thousand waiting workers: their memory, and a new job goes to exactly one of them.
import { expect } from 'vitest';
import type { Worker } from './world.ts';
import { onSqlite as test } from './world.ts';

const count = 1000;

test('a thousand idle workers need less than 100 MB, and each of a few jobs goes to one of them', async ({ world }) => {
  await world.ask('Ping');
  const before = process.memoryUsage().rss;
  const workers: Worker[] = [];
  while (workers.length < count) {
    workers.push(...(await Promise.all(Array.from({ length: 50 }, () => world.worker({ name: 'x*' })))));
    await world.waiting(workers.length);
  }
  const costMb = (process.memoryUsage().rss - before) / 1e6;
  console.log(`${count} idle workers, both ends of their connections: ${costMb.toFixed(1)} MB`);
  expect(costMb).toBeLessThan(100);

  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    const start = performance.now();
    const id = await world.create({ name: `x${n}` });
    const first = await Promise.race(workers.slice(n).map(({ jobID }) => jobID));
    times.push(performance.now() - start);
    expect(first).toBe(id);
    expect(await world.events(id)).toEqual(['created', 'claimed']);
    await world.waiting(count - n - 1);
  }
  times.sort((a, b) => a - b);
  console.log(`created and handed out: median ${times[10]!.toFixed(1)} ms, 95 % ${times[18]!.toFixed(1)} ms`);
});

test('a thousand workers that wait for different names each get their job', async ({ world }) => {
  const workers: Worker[] = [];
  for (let n = 0; n < count; n += 50) {
    workers.push(...(await Promise.all(Array.from({ length: 50 }, (_, m) => world.worker({ name: `n${n + m}` })))));
  }
  await world.waiting(count);
  for (const n of [999, 0, 500]) {
    const id = await world.create({ name: `n${n}` });
    expect(await workers[n]!.jobID).toBe(id);
  }
  await world.waiting(count - 3);
});
